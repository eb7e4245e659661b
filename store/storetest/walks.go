package storetest

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// checkWalks compares what one walk tells of a span with what reads of each key
// do, where covered versions lie between and keys have conflicts.
func checkWalks(t *testing.T, r *store.Reader, span store.Span) error {
	t.Helper()
	var items []store.Item
	err := r.Items(memorySection(), span, func(item store.Item) bool {
		items = append(items, item)
		return true
	})
	if err != nil || len(items) == 0 {
		return err
	}
	wires, err := r.Wires(memorySection(), items)
	if err != nil {
		return err
	}
	keys := map[merge.Key]bool{}
	for i, item := range items {
		keys[item.Key] = true
		want, err := r.Wire(item.Key, item.Held)
		if err != nil {
			return err
		}
		if i >= len(wires) || !bytes.Equal(wires[i], want) {
			t.Errorf("of %d items in %+v the record of %s by %s is another one", len(items), span, item.Key, item.Writer)
		}
	}
	first, last := items[0].Key, items[len(items)-1].Key
	got, complete, err := r.KeysWithin(first, last, len(items))
	if diff := cmp.Diff(keys, got); err != nil || !complete || diff != "" {
		t.Errorf("keys from %s to %s: complete %v, %v; want is -, got is +:\n%s", first, last, complete, err, diff)
	}
	if len(keys) > 1 {
		if _, complete, err := r.KeysWithin(first, last, len(keys)-1); complete || err != nil {
			t.Errorf("%d keys are no more than %d: %v", len(keys), len(keys)-1, err)
		}
	}
	return nil
}
