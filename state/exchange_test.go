package state_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
)

// history drives a few replicas at random. Each has a clock of its own, at
// most two seconds apart.
type history struct {
	nodes  []*node
	apart  bool // content is, and comes later than its records
	clocks []*clock.Manual
}

func newHistory(t *rapid.T) *history { return newHistoryOf(t, state.Config{}) }

func newHistoryOf(t *rapid.T, cfg state.Config) *history {
	h := &history{apart: cfg.InlineBytes > 0}
	for _, name := range []string{"a", "b", "c"}[:rapid.IntRange(2, 3).Draw(t, "replicas")] {
		clk := clock.NewManual(startTime().Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "skew")) * time.Millisecond))
		h.clocks = append(h.clocks, clk)
		h.nodes = append(h.nodes, openNode(t, store.NewMemory(), clk, state.Config{InstanceID: name, InlineBytes: cfg.InlineBytes}))
	}
	return h
}

func (h *history) close(t *rapid.T) {
	for _, n := range h.nodes {
		must(t, n.Close())
	}
}

// step does one thing on one replica. Refusals that depend on what has arrived
// are part of the history.
func (h *history) step(t *rapid.T) {
	i := rapid.IntRange(0, len(h.nodes)-1).Draw(t, "replica")
	n, ctx := h.nodes[i], context.Background()
	h.clocks[i].Advance(time.Duration(rapid.IntRange(0, 2).Draw(t, "ms")) * time.Millisecond)
	scope := rapid.SampledFrom([]state.Scope{{}, {Project: "p"}}).Draw(t, "scope")
	name := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "name")
	var err error
	switch rapid.IntRange(0, 11).Draw(t, "step") {
	case 0, 1:
		id := rapid.SampledFrom([]string{"", "", "id1", "id2"}).Draw(t, "id")
		_, err = n.Skills().Upsert(ctx, state.Skill{Slug: name, ID: id, Scope: scope, Body: rapid.StringN(0, 3, 9).Draw(t, "body")})
	case 2:
		err = n.SkillLibrary().DeleteIn(ctx, scope, name)
	case 3:
		_, err = n.Memory().Write(ctx, state.MemoryItem{ID: name, Scope: scope, Content: rapid.StringN(0, 3, 9).Draw(t, "content")})
	case 4:
		err = n.MemoryLibrary().DeleteIn(ctx, scope, name)
	case 5:
		_, err = n.Sessions().Create(ctx, state.Session{ID: name, Title: rapid.StringN(0, 3, 9).Draw(t, "title")})
	case 6:
		id := rapid.SampledFrom([]string{"", "", "t1", "t2"}).Draw(t, "turn")
		_, err = n.Sessions().AppendTurn(ctx, state.Turn{SessionID: name, ID: id, Content: rapid.StringN(0, 3, 9).Draw(t, "said")})
	case 7:
		err = n.Sessions().Delete(ctx, name)
	case 8:
		h.deliver(t, n)
	case 9:
		err = h.settle(t, n)
	case 10:
		_, err = n.SkillLibrary().RecordOutcomeIn(ctx, scope, name, rapid.Bool().Draw(t, "won"))
	case 11:
		uses := rapid.IntRange(0, 9).Draw(t, "uses")
		_, err = n.Skills().Upsert(ctx, state.Skill{Slug: name, Scope: scope, Uses: uses, Wins: uses / 2})
	}
	for _, expected := range []error{state.ErrNotFound, state.ErrConflict, state.ErrInvalid, state.ErrIncomplete} {
		if errors.Is(err, expected) {
			return
		}
	}
	must(t, err)
}

// deliver gives one replica some versions of another, in any order and with
// repetitions.
func (h *history) deliver(t *rapid.T, to *node) {
	from := rapid.SampledFrom(h.nodes).Draw(t, "from")
	if len(from.log) == 0 {
		return
	}
	to.receive(t, rapid.SliceOfN(rapid.SampledFrom(from.log), 1, 5).Draw(t, "versions")...)
	if h.apart && rapid.Bool().Draw(t, "content") {
		to.fetch(t, from)
	}
}

// TestReplicasThatExchangedAnswerAlike also compares each index, which grew in
// another order, with one made of the heads.
func TestReplicasThatExchangedAnswerAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistoryOf(t, state.Config{InlineBytes: rapid.IntRange(0, 1).Draw(t, "inline")})
		defer h.close(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			h.step(t)
		}
		all := map[merge.Hash]merge.Record{}
		for _, n := range h.nodes {
			for _, rec := range n.log {
				all[rec.Hash()] = rec
			}
		}
		for _, n := range h.nodes {
			versions := make([]merge.Record, 0, len(all))
			for _, rec := range all {
				versions = append(versions, rec)
			}
			slices.SortFunc(versions, func(a, b merge.Record) int { return merge.Compare(a.Version(), b.Version()) })
			n.receive(t, rapid.Permutation(versions).Draw(t, "order")...)
			same(t, n.derived(t), n.indexOf(t))
		}
		for _, n := range h.nodes {
			n.fetch(t, h.nodes...)
			must(t, n.store.Verify(t.Context()))
		}
		want, sums := h.nodes[0].answers(t), h.nodes[0].sums()
		for _, n := range h.nodes[1:] {
			same(t, want, n.answers(t))
			same(t, sums, n.sums())
		}
	})
}
