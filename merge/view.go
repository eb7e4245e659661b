package merge

import (
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
)

// decodeHeader returns the view of a header, which it aliases, and the hash
// and size that it states for the body. Errors: ErrMalformed.
func decodeHeader(header []byte) (r Record, bodyHash [32]byte, bodySize uint64, err error) {
	if err := CheckCanonical(header); err != nil {
		return Record{}, bodyHash, 0, fmt.Errorf("header: %w", err)
	}
	r.header = header
	d := reader{rest: header}
	var seen uint64 // bits of the known keys
	d.pairs(func(k uint64) bool {
		switch k {
		case headerBodyHash:
			bodyHash = d.hash()
		case headerBodySize:
			bodySize = d.uint()
		default:
			if !r.readField(&d, k) {
				return false
			}
		}
		seen |= 1 << k
		return true
	})
	if err := d.end(); err != nil {
		return Record{}, bodyHash, 0, fmt.Errorf("header: %w", err)
	}
	if seen&headerRequired != headerRequired {
		return Record{}, bodyHash, 0, fmt.Errorf("%w: header lacks a field: has %#x, needs %#x", ErrMalformed, seen, headerRequired)
	}
	env := &r.Envelope
	switch {
	case seen&(1<<headerOrigin) == 0:
		env.OriginInstanceID = env.LastWriterID
	case env.OriginInstanceID == env.LastWriterID:
		return Record{}, bodyHash, 0, fmt.Errorf("%w: origin given although it is the writer", ErrMalformed)
	}
	return r, bodyHash, bodySize, nil
}

// readField takes the value of a header key off; known is false for a key that
// this build does not know.
func (r *Record) readField(d *reader, key uint64) (known bool) {
	switch key {
	case headerFleet:
		if r.Fleet = d.hash(); r.Fleet == (FleetID{}) {
			d.fail("a fleet of zeros is left out")
		}
	case headerKind:
		r.Key.Kind = d.text()
	case headerScope:
		d.arrayOf(3)
		r.Key.Scope = Scope{Instance: d.text(), Project: d.text(), Workspace: d.text()}
		if r.Key.Scope == (Scope{}) {
			d.fail("a global scope is left out")
		}
	case headerID:
		r.Key.ID = d.id()
	case headerSyncVersion:
		r.Envelope.SyncVersion = int64(d.uint()) // 2^63 and more turn negative: refused by validate
	case headerOrigin:
		r.Envelope.OriginInstanceID = d.instance()
	case headerStamp:
		r.Envelope.UpdatedHLC = d.stamp()
	case headerWriter:
		r.Envelope.LastWriterID = d.instance()
	case headerDeleted:
		r.Envelope.Deleted = d.flag()
	case headerBasis:
		r.Basis = d.basis()
	case headerBlobs:
		r.Blobs = d.blobs()
	case headerPurge:
		r.Purge = d.flag()
	default:
		return false
	}
	return true
}

func (d *reader) id() ID {
	n := d.count(majorArray)
	if d.err == nil && (n < 1 || n > componentsMax) {
		d.fail("id of %d components, 1 to %d", n, componentsMax)
		return ""
	}
	components := make([]string, n)
	for i := range components {
		components[i] = d.text()
	}
	id := NewID(components...)
	if d.err == nil && len(id.Components()) != n {
		d.fail("id component with 0x00")
	}
	return id
}

func (d *reader) stamp() hlc.Timestamp {
	t, err := hlc.Unpack(d.uint())
	if err != nil {
		d.fail("%w", err)
	}
	return t
}

func (d *reader) basis() Basis {
	n := d.count(majorArray)
	if n > BasisMax {
		d.fail("basis of %d writers, at most %d", n, BasisMax)
		return nil
	}
	b := make(Basis, n)
	for i := range b {
		d.arrayOf(2)
		b[i] = BasisEntry{d.instance(), d.stamp()}
	}
	return b
}

func (d *reader) blobs() []BlobRef {
	n := d.count(majorArray)
	if n == 0 || n > BlobsMax {
		d.fail("%d blobs, at most %d, and none are left out", n, BlobsMax)
		return nil
	}
	blobs := make([]BlobRef, n)
	for i := range blobs {
		blobs[i] = d.blob()
	}
	return blobs
}

func (d *reader) blob() (ref BlobRef) {
	var seen uint64
	d.pairs(func(k uint64) bool {
		switch k {
		case blobHash:
			ref.Hash = d.hash()
		case blobSize:
			ref.Size = int64(d.uint()) // 2^63 and more turn negative: refused by validate
		case blobManifest:
			ref.Manifest = d.flag()
		default:
			return false
		}
		seen |= 1 << k
		return true
	})
	if seen |= 1 << blobManifest; d.err == nil && seen != 1<<blobHash|1<<blobSize|1<<blobManifest {
		d.fail("blob without hash or size")
	}
	return ref
}
