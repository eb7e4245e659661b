package store

import (
	"bytes"
	"errors"
	"slices"

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

// Wires returns the encoded records of items of one section that this Reader
// returned, in their order and in one block of memory. Those of items that lie
// next to each other cost a walk instead of a read each. Errors: ErrCorrupt.
func (r *Reader) Wires(sec merge.Section, items []Item) ([][]byte, error) {
	n, ok := r.table.of(sec)
	if !ok || len(items) == 0 {
		return nil, nil
	}
	w := wires{keys: make([][]byte, len(items)), values: make([][]byte, len(items)), order: make([]int, len(items))}
	size := 0
	for i := range items {
		w.keys[i] = appendSeqKey(nil, prefixRecord, n, items[i].Key, items[i].Seq)
		w.order[i] = i
		size += items[i].Size
	}
	// Several versions of a key are in the order of writers, their records in that
	// of seqs.
	slices.SortFunc(w.order, func(a, b int) int { return bytes.Compare(w.keys[a], w.keys[b]) })
	w.block = make([]byte, 0, size)
	first, last := w.keys[w.order[0]], w.keys[w.order[len(items)-1]]
	if err := r.tx.Scan(first, successor(last), false, w.take); err != nil {
		return nil, err
	}
	for i, value := range w.values {
		if value != nil {
			continue
		}
		var err error
		if w.values[i], err = r.Wire(items[i].Key, items[i].Held); err != nil {
			return nil, err
		}
	}
	return w.values, nil
}

// wires gathers records on a walk over r/.
type wires struct {
	keys, values [][]byte // of each item
	order        []int    // of the items by key
	found        int      // of order
	passed       int      // rows that nobody asked for
	block        []byte   // where values are
}

// take takes one row. The walk ends when it passes more rows than it looks for:
// covered versions lie between, and then each is read for itself.
func (w *wires) take(key, stored []byte) (more bool, err error) {
	for w.found < len(w.order) && bytes.Compare(w.keys[w.order[w.found]], key) < 0 {
		w.found++ // it is not there: reading it tells so
	}
	if w.found == len(w.order) {
		return false, nil
	}
	i := w.order[w.found]
	if !bytes.Equal(w.keys[i], key) {
		w.passed++
		return w.passed <= len(w.order), nil
	}
	value, err := openValue(key, stored)
	if err != nil {
		return false, err
	}
	at := len(w.block)
	w.block = append(w.block, value...)
	w.values[i] = w.block[at:len(w.block):len(w.block)]
	w.found++
	return w.found < len(w.order), nil
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
