package state_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
)

// TestAnIndexThatPromisesWhatIsGoneIsCorrupt: whoever followed the index to a
// record that the disk had lost was told that nothing is there.
func TestAnIndexThatPromisesWhatIsGoneIsCorrupt(t *testing.T) {
	disk := store.NewMemory()
	open := func(engine store.Engine) state.Replica {
		st, err := store.Open(engine, store.Config{Now: clock.System{}.Now, Rand: &countingEntropy{}, Indexer: state.Indexer{}})
		must(t, err)
		r, err := state.Open(st, state.Config{})
		must(t, err)
		return r
	}
	ctx := t.Context()
	whole := open(disk)
	_, err := whole.Skills().Upsert(ctx, state.Skill{Slug: "deploy", Body: "text"})
	must(t, err)
	item, err := whole.Memory().Write(ctx, state.MemoryItem{Content: "text"})
	must(t, err)
	must(t, disk.Update(func(tx store.Txn) error {
		var lost [][]byte
		err := tx.Scan([]byte("v/"), []byte("v0"), false, func(key, _ []byte) (bool, error) {
			lost = append(lost, bytes.Clone(key))
			return true, nil
		})
		for _, key := range lost {
			err = errors.Join(err, tx.Delete(key))
		}
		return err
	}))
	r := open(disk.Clone())
	for what, read := range map[string]func() error{
		"Skills.Get":    func() error { _, err := r.Skills().Get(ctx, "deploy"); return err },
		"Skills.List":   func() error { _, err := r.Skills().List(ctx, state.Scope{}); return err },
		"Skills.Search": func() error { _, err := r.Skills().Search(ctx, "text", 0); return err },
		"RecordOutcome": func() error { _, err := r.SkillLibrary().RecordOutcome(ctx, "deploy", true); return err },
		"Report":        func() error { _, err := r.SkillLibrary().Report(ctx, nil, 0); return err },
		"Memory.Get":    func() error { _, err := r.MemoryLibrary().Get(ctx, item.ID); return err },
		"Memory.Recall": func() error { _, err := r.Memory().Recall(ctx, state.RecallQuery{}); return err },
		"Memory.List":   func() error { _, err := r.MemoryLibrary().List(ctx, state.Scope{}, ""); return err },
	} {
		if err := read(); !errors.Is(err, store.ErrCorrupt) || errors.Is(err, state.ErrNotFound) {
			t.Errorf("%s gives %v, want ErrCorrupt", what, err)
		}
	}
}
