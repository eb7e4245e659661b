package store_test

import (
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// lateEngine lets something happen between the begin of a View and its
// snapshot.
type lateEngine struct {
	store.Engine
	before func()
}

func (e *lateEngine) View(fn func(tx store.Txn) error) error {
	if before := e.before; before != nil {
		e.before = nil
		before()
	}
	return e.Engine.View(fn)
}

// TestASnapshotKnowsItsSections: a view whose snapshot had a section that was
// new said that nothing is there, while the indexes in the same snapshot named
// its keys.
func TestASnapshotKnowsItsSections(t *testing.T) {
	engine := &lateEngine{Engine: store.NewMemory()}
	s, err := store.Open(engine, testConfig())
	if err != nil {
		t.Fatal(err)
	}
	keys := []merge.Key{
		{Kind: "skill", ID: merge.NewID("deploy")},
		{Kind: "memory", ID: merge.NewID("item")},
	}
	engine.before = func() {
		for _, k := range keys {
			if err := put(t, s, "local", k, "text"); err != nil {
				t.Error(err)
			}
		}
	}
	err = s.View(func(r *store.Reader) error {
		for _, k := range keys {
			rec, err := r.Head(k)
			if err != nil || string(rec.Body) != "text" {
				t.Errorf("%s: %q, %v", k, rec.Body, err)
			}
			state, err := r.State(k.Section())
			if err != nil || state.Count != 1 {
				t.Errorf("%s: %+v, %v", k.Section(), state, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
