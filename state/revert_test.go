package state_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
	"github.com/fleetsync/fleetd/store/storetest"
)

func itemKey(id string) merge.Key { return merge.Key{Kind: "memory", ID: merge.NewID(id)} }

// foreign is a version of an item, or of whatever the body says, by a writer
// who had seen these.
func foreign(t failer, key merge.Key, writer string, ms int64, body []byte, seen ...merge.Record) merge.Record {
	t.Helper()
	basis, syncVersion := merge.Basis{}, int64(0)
	for _, rec := range seen {
		basis = basis.Join(rec.Basis)
		syncVersion = max(syncVersion, rec.Envelope.SyncVersion)
	}
	e := merge.Envelope{
		SyncVersion: syncVersion + 1, UpdatedHLC: hlc.Timestamp{Wall: startTime().UnixMilli() + ms},
		LastWriterID: merge.InstanceID(writer), OriginInstanceID: merge.InstanceID(writer),
	}
	rec, err := merge.Seal(merge.Record{Key: key, Envelope: e, Body: body, Basis: basis.With(e.LastWriterID, e.UpdatedHLC)}, merge.Unsigned, nil)
	must(t, err)
	return rec
}

func itemBody(t failer, content string) []byte {
	t.Helper()
	body, err := state.EncodeBody(state.MemoryItem{Content: content, CreatedAt: startTime()})
	must(t, err)
	return body
}

func (n *node) content(t failer, id string) string {
	t.Helper()
	it, err := n.MemoryLibrary().Get(context.Background(), id)
	must(t, err)
	return it.Content
}

// TestRevertLeavesWhatThisReplicaCannotKnow: a replica that came late has the
// last version only.
func TestRevertLeavesWhatThisReplicaCannotKnow(t *testing.T) {
	first := foreign(t, itemKey("x"), "good", 1, itemBody(t, "good"))
	second := foreign(t, itemKey("x"), "fine", 2, itemBody(t, "fine"), first)
	own := foreign(t, itemKey("x"), "evil", 3, itemBody(t, "own"), second)
	bad := foreign(t, itemKey("x"), "evil", 4, itemBody(t, "bad"), own)
	twin := foreign(t, itemKey("x"), "aa", 2, itemBody(t, "same time"))
	alone := foreign(t, itemKey("x"), "evil", 3, itemBody(t, "own"))
	grown := foreign(t, itemKey("x"), "evil", 4, itemBody(t, "bad"), alone)
	for _, c := range []struct {
		name    string
		has     []merge.Record
		since   int64
		outcome state.ChangeOutcome
		reason  string
		content string
	}{
		{"nothing of what was before", []merge.Record{bad}, 0, state.ChangeLeft, "by fine", "bad"},
		{"not the last one before", []merge.Record{first, bad}, 0, state.ChangeLeft, "by fine", "bad"},
		{"of two that were written at once the smaller", []merge.Record{twin, bad}, 0, state.ChangeLeft, "by fine", "bad"},
		{"everything", []merge.Record{first, second, own, bad}, 0, state.ChangeRestored, "", "fine"},
		{"everything, and the writer's own from before", []merge.Record{first, second, own, bad}, 4, state.ChangeRestored, "", "own"},
		{"not all of the writer's own", []merge.Record{second, bad}, 0, state.ChangeRestored, "every version between", "fine"},
		{"only the last of a writer who was alone", []merge.Record{grown}, 0, state.ChangeLeft, "1 versions before", "bad"},
		{"all of a writer who was alone", []merge.Record{alone, grown}, 0, state.ChangeDeleted, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t, "a", clock.NewManual(startTime().Add(time.Second)))
			for _, rec := range c.has {
				n.receive(t, rec)
			}
			since := hlc.Timestamp{Wall: startTime().UnixMilli() + c.since}
			changes, err := n.Revert(t.Context(), "evil", since)
			must(t, err)
			same(t, 1, len(changes))
			same(t, []any{itemKey("x"), c.outcome}, []any{changes[0].Key, changes[0].Outcome})
			if !strings.Contains(changes[0].Reason, c.reason) || (c.reason == "") != (changes[0].Reason == "") {
				t.Errorf("reason %q", changes[0].Reason)
			}
			if c.content != "" {
				same(t, c.content, n.content(t, "x"))
			} else if _, err := n.MemoryLibrary().Get(t.Context(), "x"); !errors.Is(err, state.ErrNotFound) {
				t.Errorf("get of a deleted item: %v", err)
			}
		})
	}
}

// TestVersionsThatBreakTheRules are listed undecoded, never brought back, and
// written over.
func TestVersionsThatBreakTheRules(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime().Add(time.Second)))
	skill := merge.Key{Kind: "skill", ID: merge.NewID("deploy")}
	good := n.upsert(t, state.Skill{Slug: "deploy", ID: "chosen", Body: "good"})
	broken := foreign(t, skill, "evil", 5000, []byte("junk"), n.log[0])
	made := foreign(t, itemKey("x"), "evil", 5000, []byte("junk"))
	lost := foreign(t, itemKey("y"), "good", 1, itemBody(t, "good"))
	head := foreign(t, itemKey("y"), "evil", 5000, []byte("junk"))
	unknown := foreign(t, merge.Key{Kind: "skill.later", ID: "z"}, "evil", 5000, []byte("junk"))
	n.receive(t, broken, made, lost, head, unknown)

	for _, list := range []func() ([]state.Version, error){
		func() ([]state.Version, error) { return n.SkillLibrary().History(t.Context(), "deploy") },
		func() ([]state.Version, error) { return n.History(t.Context(), skill) },
	} {
		versions, err := list()
		must(t, err)
		same(t, 2, len(versions))
		same(t, []any{(*state.Skill)(nil), &good, broken.Hash()}, []any{versions[0].Skill, versions[1].Skill, versions[0].Hash})
	}
	versions, err := n.MemoryLibrary().History(t.Context(), "x")
	must(t, err)
	same(t, 1, len(versions))
	_, err = n.Restore(t.Context(), skill, broken.Hash())
	_, err2 := n.Keep(t.Context(), itemKey("y"))
	_, err3 := n.Restore(t.Context(), unknown.Key, unknown.Hash())
	for _, err := range []error{err, err2, err3} {
		if !errors.Is(err, state.ErrInvalid) {
			t.Errorf("got %v, want ErrInvalid", err)
		}
	}
	changes, err := n.Revert(t.Context(), "evil", hlc.Timestamp{})
	must(t, err)
	got := map[merge.Key]state.ChangeOutcome{}
	for _, c := range changes {
		got[c.Key] = c.Outcome
	}
	same(t, map[merge.Key]state.ChangeOutcome{
		skill: state.ChangeRestored, itemKey("x"): state.ChangeDeleted, itemKey("y"): state.ChangeRestored,
	}, got)
	restored, err := n.Skills().Get(t.Context(), "chosen")
	must(t, err)
	same(t, []any{"good", 2, int64(3), good.CreatedAt}, []any{restored.Body, restored.Version, restored.SyncVersion, restored.CreatedAt})
	same(t, "good", n.content(t, "y"))
	hidden, err := n.Invalid(t.Context())
	must(t, err)
	same(t, []state.Invalid{}, hidden)
}

// TestRevertLeavesWhatWasBroken: what would come back breaks the rules.
func TestRevertLeavesWhatWasBroken(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime().Add(time.Second)))
	broken := foreign(t, itemKey("x"), "other", 1, []byte("junk"))
	n.receive(t, broken)
	n.receive(t, foreign(t, itemKey("x"), "evil", 2, itemBody(t, "bad"), broken))
	n.receive(t, foreign(t, itemKey("y"), "evil", 1, itemBody(t, "lost")), foreign(t, itemKey("y"), "other", 2, []byte("junk")))
	skill := merge.Key{Kind: "skill", ID: merge.NewID("../x")}
	n.receive(t, foreign(t, skill, "evil", 1, []byte("junk")))
	changes, err := n.Revert(t.Context(), "evil", hlc.Timestamp{})
	must(t, err)
	same(t, 3, len(changes))
	for _, c := range changes[:2] {
		if c.Outcome != state.ChangeLeft || !strings.Contains(c.Reason, "breaks the rules") || c.Now != nil {
			t.Errorf("%s: %s, %q", c.Key, c.Outcome, c.Reason)
		}
	}
	same(t, "bad", n.content(t, "x"))
	same(t, []any{skill, state.ChangeDeleted, true}, []any{changes[2].Key, changes[2].Outcome, changes[2].Now.Deleted})
}

// TestAVersionThatCameBackIsListedOnce: what was covered is held again when what
// covers it is covered by a write that had not seen it.
func TestAVersionThatCameBackIsListedOnce(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime()))
	first := foreign(t, itemKey("x"), "b", 1, itemBody(t, "first"))
	second := foreign(t, itemKey("x"), "c", 2, itemBody(t, "second"), first)
	forgetful := foreign(t, itemKey("x"), "d", 3, itemBody(t, "third"))
	forgetful.Basis = forgetful.Basis.With("c", second.Envelope.UpdatedHLC)
	forgetful, err := merge.Seal(forgetful, merge.Unsigned, nil)
	must(t, err)
	for _, rec := range []merge.Record{first, second, forgetful, first} {
		n.receive(t, rec)
	}
	versions, err := n.History(t.Context(), itemKey("x"))
	must(t, err)
	listed := []string{}
	for _, v := range versions {
		listed = append(listed, v.Memory.Content+" "+string(v.Standing))
	}
	same(t, []string{"third head", "second covered", "first conflict"}, listed)
	same(t, true, versions[2].CoveredAt.IsZero())
}

func TestARestoredSkillCountsOnFromTheLargerVersion(t *testing.T) {
	a, b, clk := apart(t, func(a *node) { a.upsert(t, state.Skill{Slug: "deploy"}) })
	for range 3 {
		a.upsert(t, state.Skill{Slug: "deploy", Body: "of a"})
	}
	clk.Advance(time.Second)
	b.upsert(t, state.Skill{Slug: "deploy", Body: "of b"})
	exchange(t, a, b)
	conflicts, err := b.Conflicts(t.Context())
	must(t, err)
	same(t, []int{2, 4}, []int{conflicts[0].Winner.Skill.Version, conflicts[0].Loser.Skill.Version})
	restored, err := b.Restore(t.Context(), conflicts[0].Key, conflicts[0].Loser.Hash)
	must(t, err)
	same(t, []any{"of a", 5, int64(5)}, []any{restored.Skill.Body, restored.Skill.Version, restored.SyncVersion})
}

// TestSettlingReadsAnewAfterAMerge: what a merge brings while a write is made
// is read, and covered, by the next attempt.
func TestSettlingReadsAnewAfterAMerge(t *testing.T) {
	clk := clock.NewManual(startTime().Add(time.Second))
	var meanwhile func()
	n := openNode(t, store.NewMemory(), clk, state.Config{InstanceID: "a", Admit: func(*merge.Record) error {
		if f := meanwhile; f != nil {
			meanwhile = nil
			f()
		}
		return nil
	}})
	t.Cleanup(func() { must(t, n.Close()) })
	for i, writer := range []string{"b", "c"} {
		n.receive(t, foreign(t, itemKey("x"), writer, int64(i), itemBody(t, "of "+writer)))
	}
	meanwhile = func() { n.receive(t, foreign(t, itemKey("x"), "d", 9, itemBody(t, "of d"))) }
	kept, err := n.Keep(t.Context(), itemKey("x"))
	must(t, err)
	same(t, "of d", kept.Memory.Content)
	conflicts, err := n.Conflicts(t.Context())
	must(t, err)
	same(t, []state.Conflict{}, conflicts)

	// The writer is gone from the key by the time of the second attempt.
	bad := foreign(t, itemKey("x"), "evil", 2000, itemBody(t, "bad"), n.log[len(n.log)-1])
	n.receive(t, bad)
	meanwhile = func() { n.receive(t, foreign(t, itemKey("x"), "d", 2001, itemBody(t, "later"), bad)) }
	changes, err := n.Revert(t.Context(), "evil", hlc.Timestamp{})
	must(t, err)
	same(t, []state.Change{}, changes)
	same(t, "later", n.content(t, "x"))
}

func TestRevertReportsWhatItMayNotWrite(t *testing.T) {
	reason := errors.New("no grant")
	n := openNode(t, store.NewMemory(), clock.NewManual(startTime()), state.Config{InstanceID: "a", Admit: func(rec *merge.Record) error {
		if rec.Key == itemKey("denied") {
			return reason
		}
		return nil
	}})
	t.Cleanup(func() { must(t, n.Close()) })
	for _, id := range []string{"denied", "open"} {
		n.receive(t, foreign(t, itemKey(id), "evil", 0, itemBody(t, "bad")))
	}
	changes, err := n.Revert(t.Context(), "evil", hlc.Timestamp{})
	must(t, err)
	same(t, 2, len(changes))
	same(t, []any{state.ChangeLeft, state.ChangeDeleted}, []any{changes[0].Outcome, changes[1].Outcome})
	if changes[0].Now != nil || !strings.Contains(changes[0].Reason, "no grant") {
		t.Errorf("change %+v", changes[0])
	}
	same(t, "bad", n.content(t, "denied"))
	_, err = n.Keep(t.Context(), itemKey("denied"))
	if !errors.Is(err, state.ErrNotFound) {
		t.Errorf("keep: %v", err)
	}
	n.receive(t, foreign(t, itemKey("denied"), "good", 1, itemBody(t, "fine")))
	if _, err = n.Keep(t.Context(), itemKey("denied")); !errors.Is(err, state.ErrDenied) || !errors.Is(err, reason) {
		t.Errorf("keep: %v, want ErrDenied", err)
	}
}

func TestAFailureInTheMiddleOfARevertReturnsWhatWasDone(t *testing.T) {
	updates, failAt := 0, 0
	engine := &storetest.Faulty{Engine: store.NewMemory(), Plan: func(int) storetest.Fault {
		if updates++; updates == failAt {
			return storetest.FaultBefore
		}
		return storetest.FaultNone
	}}
	n := openNode(t, engine, clock.NewManual(startTime()), state.Config{InstanceID: "a"})
	t.Cleanup(func() { must(t, n.Close()) })
	for _, id := range []string{"x", "y", "z"} {
		n.receive(t, foreign(t, itemKey(id), "evil", 0, itemBody(t, "bad")))
	}
	failAt = updates + 2
	changes, err := n.Revert(t.Context(), "evil", hlc.Timestamp{})
	if !errors.Is(err, storetest.ErrInjected) || len(changes) != 1 || changes[0].Key != itemKey("x") {
		t.Fatalf("changes %+v, %v", changes, err)
	}
	same(t, "bad", n.content(t, "y"))
	changes, err = n.Revert(t.Context(), "evil", hlc.Timestamp{})
	must(t, err)
	same(t, 2, len(changes))
	same(t, itemKey("y"), changes[0].Key)
}
