package state_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
)

// Cases that went wrong in other systems.

// TestWritesAndADeleteInEveryOrder: two writes and a delete of one replica and a
// write of another that knows none of them, before, between or after them by its
// stamp, in every order of arrival: every replica answers alike.
func TestWritesAndADeleteInEveryOrder(t *testing.T) {
	for at := range 4 {
		clkA, clkB := clock.NewManual(startTime()), clock.NewManual(startTime().Add(time.Duration(2*at-1)*time.Second))
		a, b := newNode(t, "a", clkA), newNode(t, "b", clkB)
		for _, content := range []string{"one", "two"} {
			a.write(t, state.MemoryItem{ID: "m", Content: content})
			clkA.Advance(2 * time.Second)
		}
		must(t, a.Memory().Delete(t.Context(), "m"))
		b.write(t, state.MemoryItem{ID: "m", Content: "apart"})
		versions := append(append([]merge.Record{}, a.log...), b.log...)
		var want []any
		for _, order := range permutations(len(versions)) {
			n := openNode(t, store.NewMemory(), clock.NewManual(startTime().Add(time.Minute)), state.Config{InstanceID: "c"})
			for _, i := range order {
				n.receive(t, versions[i])
			}
			if want == nil {
				want = n.answers(t)
			}
			same(t, want, n.answers(t))
			must(t, n.Close())
		}
		a.receive(t, versions...)
		b.receive(t, versions...)
		same(t, want, a.answers(t))
		same(t, want, b.answers(t))
	}
}

// permutations are all orders of the numbers below n.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var all [][]int
	for _, shorter := range permutations(n - 1) {
		for at := range n {
			order := append(append(append([]int{}, shorter[:at]...), n-1), shorter[at:]...)
			all = append(all, order)
		}
	}
	return all
}

// TestDeletingInOneScopeTouchesNoOther, on any replica.
func TestDeletingInOneScopeTouchesNoOther(t *testing.T) {
	a, b := newNode(t, "a", clock.NewManual(startTime())), newNode(t, "b", clock.NewManual(startTime()))
	scopes := []state.Scope{{}, {Project: "p"}, {Project: "p", Workspace: "w"}, {Project: "q"}}
	for _, scope := range scopes {
		a.upsert(t, state.Skill{Slug: "s", Scope: scope})
		a.write(t, state.MemoryItem{Scope: scope, Content: "c"})
	}
	exchange(t, a, b)
	before := b.sums()
	gone := state.Scope{Project: "p"}
	must(t, a.SkillLibrary().DeleteIn(t.Context(), gone, "s"))
	items, err := a.MemoryLibrary().List(t.Context(), gone, "")
	must(t, err)
	for _, it := range items {
		must(t, a.MemoryLibrary().DeleteIn(t.Context(), gone, it.ID))
	}
	exchange(t, a, b)
	for _, n := range []*node{a, b} {
		after := n.sums()
		for section, sum := range before {
			if changed := after[section] != sum; changed != (section.Scope == gone) {
				t.Errorf("section %s: changed %t", section, changed)
			}
		}
		list, err := n.MemoryLibrary().List(t.Context(), gone, "")
		must(t, err)
		same(t, 0, len(list))
	}
}
