package state_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
	"github.com/fleetsync/fleetd/store/storetest"
)

// mutation is one call that writes, for a replica that holds skill "a" and
// item "x" and session "s" live, and skill "dead" and item "gone" as tombstones.
type mutation struct {
	name string
	do   func(ctx context.Context, n *node) error
}

func mutations() []mutation {
	upsert := func(slug string) func(context.Context, *node) error {
		return func(ctx context.Context, n *node) error {
			_, err := n.Skills().Upsert(ctx, state.Skill{Slug: slug, ID: slug + "-id", Body: "new"})
			return err
		}
	}
	write := func(id string) func(context.Context, *node) error {
		return func(ctx context.Context, n *node) error {
			_, err := n.Memory().Write(ctx, state.MemoryItem{ID: id, Content: "new"})
			return err
		}
	}
	return []mutation{
		{"create a skill", upsert("b")},
		{"update a skill", upsert("a")},
		{"revive a skill", upsert("dead")},
		{"delete a skill", func(ctx context.Context, n *node) error { return n.Skills().Delete(ctx, "a") }},
		{"record an outcome", func(ctx context.Context, n *node) error {
			_, err := n.SkillLibrary().RecordOutcome(ctx, "a", true)
			return err
		}},
		{"create an item", write("y")},
		{"create an item of a minted id", write("")},
		{"update an item", write("x")},
		{"revive an item", write("gone")},
		{"restore a skill", func(ctx context.Context, n *node) error {
			key := merge.Key{Kind: "skill", ID: "dead"}
			versions, err := n.History(ctx, key)
			if err == nil {
				_, err = n.Restore(ctx, key, versions[len(versions)-1].Hash)
			}
			return err
		}},
		{"revert the last delete", func(ctx context.Context, n *node) error {
			versions, err := n.MemoryLibrary().History(ctx, "gone")
			if err == nil {
				_, err = n.Revert(ctx, "a", versions[len(versions)-2].UpdatedHLC)
			}
			return err
		}},
		{"delete an item", func(ctx context.Context, n *node) error { return n.Memory().Delete(ctx, "x") }},
		{"create a session", func(ctx context.Context, n *node) error {
			_, err := n.Sessions().Create(ctx, state.Session{Title: "new"})
			return err
		}},
		{"append a turn", func(ctx context.Context, n *node) error {
			_, err := n.Sessions().AppendTurn(ctx, state.Turn{SessionID: "s", Content: "new"})
			return err
		}},
		{"delete a session", func(ctx context.Context, n *node) error { return n.Sessions().Delete(ctx, "s") }},
	}
}

// prepare makes what mutation describes.
func (n *node) prepare(t failer) {
	t.Helper()
	for _, slug := range []string{"a", "dead"} {
		n.upsert(t, state.Skill{Slug: slug, Body: "old"})
	}
	for _, id := range []string{"x", "gone"} {
		n.write(t, state.MemoryItem{ID: id, Content: "old"})
	}
	_, err := n.Sessions().Create(context.Background(), state.Session{ID: "s"})
	must(t, err)
	_, err = n.Sessions().AppendTurn(context.Background(), state.Turn{SessionID: "s", Content: "old"})
	must(t, err)
	must(t, n.Skills().Delete(context.Background(), "dead"))
	must(t, n.Memory().Delete(context.Background(), "gone"))
}

// events is the number of the newest event.
func (n *node) events(t failer) uint64 {
	t.Helper()
	var head uint64
	must(t, n.store.View(func(r *store.Reader) (err error) {
		head, err = r.EventHead()
		return err
	}))
	return head
}

func TestAFailingEngineLeavesNothing(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		leavesNothing(t, func(*testing.T) store.Engine { return store.NewMemory() })
	})
	t.Run("badger", func(t *testing.T) {
		leavesNothing(t, func(t *testing.T) store.Engine { t.Helper(); return openBadger(t, t.TempDir()) })
	})
}

func leavesNothing(t *testing.T, open func(t *testing.T) store.Engine) {
	t.Helper()
	for _, m := range mutations() {
		for name, fault := range map[string]storetest.Fault{
			"before": storetest.FaultBefore, "at a write": storetest.FaultWrite, "at the commit": storetest.FaultCommit,
		} {
			t.Run(m.name+", "+name, func(t *testing.T) {
				n, next := faulty(t, open(t))
				answers, sums, events := n.answers(t), n.sums(), n.events(t)
				*next = fault
				if err := m.do(t.Context(), n); !errors.Is(err, storetest.ErrInjected) {
					t.Errorf("got %v, want %v", err, storetest.ErrInjected)
				}
				*next = storetest.FaultNone
				same(t, answers, n.answers(t))
				same(t, sums, n.sums())
				same(t, events, n.events(t))

				must(t, m.do(t.Context(), n))
				same(t, events+1, n.events(t))
			})
		}
	}
}

// TestAnEngineThatFailsTooLate: the write happened although nobody could say
// so. Then all of it did, and the next write builds on it.
func TestAnEngineThatFailsTooLate(t *testing.T) {
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			n, next := faulty(t, store.NewMemory())
			events := n.events(t)
			*next = storetest.FaultAfter
			if err := m.do(t.Context(), n); !errors.Is(err, storetest.ErrInjected) {
				t.Errorf("got %v, want %v", err, storetest.ErrInjected)
			}
			*next = storetest.FaultNone
			same(t, events+1, n.events(t))
			same(t, n.derived(t), n.indexOf(t))
			if err := m.do(t.Context(), n); err != nil && !errors.Is(err, state.ErrNotFound) {
				t.Errorf("again: %v", err)
			}
			same(t, n.derived(t), n.indexOf(t))
		})
	}
}

// faulty returns a prepared node over an engine, and how its next updates fail.
func faulty(t *testing.T, engine store.Engine) (*node, *storetest.Fault) {
	t.Helper()
	next := storetest.FaultNone
	engine = &storetest.Faulty{Engine: engine, Plan: func(int) storetest.Fault { return next }}
	n := openNode(t, engine, clock.NewManual(startTime()), state.Config{InstanceID: "a"})
	t.Cleanup(func() { must(t, n.Close()) })
	n.prepare(t)
	return n, &next
}

func TestAnEndedContextLeavesNothing(t *testing.T) {
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			n := newNode(t, "a", clock.NewManual(startTime()))
			n.prepare(t)
			answers, events := n.answers(t), n.events(t)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := m.do(ctx, n); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
			same(t, answers, n.answers(t))
			same(t, events, n.events(t))
		})
	}
}

func TestAClockThatWasAheadRefusesToWrite(t *testing.T) {
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			clk := clock.NewManual(startTime().Add(time.Hour))
			n := newNode(t, "a", clk)
			n.prepare(t)
			answers, events := n.answers(t), n.events(t)
			clk.Set(startTime())
			if err := m.do(t.Context(), n); !errors.Is(err, hlc.ErrClockAhead) {
				t.Errorf("got %v, want %v", err, hlc.ErrClockAhead)
			}
			same(t, answers, n.answers(t))
			same(t, events, n.events(t))
		})
	}
}
