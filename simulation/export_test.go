package simulation

import (
	"maps"
	"slices"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// SealEntry makes an entry of a virtual disk's log; an empty value removes the
// row.
func SealEntry(rows map[string]string) []byte {
	r := &recorder{Txn: nothing{}}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		if rows[key] == "" {
			_ = r.Delete([]byte(key))
			continue
		}
		_ = r.Set([]byte(key), []byte(rows[key]))
	}
	return sealEntry(r.ops)
}

// nothing is a transaction that writes nowhere.
type nothing struct{ store.Txn }

func (nothing) Set(_, _ []byte) error { return nil }
func (nothing) Delete([]byte) error   { return nil }

// Replay replays a log over an empty disk, and returns what is there then.
func Replay(t *testing.T, log []byte) (entries int, rows map[string]string) {
	t.Helper()
	m := store.NewMemory()
	entries, err := replay(m, log)
	if err != nil {
		t.Fatal(err)
	}
	rows = map[string]string{}
	err = m.View(func(tx store.Txn) error {
		return tx.Scan(nil, nil, false, func(key, value []byte) (bool, error) {
			rows[string(key)] = string(value)
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries, rows
}

// FoundingDisks returns the rows of the disks with which the replicas of a plan
// begin, made one by one and made of an image.
func FoundingDisks(plan Plan) (merged, imaged []map[string]string, err error) {
	c, err := New(plan, Options{})
	if err != nil {
		return nil, nil, err
	}
	known := make([]merge.Record, 0, len(c.model.order))
	for _, w := range c.model.order {
		known = append(known, w.record)
	}
	image, err := newImage(known, c.replicas[0].founding())
	if err != nil {
		return nil, nil, err
	}
	for _, r := range c.replicas {
		if r.disk.Memory, err = image.disk(r); err != nil {
			return nil, nil, err
		}
		if imaged, err = appendRows(imaged, r.disk); err != nil {
			return nil, nil, err
		}
		r.disk.Memory = store.NewMemory()
		if err := r.install(known); err != nil {
			return nil, nil, err
		}
		if merged, err = appendRows(merged, r.disk); err != nil {
			return nil, nil, err
		}
	}
	return merged, imaged, nil
}

func appendRows(disks []map[string]string, d *disk) ([]map[string]string, error) {
	rows, err := rowsOf(d.Memory)
	all := map[string]string{}
	for _, row := range rows {
		all[string(row.key)] = string(row.value)
	}
	return append(disks, all), err
}

// Without returns a plan without one of its replicas.
func Without(p Plan, replica int) Plan {
	c := p.clone()
	c.dropReplica(replica)
	return c
}

// Upgrade replaces the program of a replica by a later build, over the same disk.
func (c *Cluster) Upgrade(number int) {
	c.plan.Newer = append(c.plan.Newer, number)
	r := c.replicas[number]
	r.kill(0)
	r.dialect = c.newDialect(number)
	r.launch()
}
