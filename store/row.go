package store

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Held is one version that a key holds, without its record.
type Held struct {
	merge.Version
	// Seq is the version's place in the feed of this store, from 1. It is local.
	Seq uint64
	// Event is the newest event of the state stream that shows this version as
	// the head; 0 when it never was.
	Event uint64
	// Size is the length of the encoded record in bytes.
	Size int
	// Blobs says that the record refers to blobs.
	Blobs bool
}

// Versions returns what the functions of merge take of held versions.
func Versions(held []Held) []merge.Version {
	versions := make([]merge.Version, len(held))
	for i := range held {
		versions[i] = held[i].Version
	}
	return versions
}

// row is what v/ keeps of a key.
type row struct {
	// held are the versions that no other held version covers, ascending: the
	// last is the head.
	held []Held
	// history counts the key's rows in h/.
	history int
}

// head returns the largest held version; nil when there is none.
func (r *row) head() *Held {
	if len(r.held) == 0 {
		return nil
	}
	return &r.held[len(r.held)-1]
}

// at returns the held version at a place of the feed; nil when there is none.
func (r *row) at(seq uint64) *Held {
	for i := range r.held {
		if r.held[i].Seq == seq {
			return &r.held[i]
		}
	}
	return nil
}

// empty reports whether the row need not be stored.
func (r *row) empty() bool { return len(r.held) == 0 && r.history == 0 }

// The flags of a held version: a tombstone, and one that refers to blobs. Other
// bits are free and must be zero.
const (
	flagDeleted = 1 << iota
	flagBlobs
)

// appendRow appends the stored form: uvarint history, uvarint count, versions.
func appendRow(dst []byte, r *row) []byte {
	dst = binary.AppendUvarint(dst, uint64(r.history))
	dst = binary.AppendUvarint(dst, uint64(len(r.held)))
	for i := range r.held {
		dst = appendHeld(dst, &r.held[i])
	}
	return dst
}

// appendHeld appends text writer, stamp8, flags1, seq8, itemHash32, uvarint
// event, size, sync version, and the basis without the writer's own entry,
// which always equals the stamp: uvarint count, then text writer and stamp8.
func appendHeld(dst []byte, h *Held) []byte {
	dst = appendText(dst, h.Writer)
	dst = h.Stamp.AppendBinary(dst)
	var flags byte
	if h.Deleted {
		flags |= flagDeleted
	}
	if h.Blobs {
		flags |= flagBlobs
	}
	dst = append(dst, flags)
	dst = appendUint64(dst, h.Seq)
	dst = append(dst, h.Hash[:]...)
	dst = binary.AppendUvarint(dst, h.Event)
	dst = binary.AppendUvarint(dst, uint64(h.Size))
	dst = binary.AppendUvarint(dst, uint64(h.SyncVersion))
	others := len(h.Basis)
	if others > 0 {
		others--
	}
	dst = binary.AppendUvarint(dst, uint64(others))
	for _, e := range h.Basis {
		if e.Writer != h.Writer {
			dst = appendText(dst, e.Writer)
			dst = e.Stamp.AppendBinary(dst)
		}
	}
	return dst
}

// decodeRow is the inverse of appendRow. Errors: ErrCorrupt.
func decodeRow(b []byte) (row, error) {
	d := decoder{rest: string(b)}
	r := row{history: int(d.uvarint())}
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.bad = true
		n = 0
	}
	r.held = make([]Held, n)
	for i := range r.held {
		d.held(&r.held[i])
		if i > 0 && merge.Compare(r.held[i-1].Version, r.held[i].Version) >= 0 {
			d.bad = true
		}
	}
	if !d.done() || r.history < 0 {
		return row{}, fmt.Errorf("%w: row of %d bytes", ErrCorrupt, len(b))
	}
	return r, nil
}

// rowHash is what a digest needs of a held version.
type rowHash struct {
	writer string
	hash   merge.Hash
}

// decodeHashes is decodeRow for digests, in the order of the writers. Errors:
// ErrCorrupt.
func decodeHashes(b []byte) ([]rowHash, error) {
	d := decoder{rest: string(b)}
	d.uvarint() // history
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.bad, n = true, 0
	}
	items := make([]rowHash, n)
	for i := range items {
		items[i].writer = d.text()
		d.bytes(8 + 1 + 8) // stamp, flags, seq
		items[i].hash = d.hash()
		for range 3 { // event, size, sync version
			d.uvarint()
		}
		for others := d.uvarint(); others > 0 && !d.bad; others-- {
			d.text()
			d.bytes(8)
		}
	}
	if !d.done() {
		return nil, fmt.Errorf("%w: row of %d bytes", ErrCorrupt, len(b))
	}
	if n > 1 {
		slices.SortFunc(items, func(a, b rowHash) int { return strings.Compare(a.writer, b.writer) })
	}
	return items, nil
}

func (d *decoder) held(h *Held) {
	h.Writer = merge.InstanceID(d.text())
	h.Stamp = d.stamp()
	flags := d.byte()
	h.Deleted, h.Blobs = flags&flagDeleted != 0, flags&flagBlobs != 0
	h.Seq = d.uint64()
	h.Hash = d.hash()
	h.Event = d.uvarint()
	h.Size = int(d.uvarint())
	h.SyncVersion = int64(d.uvarint())
	h.Basis = d.basis(h.Writer, h.Stamp)
	if flags&^(flagDeleted|flagBlobs) != 0 || h.Writer == "" || h.Size < 0 || h.SyncVersion < 1 {
		d.bad = true
	}
}

// basis reads the entries of other writers and adds, in its place, that of the
// writer itself.
func (d *decoder) basis(writer merge.InstanceID, stamp hlc.Timestamp) merge.Basis {
	n := d.uvarint()
	if n >= merge.BasisMax {
		d.bad = true
		return nil
	}
	b, own := make(merge.Basis, 0, n+1), merge.BasisEntry{Writer: writer, Stamp: stamp}
	placed := false
	for range n {
		e := merge.BasisEntry{Writer: merge.InstanceID(d.text()), Stamp: d.stamp()}
		if !placed && e.Writer > writer {
			b, placed = append(b, own), true
		}
		if e.Writer == writer || len(b) > 0 && b[len(b)-1].Writer >= e.Writer {
			d.bad = true
			return nil
		}
		b = append(b, e)
	}
	if !placed {
		b = append(b, own)
	}
	return b
}
