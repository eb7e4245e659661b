package state_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
)

// settle restores, keeps or reverts something that one replica has.
func (h *history) settle(t *rapid.T, n *node) error {
	if len(n.log) == 0 {
		return nil
	}
	rec := rapid.SampledFrom(n.log).Draw(t, "version")
	var err error
	switch rapid.SampledFrom([]string{"restore", "keep", "revert"}).Draw(t, "settle") {
	case "restore":
		_, err = n.Restore(context.Background(), rec.Key, rec.Hash())
	case "keep":
		_, err = n.Keep(context.Background(), rec.Key)
	case "revert":
		_, err = n.Revert(context.Background(), rec.Envelope.LastWriterID.String(), rec.Envelope.UpdatedHLC)
	}
	return err
}

// versionsOf are all versions that a node ever held, by key.
func (n *node) versionsOf() map[merge.Key][]merge.Record {
	versions := map[merge.Key][]merge.Record{}
	for _, rec := range n.log {
		known := slices.ContainsFunc(versions[rec.Key], func(r merge.Record) bool { return r.Hash() == rec.Hash() })
		if !known {
			versions[rec.Key] = append(versions[rec.Key], rec)
		}
	}
	for _, known := range versions {
		slices.SortFunc(known, func(a, b merge.Record) int { return merge.Compare(b.Version(), a.Version()) })
	}
	return versions
}

// resolved are the hashes of the held versions among these, the head last.
func resolved(known []merge.Record) []merge.Hash {
	var versions []merge.Version
	for _, rec := range known {
		versions = append(versions, rec.Version())
	}
	var held []merge.Hash
	for _, v := range merge.Resolve(versions) {
		held = append(held, v.Hash)
	}
	return held
}

// TestHistoryListsWhatWasHeld holds, after any steps and on each replica, that
// a history is every version that was ever held, that the head and the
// conflicts in it are what merge holds of them, and that the conflicts listed
// are those.
func TestHistoryListsWhatWasHeld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		defer h.close(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			h.step(t)
		}
		for _, n := range h.nodes {
			var want, got []merge.Hash
			for key, known := range n.versionsOf() {
				versions, err := n.History(context.Background(), key)
				must(t, err)
				held := resolved(known)
				var all, listed, standing []merge.Hash
				for _, rec := range known {
					all = append(all, rec.Hash())
				}
				for i, v := range versions {
					listed = append(listed, v.Hash)
					if v.Standing != state.StandingCovered {
						standing = append([]merge.Hash{v.Hash}, standing...)
					}
					if (v.Standing == state.StandingHead) != (i == 0) || (v.Standing == state.StandingCovered) == v.CoveredAt.IsZero() {
						t.Errorf("%s: version %d is %s, covered at %s", key, i, v.Standing, v.CoveredAt)
					}
				}
				same(t, all, listed)
				same(t, held, standing)
				want = append(want, held[:len(held)-1]...)
			}
			conflicts, err := n.Conflicts(context.Background())
			must(t, err)
			for _, c := range conflicts {
				got = append(got, c.Loser.Hash)
			}
			sortHashes(want)
			sortHashes(got)
			same(t, want, got)
		}
	})
}

func sortHashes(hashes []merge.Hash) {
	slices.SortFunc(hashes, func(a, b merge.Hash) int { return slices.Compare(a[:], b[:]) })
}

// TestSettledConflictsAreGoneEverywhere settles every conflict of one replica
// that knows what all know.
func TestSettledConflictsAreGoneEverywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		defer h.close(t)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			h.step(t)
		}
		exchange(t, h.nodes...)
		n := rapid.SampledFrom(h.nodes).Draw(t, "settler")
		conflicts, err := n.Conflicts(context.Background())
		must(t, err)
		settled := map[merge.Key]state.Version{}
		for _, c := range conflicts {
			if _, done := settled[c.Key]; done {
				continue
			}
			if rapid.Bool().Draw(t, "keep") {
				settled[c.Key], err = n.Keep(context.Background(), c.Key)
				must(t, err)
				same(t, sayings(c.Winner), sayings(settled[c.Key]))
				continue
			}
			versions, err := n.History(context.Background(), c.Key)
			must(t, err)
			v := rapid.SampledFrom(versions).Draw(t, "version")
			settled[c.Key], err = n.Restore(context.Background(), c.Key, v.Hash)
			must(t, err)
			same(t, sayings(v), sayings(settled[c.Key]))
		}
		exchange(t, h.nodes...)
		for _, n := range h.nodes {
			conflicts, err := n.Conflicts(context.Background())
			must(t, err)
			same(t, []state.Conflict{}, conflicts)
			for key, v := range settled {
				versions, err := n.History(context.Background(), key)
				must(t, err)
				same(t, v, versions[0])
			}
			same(t, n.derived(t), n.indexOf(t))
		}
	})
}

// sayings is what a version says; nil when it is a tombstone.
func sayings(v state.Version) []string {
	switch {
	case v.Deleted:
		return nil
	case v.Skill != nil:
		return append([]string{v.Skill.Name, v.Skill.Body, v.Skill.Check}, v.Skill.Tags...)
	case v.Session != nil:
		return []string{v.Session.Title, v.Session.Model}
	case v.Turn != nil:
		return []string{v.Turn.Role, v.Turn.Content}
	case v.Outcome != nil:
		return []string{fmt.Sprint(v.Outcome.Uses, " ", v.Outcome.Wins)}
	}
	return []string{v.Memory.Kind, v.Memory.Content, v.Memory.Source}
}

func sayingsOf(t failer, rec merge.Record) []string {
	t.Helper()
	v := state.Version{Envelope: state.Envelope{Deleted: rec.Envelope.Deleted}}
	value, err := state.DecodeRecord(&rec)
	must(t, err)
	switch value := value.(type) {
	case state.Skill:
		v.Skill = &value
	case state.MemoryItem:
		v.Memory = &value
	case state.Session:
		v.Session = &value
	case state.Turn:
		v.Turn = &value
	case state.Outcome:
		v.Outcome = &value
	}
	return sayings(v)
}

// reverted is the naive model of a revert in one key: what its head says
// afterwards, and ok is false when the key is left alone because something is
// missing here.
func reverted(t failer, known []merge.Record, writer string, since hlc.Timestamp) (says []string, ok bool) {
	t.Helper()
	isUndone := func(r merge.Record) bool {
		return r.Envelope.LastWriterID == merge.InstanceID(writer) && !r.Envelope.UpdatedHLC.Before(since)
	}
	if head := known[0]; !isUndone(head) {
		return sayingsOf(t, head), true
	}
	created := false
	for _, rec := range known { // newest first
		if !isUndone(rec) {
			for _, undone := range known {
				for _, seen := range undone.Basis {
					if isUndone(undone) && seen.Writer != merge.InstanceID(writer) && seen.Stamp.After(rec.Envelope.UpdatedHLC) {
						return nil, false
					}
				}
			}
			return sayingsOf(t, rec), true
		}
		created = rec.Envelope.SyncVersion == 1 && len(rec.Basis) == 1
	}
	return nil, created
}

// TestRevertEqualsANaiveModel reverts on one replica that knows what all know,
// and compares every replica with the model, which looks at all that the first
// has ever held.
func TestRevertEqualsANaiveModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		defer h.close(t)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			h.step(t)
		}
		exchange(t, h.nodes...)
		n := rapid.SampledFrom(h.nodes).Draw(t, "reverter")
		if len(n.log) == 0 {
			return
		}
		first := rapid.SampledFrom(n.log).Draw(t, "since")
		writer, since := first.Envelope.LastWriterID.String(), first.Envelope.UpdatedHLC
		known := n.versionsOf()
		listed, err := n.WrittenBy(context.Background(), writer, since)
		must(t, err)
		changes, err := n.Revert(context.Background(), writer, since)
		must(t, err)
		checkPlan(t, listed, changes)
		writes := len(n.log)
		again, err := n.Revert(context.Background(), writer, since)
		must(t, err)
		for _, c := range again {
			if c.Now != nil || c.Outcome != state.ChangeUnchanged && c.Outcome != state.ChangeLeft {
				t.Errorf("the second time %s is %s", c.Key, c.Outcome)
			}
		}
		same(t, writes, len(n.log))

		exchange(t, h.nodes...)
		for _, other := range h.nodes {
			same(t, n.answers(t), other.answers(t))
			for key, versions := range known {
				want, ok := reverted(t, versions, writer, since)
				if !ok {
					want = sayingsOf(t, versions[0])
				}
				now, err := other.History(context.Background(), key)
				must(t, err)
				same(t, want, sayings(now[0]))
			}
			conflicts, err := other.Conflicts(context.Background())
			must(t, err)
			for _, c := range conflicts {
				if lost := c.Loser; lost.LastWriterID == writer && !lost.UpdatedHLC.Before(since) {
					t.Errorf("%s of %s is still in conflict", lost.UpdatedHLC, c.Key)
				}
			}
		}
	})
}

// checkPlan holds that WrittenBy says what Revert does.
func checkPlan(t failer, listed, done []state.Change) {
	t.Helper()
	same(t, len(listed), len(done))
	for i, c := range listed {
		same(t, []any{c.Key, c.Was, c.Outcome, c.Reason}, []any{done[i].Key, done[i].Was, done[i].Outcome, done[i].Reason})
		wrote := c.Outcome != state.ChangeUnchanged && c.Outcome != state.ChangeLeft
		if (done[i].Now != nil) != wrote || (c.Now != nil) != (wrote && c.Outcome != state.ChangeDeleted) {
			t.Errorf("%s is %s: planned %v, written %v", c.Key, c.Outcome, c.Now, done[i].Now)
		}
		if c.Now != nil {
			same(t, sayings(*c.Now), sayings(*done[i].Now))
		}
	}
}

// exchangeHeld is exchange as stores do it: what is covered is not sent.
func exchangeHeld(t failer, nodes ...*node) {
	t.Helper()
	for _, from := range nodes {
		var held []merge.Record
		must(t, from.store.View(func(r *store.Reader) error {
			for _, s := range from.store.Sections() {
				err := r.Feed(s.Section, 0, func(e store.FeedEntry) bool {
					rec, err := r.Load(e.Key, e.Held)
					must(t, err)
					held = append(held, rec)
					return true
				})
				must(t, err)
			}
			return nil
		}))
		for _, to := range nodes {
			if to != from {
				to.receive(t, held...)
			}
		}
	}
}

// TestKeepOfMoreConflictsThanABasisNames: one write covers 64 writers, the
// oldest conflicts stay, and a second write after an exchange settles them.
func TestKeepOfMoreConflictsThanABasisNames(t *testing.T) {
	clk := clock.NewManual(startTime().Add(time.Minute))
	a, b := newNode(t, "a", clk), newNode(t, "b", clk)
	key := merge.Key{Kind: "memory", ID: "x"}
	const writers = merge.BasisMax + 10
	for i := range writers {
		body, err := state.EncodeBody(state.MemoryItem{Content: "x", CreatedAt: startTime()})
		must(t, err)
		stamp := hlc.Timestamp{Wall: startTime().UnixMilli() + int64(i)}
		a.receive(t, version(t, key, "w"+string(rune('0'+i)), merge.Envelope{UpdatedHLC: stamp}, body))
	}
	exchangeHeld(t, a, b)
	_, err := a.Keep(t.Context(), key)
	must(t, err)
	exchangeHeld(t, a, b)
	for _, n := range []*node{a, b} {
		left, err := n.Conflicts(t.Context())
		must(t, err)
		same(t, writers-(merge.BasisMax-1), len(left))
		same(t, startTime().UnixMilli(), left[0].Loser.UpdatedHLC.Wall)
	}
	_, err = b.Keep(t.Context(), key)
	must(t, err)
	exchangeHeld(t, a, b)
	for _, n := range []*node{a, b} {
		left, err := n.Conflicts(t.Context())
		must(t, err)
		same(t, 0, len(left))
		_, err = n.Keep(t.Context(), key)
		if !errors.Is(err, state.ErrNotFound) {
			t.Errorf("keep without a conflict: %v", err)
		}
	}
}
