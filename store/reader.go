package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/fleetsync/fleetd/merge"
)

// errUnseen marks a row of a section that is newer than the Reader's section
// table: to this Reader it is not there yet.
var errUnseen = errors.New("store: section is newer than the snapshot")

// Reader reads one consistent snapshot. It belongs to one goroutine and is
// valid within the function that received it; what it returns stays valid and
// belongs to the caller.
type Reader struct {
	store *Store
	tx    Txn
	table *ordinals
	reads *readSet // nil when nobody validates
}

// row returns the versions of a key; an empty row when there are none.
func (r *Reader) row(k merge.Key) (row, error) {
	n, ok := r.table.of(k.Section())
	if !ok {
		r.reads.sawKey(k, nil)
		return row{}, nil
	}
	key := appendRowKey(nil, prefixVersions, n, k)
	stored, err := r.tx.Get(key)
	if errors.Is(err, ErrNotFound) {
		r.reads.sawKey(k, nil)
		return row{}, nil
	}
	if err != nil {
		return row{}, err
	}
	value, err := openValue(key, stored)
	if err != nil {
		return row{}, err
	}
	r.reads.sawKey(k, stored)
	return decodeRow(value)
}

// Held returns the held versions of a key, ascending: the last is the head,
// the others are conflicts. It is empty when the key holds none. Errors:
// ErrCorrupt.
func (r *Reader) Held(k merge.Key) ([]Held, error) {
	versions, err := r.row(k)
	return versions.held, err
}

// Head returns the head of a key, which may be a tombstone. Errors:
// ErrNotFound, ErrCorrupt.
func (r *Reader) Head(k merge.Key) (merge.Record, error) {
	versions, err := r.row(k)
	if err != nil {
		return merge.Record{}, err
	}
	head := versions.head()
	if head == nil {
		return merge.Record{}, fmt.Errorf("%w: %s", ErrNotFound, k)
	}
	return r.load(k, head)
}

// Record returns the version of a writer that a key holds. Errors:
// ErrNotFound, ErrCorrupt.
func (r *Reader) Record(k merge.Key, writer merge.InstanceID) (merge.Record, error) {
	versions, err := r.row(k)
	if err != nil {
		return merge.Record{}, err
	}
	for i := range versions.held {
		if versions.held[i].Writer == writer {
			return r.load(k, &versions.held[i])
		}
	}
	return merge.Record{}, fmt.Errorf("%w: version of %s by %s", ErrNotFound, k, writer)
}

// Load returns the record of a version that this Reader returned, at the cost
// of one read. Errors: ErrCorrupt.
func (r *Reader) Load(k merge.Key, h Held) (merge.Record, error) { return r.load(k, &h) }

func (r *Reader) load(k merge.Key, h *Held) (merge.Record, error) {
	n, ok := r.table.of(k.Section())
	if !ok {
		return merge.Record{}, fmt.Errorf("%w: %s", ErrNotFound, k)
	}
	key := appendSeqKey(nil, prefixRecord, n, k, h.Seq)
	value, err := get(r.tx, key)
	if err != nil {
		return merge.Record{}, missing(err, "record of %s seq %d", k, h.Seq)
	}
	return decodeRecord(k, h, value)
}

// State returns the state of a section as of this snapshot. Errors:
// ErrCorrupt.
func (r *Reader) State(sec merge.Section) (SectionState, error) {
	n, ok := r.table.of(sec)
	if !ok {
		return SectionState{Section: sec}, nil
	}
	value, err := get(r.tx, appendSectionKey(nil, prefixSection, n))
	if err != nil {
		return SectionState{}, missing(err, "section %s", sec)
	}
	return decodeSectionRow(value)
}

// Local returns a node-private value. Errors: ErrNotFound, ErrCorrupt.
func (r *Reader) Local(name string) ([]byte, error) {
	return r.value(append([]byte(prefixLocal), name...))
}

// value reads a row that is validated as a whole; the result is a copy.
func (r *Reader) value(key []byte) ([]byte, error) {
	stored, err := r.tx.Get(key)
	if err != nil {
		if errors.Is(err, ErrNotFound) {
			r.reads.sawRow(key, nil)
		}
		return nil, err
	}
	r.reads.sawRow(key, stored)
	value, err := openValue(key, stored)
	return append([]byte{}, value...), err
}

// parseKey reads a key from a row. Errors: errUnseen, ErrCorrupt.
func (r *Reader) parseKey(n ordinal, order string) (merge.Key, error) {
	if uint64(n) > uint64(len(r.table.names)) {
		return merge.Key{}, errUnseen
	}
	sec, err := r.table.section(n)
	if err != nil {
		return merge.Key{}, err
	}
	return parseOrder(sec, order)
}

// parseOrder is merge.ParseOrder for what the store itself wrote. Errors:
// ErrCorrupt.
func parseOrder(sec merge.Section, order string) (merge.Key, error) {
	kind, id, found := strings.Cut(order, "\x00")
	k := merge.Key{Kind: kind, Scope: sec.Scope, ID: merge.ID(id)}
	if !found || k.Family() != sec.Family {
		return merge.Key{}, fmt.Errorf("%w: order key %.60q in section %s", ErrCorrupt, order, sec)
	}
	return k, nil
}

// appendOrder appends the order key of k as a text.
func appendOrder(dst []byte, k merge.Key) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(k.Kind)+1+len(k.ID)))
	dst = append(dst, k.Kind...)
	dst = append(dst, 0)
	return append(dst, k.ID...)
}

// lastSeq reads the seq at the end of a key. Errors: ErrCorrupt.
func lastSeq(key []byte) (uint64, error) {
	if len(key) < seqBytes {
		return 0, fmt.Errorf("%w: key %q", ErrCorrupt, key)
	}
	return binary.BigEndian.Uint64(key[len(key)-seqBytes:]), nil
}
