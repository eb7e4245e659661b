package simulation

import (
	"bytes"
	"context"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// imageMin is from how many replicas on disks are made as copies of one image:
// each would hold a thousand grants of its own in a fleet of a thousand.
const imageMin = 65

// image is what the disks of a fleet have in common: the same records, merged
// once. A disk made of it is as if they had been merged there, and shares its
// rows with the others until it changes them.
type image struct {
	before, after *store.Memory // of the merge
	records       []merge.Record
}

func newImage(records []merge.Record, cfg store.Config) (*image, error) {
	before := store.NewMemory()
	st, err := store.Open(before, cfg)
	if err != nil {
		return nil, err
	}
	i := &image{before: before.Clone(), records: records}
	if _, err := st.Merge(context.Background(), store.Batch{Path: store.PathRestore, Records: records}); err != nil {
		return nil, err
	}
	i.after = before.Clone()
	return i, nil
}

// disk returns a new disk of a replica with the records of the image. What the
// merge did not touch, the store's identity above all, is its own.
func (i *image) disk(r *Replica) (*store.Memory, error) {
	fresh := store.NewMemory()
	st, err := store.Open(fresh, r.founding())
	if err != nil {
		return nil, err
	}
	if err := r.own(st); err != nil {
		return nil, err
	}
	own, err := rowsOf(fresh)
	if err != nil {
		return nil, err
	}
	before, err := rowsOf(i.before)
	if err != nil {
		return nil, err
	}
	made := i.after.Clone()
	err = made.Update(func(tx store.Txn) error {
		for _, row := range before {
			now, err := tx.Get(row.key)
			if err != nil || !bytes.Equal(now, row.value) {
				continue // the merge has changed it
			}
			if err := tx.Delete(row.key); err != nil {
				return err
			}
		}
		for _, row := range own {
			if _, err := tx.Get(row.key); err == nil {
				continue
			}
			if err := tx.Set(row.key, row.value); err != nil {
				return err
			}
		}
		return nil
	})
	return made, err
}

type diskRow struct{ key, value []byte }

func rowsOf(m *store.Memory) (rows []diskRow, err error) {
	err = m.View(func(tx store.Txn) error {
		return tx.Scan(nil, nil, false, func(key, value []byte) (more bool, err error) {
			rows = append(rows, diskRow{bytes.Clone(key), bytes.Clone(value)})
			return true, nil
		})
	})
	return rows, err
}
