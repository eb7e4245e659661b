package statetest

import (
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// Fleet is a few empty replicas, each with a writer of its own and the global
// home scope.
type Fleet struct {
	Replicas []state.Replica
	// Exchange gives every replica all that any of them has written.
	Exchange func()
}

// RunExchangeSuite holds replicas that exchange what they wrote to the whole
// behaviour. newFleet returns a fleet of so many replicas, whose clocks run or
// stand still; the suite closes them. Cases run in parallel, so it is called
// concurrently.
func RunExchangeSuite(t *testing.T, newFleet func(tb testing.TB, replicas int) Fleet) {
	t.Helper()
	for _, group := range []struct {
		name  string
		cases []fleetCase
	}{
		{"keeping the head", keepCases()},
		{"restoring in conflict", fleetRestoreCases()},
		{"restoring one record", sameRecordCases()},
		{"compare-and-set after a merge", mergedCases()},
		{"reverting", fleetRevertCases()},
		{"reverting in conflict", conflictRevertCases()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					fleet := newFleet(t, 3)
					f := &fleetRun{T: t, exchange: fleet.Exchange, ofWriter: map[string]*run{}}
					for _, r := range fleet.Replicas {
						f.nodes = append(f.nodes, newRun(t, r))
						t.Cleanup(func() {
							if err := r.Close(); err != nil {
								t.Errorf("close: %v", err)
							}
						})
					}
					c.run(f)
				})
			}
		})
	}
}

type fleetCase struct {
	name string
	run  func(t *fleetRun)
}

// fleetRun is what a case works with: three replicas.
type fleetRun struct {
	*testing.T
	nodes    []*run
	exchange func()
	// ofWriter is filled by apart.
	ofWriter map[string]*run
}

// apart writes the item x on the first replica, and then on all of them without
// an exchange in between: of each key one write wins and two are conflicts.
func (t *fleetRun) apart() {
	t.Helper()
	t.nodes[0].write(state.MemoryItem{ID: "x", Content: "old"})
	t.exchange()
	for i, n := range t.nodes {
		it := n.write(state.MemoryItem{ID: "x", Content: string(rune('a' + i))})
		t.ofWriter[it.LastWriterID] = n
	}
	t.exchange()
	for _, n := range t.nodes {
		n.equal(2, len(n.conflicts()))
	}
}

func (t *run) conflicts() []state.Conflict {
	t.Helper()
	conflicts, err := t.replica().Conflicts(t.ctx())
	t.must(err)
	return conflicts
}

// agree checks, after an exchange, that every replica shows exactly this one
// item and no conflict.
func (t *fleetRun) agree(want ...string) {
	t.Helper()
	t.exchange()
	for _, n := range t.nodes {
		if len(want) == 0 {
			n.nothingWritten()
		} else {
			n.equal(want, contents(n.recall(state.RecallQuery{})))
		}
		n.equal([]state.Conflict{}, n.conflicts())
	}
}

func keepCases() []fleetCase {
	x := memoryKey("x")
	return []fleetCase{
		{"keeping the head settles every conflict everywhere", func(t *fleetRun) {
			t.apart()
			winner := t.nodes[0].conflicts()[0].Winner
			kept, err := t.nodes[1].replica().Keep(t.Context(), x)
			t.nodes[1].must(err)
			t.nodes[1].equal([]any{winner.Memory.Content, winner.Memory.CreatedAt, int64(3), state.StandingHead},
				[]any{kept.Memory.Content, kept.Memory.CreatedAt, kept.SyncVersion, kept.Standing})
			t.agree(winner.Memory.Content)
			_, err = t.nodes[2].replica().Keep(t.Context(), x)
			t.nodes[2].fails(state.ErrNotFound, err)
			t.nodes[2].equal([]any{1, 0}, []any{len(t.nodes[2].recall(state.RecallQuery{})), len(t.nodes[2].conflicts())})
		}},
		{"a conflict that nobody had seen stays", func(t *fleetRun) {
			t.apart()
			_, err := t.nodes[0].replica().Keep(t.Context(), x)
			t.nodes[0].must(err)
			t.nodes[1].write(state.MemoryItem{ID: "x", Content: "meanwhile"})
			t.exchange()
			for _, n := range t.nodes {
				found := map[string]bool{}
				for _, c := range n.conflicts() {
					found[c.Winner.Memory.Content], found[c.Loser.Memory.Content] = true, true
				}
				if !found["meanwhile"] {
					t.Errorf("conflicts of %v", found)
				}
			}
		}},
	}
}

func fleetRestoreCases() []fleetCase {
	x := memoryKey("x")
	return []fleetCase{
		{"restoring a conflict settles all", func(t *fleetRun) {
			t.apart()
			loser := t.nodes[0].conflicts()[0].Loser
			_, err := t.nodes[2].replica().Restore(t.Context(), x, loser.Hash)
			t.nodes[2].must(err)
			t.agree(loser.Memory.Content)
			for _, n := range t.nodes {
				n.equal(loser.Hash, find(n.history(x), loser.Hash).Hash)
			}
		}},
		{"restoring what was before settles all", func(t *fleetRun) {
			t.apart()
			versions := t.nodes[0].history(x)
			_, err := t.nodes[0].replica().Restore(t.Context(), x, versions[len(versions)-1].Hash)
			t.nodes[0].must(err)
			t.agree("old")
		}},
		{"restoring the head settles as keeping it does", func(t *fleetRun) {
			t.apart()
			winner := t.nodes[0].conflicts()[0].Winner
			_, err := t.nodes[0].replica().Restore(t.Context(), x, winner.Hash)
			t.nodes[0].must(err)
			t.agree(winner.Memory.Content)
		}},
	}
}

// sameRecordCases hold that what is restored stays the same record.
func sameRecordCases() []fleetCase {
	return []fleetCase{
		{"a tombstone is kept and restored as any version", func(t *fleetRun) {
			t.nodes[0].write(state.MemoryItem{ID: "x", Content: "old"})
			t.exchange()
			t.nodes[0].deleteMemory("x")
			for range 2 {
				t.nodes[1].write(state.MemoryItem{ID: "x", Content: "edited"})
			}
			t.exchange()
			c := t.nodes[2].conflicts()[0]
			tombstone := c.Loser
			if c.Winner.Deleted {
				tombstone = c.Winner
				_, err := t.nodes[2].replica().Keep(t.Context(), memoryKey("x"))
				t.nodes[2].must(err)
			} else {
				_, err := t.nodes[2].replica().Restore(t.Context(), memoryKey("x"), tombstone.Hash)
				t.nodes[2].must(err)
			}
			t.agree()
		}},
		{"a skill keeps its identity and counts on", func(t *fleetRun) {
			first := t.nodes[0].upsert(state.Skill{Slug: "a", ID: "chosen", Body: "old"})
			t.exchange()
			for range 3 {
				t.nodes[0].upsert(state.Skill{Slug: "a", Body: "of 0"})
			}
			t.nodes[1].upsert(state.Skill{Slug: "a", Body: "of 1"})
			t.exchange()
			loser := t.nodes[2].conflicts()[0].Loser
			restored, err := t.nodes[2].replica().Restore(t.Context(), skillKey("a"), loser.Hash)
			t.nodes[2].must(err)
			t.exchange()
			for _, n := range t.nodes {
				n.equal(restored.Skill, n.history(skillKey("a"))[0].Skill)
				got := n.skill("chosen")
				n.equal([]any{loser.Skill.Body, first.CreatedAt, first.OriginInstanceID, int64(5)},
					[]any{got.Body, got.CreatedAt, got.OriginInstanceID, got.SyncVersion})
				n.equal([]state.Conflict{}, n.conflicts())
			}
		}},
	}
}

// find returns the version of a hash, zero when it is not there.
func find(versions []state.Version, hash merge.Hash) state.Version {
	for _, v := range versions {
		if v.Hash == hash {
			return v
		}
	}
	return state.Version{}
}

// mergedCases hold that a merge that brings another record of the same
// SyncVersion is noticed by who read before it.
func mergedCases() []fleetCase {
	stale := func(p putter, remove func(t *run, token state.Envelope) error) func(t *fleetRun) {
		return func(t *fleetRun) {
			p.must(t.nodes[0], state.Envelope{})
			t.exchange()
			var read [2]state.Envelope
			for i := range read {
				read[i] = p.must(t.nodes[i], state.Envelope{})
				t.nodes[i].equal(int64(2), read[i].SyncVersion)
			}
			t.exchange()
			won := t.nodes[0].conflicts()[0].Winner.Envelope
			for i, n := range t.nodes[:2] {
				if read[i] == won {
					continue
				}
				p.conflicts(n, read[i])
				n.fails(state.ErrConflict, remove(n, read[i]))
			}
			t.nodes[2].must(remove(t.nodes[2], won))
			t.exchange()
			for _, n := range t.nodes {
				n.nothingWritten()
			}
		}
	}
	return []fleetCase{
		{"a stale write and delete of a skill", stale(skillPutter(), func(t *run, token state.Envelope) error {
			return t.replica().SkillLibrary().DeleteIf(t.ctx(), state.Scope{}, "a", token)
		})},
		{"a stale write and delete of an item", stale(memoryPutter(), func(t *run, token state.Envelope) error {
			return t.replica().MemoryLibrary().DeleteIf(t.ctx(), state.Scope{}, "a", token)
		})},
	}
}

func fleetRevertCases() []fleetCase {
	return []fleetCase{
		{"what is reverted stays so everywhere", func(t *fleetRun) {
			good, bad := t.nodes[0], t.nodes[1]
			good.write(state.MemoryItem{ID: "edited", Content: "good"})
			good.write(state.MemoryItem{ID: "deleted", Content: "kept"})
			own := bad.write(state.MemoryItem{ID: "own", Content: "early"})
			t.exchange()
			since := bad.write(state.MemoryItem{ID: "made", Content: "bad"}).UpdatedHLC
			for _, id := range []string{"edited", "own"} {
				bad.write(state.MemoryItem{ID: id, Content: "bad"})
				bad.write(state.MemoryItem{ID: id, Content: "worse"})
			}
			bad.deleteMemory("deleted")
			last := bad.write(state.MemoryItem{ID: "later", Content: "bad"})
			t.exchange()
			good.write(state.MemoryItem{ID: "later", Content: "fine"})

			changes, err := good.replica().Revert(t.Context(), own.LastWriterID, since)
			good.must(err)
			good.equal(map[merge.Key]state.ChangeOutcome{
				memoryKey("made"): state.ChangeDeleted, memoryKey("edited"): state.ChangeRestored,
				memoryKey("own"): state.ChangeRestored, memoryKey("deleted"): state.ChangeRestored,
			}, outcomes(changes))
			t.exchange()
			for _, n := range t.nodes {
				got := contents(n.recall(state.RecallQuery{}))
				sorted(got)
				n.equal([]string{"early", "fine", "good", "kept"}, got)
				n.equal([]state.Conflict{}, n.conflicts())
				changes, err := n.replica().Revert(t.Context(), last.LastWriterID, since)
				n.must(err)
				n.equal([]state.Change{}, changes)
			}
		}},
	}
}

func conflictRevertCases() []fleetCase {
	return []fleetCase{
		{"a conflict of the writer is settled, others' stay", func(t *fleetRun) {
			t.apart()
			conflicts := t.nodes[0].conflicts()
			good := t.ofWriter[conflicts[0].Winner.LastWriterID]
			for i, lost := range conflicts {
				changes, err := good.replica().Revert(t.Context(), lost.Loser.LastWriterID, lost.Loser.UpdatedHLC)
				good.must(err)
				good.equal(1, len(changes))
				good.equal([]any{state.ChangeSettled, lost.Loser.Hash, conflicts[0].Winner.Memory.Content},
					[]any{changes[0].Outcome, changes[0].Was.Hash, changes[0].Now.Memory.Content})
				t.exchange()
				for _, n := range t.nodes {
					n.equal(len(conflicts)-1-i, len(n.conflicts()))
				}
			}
			t.agree(conflicts[0].Winner.Memory.Content)
		}},
		{"of a head in conflict the newest other write comes back", func(t *fleetRun) {
			t.apart()
			conflicts := t.nodes[0].conflicts()
			winner, second := conflicts[0].Winner, conflicts[1].Loser
			good := t.ofWriter[second.LastWriterID]
			listed, err := good.replica().WrittenBy(t.Context(), winner.LastWriterID, winner.UpdatedHLC)
			good.must(err)
			good.equal(&second, listed[0].Now)
			_, err = good.replica().Revert(t.Context(), winner.LastWriterID, winner.UpdatedHLC)
			good.must(err)
			t.exchange()
			for _, n := range t.nodes {
				n.equal([]string{second.Memory.Content}, contents(n.recall(state.RecallQuery{})))
				left := n.conflicts()
				n.equal(1, len(left))
				n.equal(conflicts[0].Loser.Hash, left[0].Loser.Hash)
			}
		}},
	}
}
