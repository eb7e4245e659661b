package store

import "github.com/fleetsync/fleetd/merge"

// KeysWithin returns the keys of a section, from one to another, that hold
// versions, keep some in history, or have some parked. complete is false when
// it met more than rowsMax rows and stopped. Errors: ErrCorrupt.
func (r *Reader) KeysWithin(first, last merge.Key, rowsMax int) (keys map[merge.Key]bool, complete bool, err error) {
	sec := first.Section()
	n, ok := r.table.of(sec)
	if !ok {
		return nil, true, nil
	}
	keys = map[merge.Key]bool{}
	rows := 0
	for _, rowsOf := range []struct {
		prefix string
		suffix int
	}{{prefixVersions, 0}, {prefixParked, len(merge.Hash{})}} {
		from, to := appendRowKey(nil, rowsOf.prefix, n, first), successor(appendRowKey(nil, rowsOf.prefix, n, last))
		err := r.tx.Scan(from, to, false, func(key, _ []byte) (bool, error) {
			if rows++; rows > rowsMax {
				return false, nil
			}
			_, order, err := splitRowKey(rowsOf.prefix, key, rowsOf.suffix)
			if err != nil {
				return false, err
			}
			k, err := parseOrder(sec, order)
			keys[k] = true
			return true, err
		})
		if err != nil || rows > rowsMax {
			return nil, false, err
		}
	}
	return keys, true, nil
}
