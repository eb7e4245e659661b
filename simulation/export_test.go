package simulation

import (
	"maps"
	"slices"
	"testing"

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
