package statetest

import (
	"fmt"
	"testing"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/state"
)

// RunReopenSuite holds a durable provider to what survives closing and
// opening. newBackend returns an empty backend as the function that opens it:
// each call follows the Close of the provider before.
func RunReopenSuite(t *testing.T, newBackend func(testing.TB) (open func() state.Provider)) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(t *run, reopen func())
	}{
		{"every answer stays the same", answersSurvive},
		{"stamps go on rising and versions counting", countsSurvive},
		{"outcomes go on counting", outcomesSurvive},
		{"what was written by each opening is there", openingsAddUp},
	} {
		t.Run(c.name, func(t *testing.T) {
			open := newBackend(t)
			r := newRun(t, open())
			t.Cleanup(func() { r.must(r.provider.Close()) })
			c.run(r, func() {
				r.must(r.provider.Close())
				*r = *newRun(t, open())
			})
		})
	}
}

func answersSurvive(t *run, reopen func()) {
	for i := range 40 {
		scope := project(fmt.Sprint("p", i%3))
		t.upsert(state.Skill{Slug: fmt.Sprint("s", i%25), Body: fmt.Sprint("body ", i), Tags: []string{"t"}, Scope: scope})
		t.write(state.MemoryItem{ID: fmt.Sprint("m", i), Content: fmt.Sprint("item ", i), Scope: scope})
	}
	for i := range 30 {
		if i < 4 {
			t.create(state.Session{ID: fmt.Sprint("c", i), Title: fmt.Sprint("talk ", i)})
		}
		t.append(state.Turn{SessionID: fmt.Sprint("c", i%4%(i+1)), Content: fmt.Sprint("turn ", i)})
	}
	t.must(t.sessions.Delete(t.ctx(), "c3"))
	chosen := t.upsert(state.Skill{Slug: "chosen", ID: "my-id"})
	t.deleteMemory("m3")
	t.deleteSkill(state.SkillID(project("p1"), "s1"))
	answers := func() []any {
		return []any{
			t.listSessions(), t.turns("c0"), t.turns("c1"), t.turns("c2"),
			t.search("", 0), t.search("body 2", 3), t.listSkills(project("p1")),
			t.recall(state.RecallQuery{}), t.recall(state.RecallQuery{Query: "item", Scope: project("p2"), Limit: 4}),
		}
	}
	want := answers()
	for range 2 {
		reopen()
		t.equal(want, answers())
		t.equal(chosen, t.skill("my-id"))
		t.fails(state.ErrNotFound, t.memory.Delete(t.ctx(), "m3"))
		_, err := t.sessions.Create(t.ctx(), state.Session{ID: "c3"})
		t.fails(state.ErrConflict, err)
	}
}

func countsSurvive(t *run, reopen func()) {
	last := hlc.Timestamp{}
	for i := range 4 {
		sk := t.upsert(state.Skill{Slug: "a"})
		if sk.Version != 2*i+1 || sk.SyncVersion != int64(2*i+1) || !sk.UpdatedHLC.After(last) {
			t.Errorf("opening %d: version %d, sync version %d, %s after %s", i, sk.Version, sk.SyncVersion, sk.UpdatedHLC, last)
		}
		last = sk.UpdatedHLC
		reopen()
		t.deleteSkill("a")
		reopen()
	}
	_, err := t.skills.Upsert(t.ctx(), state.Skill{Slug: "a", Envelope: state.Envelope{SyncVersion: 7}})
	t.fails(state.ErrConflict, err)
}

func openingsAddUp(t *run, reopen func()) {
	for i := range 5 {
		together(func(n int) {
			if _, err := t.memory.Write(t.ctx(), state.MemoryItem{ID: fmt.Sprint(i, "-", n)}); err != nil {
				t.Errorf("write: %v", err)
			}
		})
		reopen()
		t.equal((i+1)*writers, len(t.recall(state.RecallQuery{})))
	}
}
