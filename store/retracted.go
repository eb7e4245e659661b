package store

import (
	"errors"
	"slices"

	"github.com/fleetsync/fleetd/merge"
)

// Retracted calls fn for every version in history that may not be held, with the
// reason in Past.Retracted, by section in order of its first appearance, then by
// key, until fn returns false. Errors: ErrCorrupt.
func (r *Reader) Retracted(fn func(k merge.Key, p Past) (more bool)) error {
	var failed error
	err := r.retractedKeys(nil, func(_ []byte, k merge.Key) bool {
		past, err := r.past(k)
		if failed = err; err != nil {
			return false
		}
		for i := range past {
			if past[i].Retracted != 0 && !fn(k, past[i]) {
				return false
			}
		}
		return true
	})
	return errors.Join(failed, err)
}

// RetractedOf returns the versions in the history of a key that may not be held.
// Errors: ErrCorrupt.
func (r *Reader) RetractedOf(k merge.Key) ([]Past, error) {
	past, err := r.past(k)
	return slices.DeleteFunc(past, func(p Past) bool { return p.Retracted == 0 }), err
}

// RetractedCount is how many keys have retracted versions.
func (s *Store) RetractedCount() int { return int(s.retracted.Load()) }

// IsRetracted reports whether the version of a key with this item hash is here
// and may not be held. Errors: ErrCorrupt.
func (r *Reader) IsRetracted(k merge.Key, item merge.Hash) (bool, error) {
	if r.store.retracted.Load() == 0 {
		return false, nil
	}
	n, ok := r.table.of(k.Section())
	if !ok {
		return false, nil
	}
	if _, err := get(r.tx, retractedKey(n, k)); err != nil {
		if errors.Is(err, ErrNotFound) {
			err = nil
		}
		return false, err
	}
	past, err := r.past(k)
	for i := range past {
		if past[i].Hash == item {
			return past[i].Retracted != 0, nil
		}
	}
	return false, err
}

// RetractedImage returns the record that a reference names, when it may not be
// held: for those who must say what is gone. Errors: ErrNotFound, ErrCorrupt.
func (r *Reader) RetractedImage(ref Ref) (merge.Record, error) {
	past, err := r.past(ref.Key)
	if err != nil {
		return merge.Record{}, err
	}
	for i := range past {
		if past[i].Hash == ref.Hash && past[i].Retracted != 0 {
			return r.load(ref.Key, &past[i].Held)
		}
	}
	return merge.Record{}, missingImage(ref)
}

// retractedKeys calls fn for the rows of i/ 3 from one on.
func (r *Reader) retractedKeys(from []byte, fn func(key []byte, k merge.Key) (more bool)) error {
	return scan(r.tx, []byte(prefixRetracted), from, false, func(key, _ []byte) (bool, error) {
		n, order, err := splitRowKey(prefixRetracted, key, 0)
		if err != nil {
			return false, err
		}
		k, err := r.parseKey(n, order)
		if errors.Is(err, errUnseen) {
			return true, nil
		}
		return err == nil && fn(key, k), err
	})
}

// countRetracted counts the rows of i/ 3. Errors: the engine's.
func countRetracted(tx Txn) (n int64, err error) {
	prefix := []byte(prefixRetracted)
	err = tx.Scan(prefix, successor(prefix), false, func(_, _ []byte) (bool, error) {
		n++
		return true, nil
	})
	return n, err
}
