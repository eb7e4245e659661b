package store

import (
	"errors"

	"github.com/fleetsync/fleetd/merge"
)

// Wire returns the encoded record of a version that this Reader returned: what
// a peer is sent, byte for byte as it was received. The bytes passed their
// checksum and are not decoded; whoever receives them checks the rest. Errors:
// ErrCorrupt.
func (r *Reader) Wire(k merge.Key, h Held) ([]byte, error) {
	n, ok := r.table.of(k.Section())
	if !ok {
		return nil, missing(ErrNotFound, "section of %s", k)
	}
	value, err := get(r.tx, appendSeqKey(nil, prefixRecord, n, k, h.Seq))
	if err != nil {
		return nil, missing(err, "record of %s seq %d", k, h.Seq)
	}
	return append([]byte{}, value...), nil
}

// IsParked reports whether a version of a key waits in q/. Errors: ErrCorrupt.
func (r *Reader) IsParked(k merge.Key, item merge.Hash) (bool, error) {
	n, ok := r.table.of(k.Section())
	if !ok {
		return false, nil
	}
	_, err := r.tx.Get(parkedKey(nil, n, k, item))
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// ParkedIn calls fn for the versions in q/ whose keys may have versions within a
// span, by order key, until fn returns false. Errors: ErrCorrupt.
func (r *Reader) ParkedIn(sec merge.Section, s Span, fn func(k merge.Key, item merge.Hash) (more bool)) error {
	n, ok := r.table.of(sec)
	if !ok || s.IsEmpty() {
		return nil
	}
	prefix := appendSectionKey(nil, prefixParked, n)
	return r.tx.Scan(append(prefix[:len(prefix):len(prefix)], s.firstRow()...), successor(prefix), false,
		func(key, _ []byte) (bool, error) {
			_, order, err := splitRowKey(prefixParked, key, len(merge.Hash{}))
			if err != nil {
				return false, err
			}
			if s.endsBefore(keyPosition(order)) {
				return false, nil
			}
			k, err := parseOrder(sec, order)
			if err != nil {
				return false, err
			}
			return fn(k, merge.Hash(key[len(key)-len(merge.Hash{}):])), nil
		})
}
