package state_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
)

// apart returns two nodes on one clock that have exchanged what setUp wrote on
// the first.
func apart(t *testing.T, setUp func(a *node)) (a, b *node, clk *clock.Manual) {
	t.Helper()
	clk = clock.NewManual(startTime())
	a, b = newNode(t, "a", clk), newNode(t, "b", clk)
	setUp(a)
	exchange(t, a, b)
	clk.Advance(time.Second)
	return a, b, clk
}

func TestAnEditOnBothSidesKeepsTheLoserOnBoth(t *testing.T) {
	a, b, clk := apart(t, func(a *node) { a.upsert(t, state.Skill{Slug: "deploy", Body: "old"}) })
	loser := a.upsert(t, state.Skill{Slug: "deploy", Body: "of a", Tags: []string{"x"}})
	clk.Advance(time.Second)
	winner := b.upsert(t, state.Skill{Slug: "deploy", Body: "of b"})
	exchange(t, a, b)
	same(t, a.answers(t), b.answers(t))
	for _, n := range []*node{a, b} {
		got, err := n.Skills().Get(t.Context(), "deploy")
		must(t, err)
		same(t, winner, got)
		conflicts, err := n.Conflicts(t.Context())
		must(t, err)
		if len(conflicts) != 1 {
			t.Fatalf("%d conflicts", len(conflicts))
		}
		c := conflicts[0]
		same(t, merge.Key{Kind: "skill", ID: merge.NewID("deploy")}, c.Key)
		same(t, &winner, c.Winner.Skill)
		same(t, &loser, c.Loser.Skill)
		same(t, loser.Envelope, c.Loser.Envelope)
	}
	// A write counts on from the largest held version and leaves the loser.
	next := a.upsert(t, state.Skill{Slug: "deploy", Body: "next"})
	same(t, []int64{2, 2, 3}, []int64{loser.SyncVersion, winner.SyncVersion, next.SyncVersion})
	exchange(t, a, b)
	same(t, a.answers(t), b.answers(t))
}

func TestTheLargestHeldSyncVersionCounts(t *testing.T) {
	a, b, clk := apart(t, func(a *node) { a.write(t, state.MemoryItem{ID: "x"}) })
	for range 5 {
		a.write(t, state.MemoryItem{ID: "x", Content: "of a"})
	}
	clk.Advance(time.Second)
	b.write(t, state.MemoryItem{ID: "x", Content: "of b"})
	exchange(t, a, b)
	head, err := b.MemoryLibrary().Get(t.Context(), "x")
	must(t, err)
	same(t, []any{"of b", int64(2)}, []any{head.Content, head.SyncVersion})
	// The head's version is what a writer compares with; six is held below it.
	head.Content = "next"
	same(t, int64(7), b.write(t, head).SyncVersion)
}

// TestAWriteKeepsWhatItsWriterHadSeen: the basis of one writer never shrinks,
// also when its last version is in history only. b covered what a wrote, then
// c, who had seen neither, became the head.
func TestAWriteKeepsWhatItsWriterHadSeen(t *testing.T) {
	clk := clock.NewManual(startTime())
	a, b, c, x := newNode(t, "a", clk), newNode(t, "b", clk), newNode(t, "c", clk), newNode(t, "x", clk)
	var seen hlc.Timestamp
	for _, step := range []func(){
		func() { seen = x.write(t, state.MemoryItem{ID: "m"}).UpdatedHLC },
		func() { exchange(t, x, a); a.write(t, state.MemoryItem{ID: "m"}) },
		func() { exchange(t, a, b); b.write(t, state.MemoryItem{ID: "m"}) },
		func() { c.write(t, state.MemoryItem{ID: "m"}) },
		func() { exchange(t, a, b, c); a.write(t, state.MemoryItem{ID: "m"}) },
	} {
		clk.Advance(time.Millisecond)
		step()
	}
	last := a.log[len(a.log)-1]
	if last.Envelope.LastWriterID != "a" || last.Basis.Stamp("x") != seen || last.Basis.Stamp("c").IsZero() {
		t.Errorf("the last write by %s has the basis %v", last.Envelope.LastWriterID, last.Basis)
	}
}

func TestConflictsOfOneKeyShareNothing(t *testing.T) {
	clk := clock.NewManual(startTime())
	a, b, c := newNode(t, "a", clk), newNode(t, "b", clk), newNode(t, "c", clk)
	for _, n := range []*node{a, b, c} {
		n.upsert(t, state.Skill{Slug: "deploy", Tags: []string{"tag"}})
	}
	exchange(t, a, b, c)
	conflicts, err := a.Conflicts(t.Context())
	must(t, err)
	same(t, 2, len(conflicts))
	conflicts[0].Winner.Skill.Tags[0], conflicts[0].Winner.Skill.Name = "changed", "changed"
	same(t, []string{"tag", ""}, []string{conflicts[1].Winner.Skill.Tags[0], conflicts[1].Winner.Skill.Name})
}

func TestAReadFromBeforeAMergeConflicts(t *testing.T) {
	a, b, clk := apart(t, func(a *node) {
		a.upsert(t, state.Skill{Slug: "deploy"})
		a.write(t, state.MemoryItem{ID: "x"})
	})
	skill, item := a.upsert(t, state.Skill{Slug: "deploy"}), a.write(t, state.MemoryItem{ID: "x"})
	clk.Advance(time.Second)
	b.upsert(t, state.Skill{Slug: "deploy", Body: "of b"})
	b.write(t, state.MemoryItem{ID: "x", Content: "of b"})
	exchange(t, a, b)
	// Both sides wrote sync version 2, so only the stamp tells.
	if _, err := a.Skills().Upsert(t.Context(), skill); !errors.Is(err, state.ErrConflict) {
		t.Errorf("stale skill: %v, want ErrConflict", err)
	}
	if _, err := a.Memory().Write(t.Context(), item); !errors.Is(err, state.ErrConflict) {
		t.Errorf("stale item: %v, want ErrConflict", err)
	}
	skill, err := a.Skills().Get(t.Context(), "deploy")
	must(t, err)
	a.upsert(t, skill)
}

func TestADeleteAgainstAnEdit(t *testing.T) {
	for _, deleteLast := range []bool{true, false} {
		a, b, clk := apart(t, func(a *node) { a.upsert(t, state.Skill{Slug: "deploy", ID: "chosen", Body: "old"}) })
		remove := func() { must(t, a.Skills().Delete(t.Context(), "deploy")) }
		edit := func() { b.upsert(t, state.Skill{Slug: "deploy", Body: "edited"}) }
		first, last := remove, edit
		if deleteLast {
			first, last = edit, remove
		}
		first()
		clk.Advance(time.Second)
		last()
		exchange(t, a, b)
		same(t, a.answers(t), b.answers(t))
		conflicts, err := a.Conflicts(t.Context())
		must(t, err)
		if len(conflicts) != 1 || conflicts[0].Winner.Deleted != deleteLast || conflicts[0].Loser.Deleted == deleteLast {
			t.Errorf("delete last %t: conflicts %+v", deleteLast, conflicts)
		}
		_, err = b.Skills().Get(t.Context(), "chosen")
		if errors.Is(err, state.ErrNotFound) != deleteLast {
			t.Errorf("delete last %t: get %v", deleteLast, err)
		}
	}
}

func TestOneSlugCreatedApartIsOneSkill(t *testing.T) {
	a, b, clk := apart(t, func(*node) {})
	a.upsert(t, state.Skill{Slug: "cafe\u0301", ID: "of-a"})
	clk.Advance(time.Second)
	b.upsert(t, state.Skill{Slug: "caf\u00e9", ID: "of-b"})
	exchange(t, a, b)
	same(t, a.answers(t), b.answers(t))
	for name, found := range map[string]bool{
		"of-b": true, "of-a": false, state.SkillID(state.Scope{}, "caf\u00e9"): true, "caf\u00e9": true,
	} {
		_, err := a.Skills().Get(t.Context(), name)
		if (err == nil) != found || (err != nil && !errors.Is(err, state.ErrNotFound)) {
			t.Errorf("get %q: %v", name, err)
		}
	}
}

func TestOneChosenIDForTwoSkillsIsAmbiguous(t *testing.T) {
	a, b, _ := apart(t, func(*node) {})
	a.upsert(t, state.Skill{Slug: "one", ID: "same"})
	b.upsert(t, state.Skill{Slug: "two", ID: "same"})
	exchange(t, a, b)
	_, err := a.Skills().Get(t.Context(), "same")
	for _, err := range []error{err, a.Skills().Delete(t.Context(), "same")} {
		if !errors.Is(err, state.ErrAmbiguous) {
			t.Errorf("got %v, want ErrAmbiguous", err)
		}
	}
	must(t, a.Skills().Delete(t.Context(), "one"))
	got, err := a.Skills().Get(t.Context(), "same")
	must(t, err)
	same(t, "two", got.Slug)
}

func TestOneMemoryIDInTwoScopes(t *testing.T) {
	a, b, _ := apart(t, func(*node) {})
	p, q := state.Scope{Project: "p"}, state.Scope{Project: "q"}
	a.write(t, state.MemoryItem{ID: "x", Scope: p})
	b.write(t, state.MemoryItem{ID: "x", Scope: q})
	exchange(t, a, b)
	_, err := a.MemoryLibrary().Get(t.Context(), "x")
	for _, err := range []error{err, a.Memory().Delete(t.Context(), "x")} {
		if !errors.Is(err, state.ErrAmbiguous) {
			t.Errorf("got %v, want ErrAmbiguous", err)
		}
	}
	same(t, int64(2), a.write(t, state.MemoryItem{ID: "x", Scope: q}).SyncVersion)
	must(t, a.MemoryLibrary().DeleteIn(t.Context(), p, "x"))
	got, err := a.MemoryLibrary().Get(t.Context(), "x")
	must(t, err)
	same(t, q, got.Scope)
}

func TestAHostileCountDoesNotBlockARecord(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime()))
	key := merge.Key{Kind: "skill", ID: merge.NewID("deploy")}
	body, err := merge.Marshal(map[uint64]any{2: int64(math.MaxInt64), 3: 1})
	must(t, err)
	stamp := hlc.Timestamp{Wall: startTime().UnixMilli()}
	n.receive(t, version(t, key, "evil", merge.Envelope{SyncVersion: math.MaxInt64, UpdatedHLC: stamp}, body))
	for range 2 {
		got := n.upsert(t, state.Skill{Slug: "deploy"})
		same(t, []any{int64(math.MaxInt64), math.MaxInt}, []any{got.SyncVersion, got.Version})
	}
	must(t, n.Skills().Delete(t.Context(), "deploy"))
}

func TestARecordThatBreaksTheRulesIsHiddenListedAndRepaired(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime()))
	stamp := hlc.Timestamp{Wall: startTime().UnixMilli()}
	web := merge.Scope{Project: "web"}
	for _, key := range []merge.Key{
		{Kind: "skill", ID: merge.NewID("../x")},
		{Kind: "skill", Scope: web, ID: merge.NewID("deploy")},
		{Kind: "skill", ID: merge.NewID("a", "b")},
		{Kind: "memory", ID: merge.NewID("x")},
		{Kind: "memory.later", ID: merge.NewID("x")}, // not invalid: unknown
	} {
		n.receive(t, version(t, key, "evil", merge.Envelope{UpdatedHLC: stamp}, []byte("not cbor")))
	}
	hidden, err := n.Invalid(t.Context())
	must(t, err)
	keys := []string{}
	for _, h := range hidden {
		keys = append(keys, h.Key.String())
		if h.Reason == "" {
			t.Errorf("%s has no reason", h.Key)
		}
	}
	same(t, []string{"memory/x", "skill/../x", "skill/a/b", "skill/deploy in project web"}, keys)
	_, err = n.SkillLibrary().GetIn(t.Context(), web, "deploy")
	if !errors.Is(err, state.ErrNotFound) {
		t.Errorf("get of a hidden skill: %v", err)
	}
	same(t, []any{[]state.Session{}, [][]state.Turn{}, []state.Skill{}, []state.MemoryItem{}, []state.Conflict{}, hidden}, n.answers(t))

	repaired := n.upsert(t, state.Skill{Slug: "deploy", Scope: web, Body: "good"})
	same(t, []any{int64(2), 1, "evil"}, []any{repaired.SyncVersion, repaired.Version, repaired.OriginInstanceID})
	must(t, n.MemoryLibrary().DeleteIn(t.Context(), state.Scope{}, "x"))
	hidden, err = n.Invalid(t.Context())
	must(t, err)
	same(t, 2, len(hidden))
}

func TestAConflictOfAnUnknownKindIsListedUndecoded(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime()))
	key := merge.Key{Kind: "skill.later", ID: merge.NewID("x")}
	for i, writer := range []string{"b", "c", "d"} {
		stamp := hlc.Timestamp{Wall: startTime().UnixMilli(), Counter: uint16(i)}
		n.receive(t, version(t, key, writer, merge.Envelope{UpdatedHLC: stamp}, []byte{0xa0}))
	}
	conflicts, err := n.Conflicts(t.Context())
	must(t, err)
	if len(conflicts) != 2 {
		t.Fatalf("%d conflicts, want one for each loser", len(conflicts))
	}
	for i, c := range conflicts {
		same(t, []any{key, "d", []string{"b", "c"}[i]}, []any{c.Key, c.Winner.LastWriterID, c.Loser.LastWriterID})
		if c.Winner.Skill != nil || c.Loser.Memory != nil || c.Winner.Hash == c.Loser.Hash {
			t.Errorf("conflict %+v", c)
		}
	}
}
