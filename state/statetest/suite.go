// Package statetest is the conformance suite of state.Provider: what every
// implementation does alike, whatever store lies below. Each case runs on a
// fresh provider.
package statetest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/state"
)

// testCase is one row of the suite.
type testCase struct {
	name string
	run  func(t *run)
}

// RunSuite holds a provider to the whole behaviour. newProvider returns an
// empty one whose home scope is global and whose clock runs or stands still; it
// is closed by the suite. Cases run in parallel, so it is called concurrently.
// Cases about calls beyond the published interfaces run
// when it is a state.Replica.
func RunSuite(t *testing.T, newProvider func(testing.TB) state.Provider) {
	t.Helper()
	groups := []struct {
		name  string
		cases []testCase
	}{
		{"provider", providerCases()},
		{"sessions", sessionCases()},
		{"sessions, lists", sessionListCases()},
		{"sessions, turns", turnCases()},
		{"sessions, bad input", badSessionCases()},
		{"sessions, concurrency", racingSessionCases()},
		{"skills", skillCases()},
		{"skill updates", skillUpdateCases()},
		{"skill ids", skillIDCases()},
		{"skill slugs", slugCases()},
		{"skill search", searchCases()},
		{"memory", memoryCases()},
		{"memory ids", memoryIDCases()},
		{"recall", recallCases()},
		{"compare-and-set of skills", compareCases(skillPutter())},
		{"compare-and-set of memory", compareCases(memoryPutter())},
		{"tombstones", tombstoneCases()},
		{"envelope", envelopeCases()},
		{"bad input", badInputCases()},
		{"ownership", ownershipCases()},
		{"concurrency", concurrencyCases()},
		{"concurrency, one wins", racingCases()},
		{"skill library", skillLibraryCases()},
		{"skill outcomes", outcomeCases()},
		{"skill outcomes, of which skill", outcomeSkillCases()},
		{"skill outcomes in an upsert", creditCases()},
		{"skill evidence", evidenceCases()},
		{"memory library", memoryLibraryCases()},
		{"events", eventCases()},
		{"history", historyCases()},
		{"restore", restoreCases()},
		{"restore, nothing to do", restoreEdgeCases()},
		{"compare-and-set of deletes", comparedDeleteCases()},
		{"restored sessions", restoredSessionCases()},
		{"revert", revertCases()},
		{"content", contentCases()},
	}
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					provider := newProvider(t)
					t.Cleanup(func() {
						if err := provider.Close(); err != nil {
							t.Errorf("close: %v", err)
						}
					})
					c.run(newRun(t, provider))
				})
			}
		})
	}
}

// run is what a case works with: calls that must succeed, and checks.
type run struct {
	*testing.T
	provider state.Provider
	sessions state.SessionStore
	skills   state.SkillStore
	memory   state.MemoryStore
}

func newRun(t *testing.T, p state.Provider) *run {
	t.Helper()
	return &run{T: t, provider: p, sessions: p.Sessions(), skills: p.Skills(), memory: p.Memory()}
}

// replica returns the provider as a Replica, or skips the case.
func (t *run) replica() state.Replica {
	t.Helper()
	r, ok := t.provider.(state.Replica)
	if !ok {
		t.Skip("not a state.Replica")
	}
	return r
}

func (t *run) ctx() context.Context { return t.Context() }

func (t *run) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func (t *run) fails(want, got error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("error %v, want %v", got, want)
	}
}

func (t *run) equal(want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func (t *run) create(ses state.Session) state.Session {
	t.Helper()
	created, err := t.sessions.Create(t.ctx(), ses)
	t.must(err)
	return created
}

func (t *run) session(id string) state.Session {
	t.Helper()
	ses, err := t.sessions.Get(t.ctx(), id)
	t.must(err)
	return ses
}

func (t *run) listSessions() []state.Session {
	t.Helper()
	list, err := t.sessions.List(t.ctx())
	t.must(err)
	return list
}

func (t *run) append(turn state.Turn) state.Turn {
	t.Helper()
	appended, err := t.sessions.AppendTurn(t.ctx(), turn)
	t.must(err)
	return appended
}

func (t *run) turns(sessionID string) []state.Turn {
	t.Helper()
	turns, err := t.sessions.Turns(t.ctx(), sessionID)
	t.must(err)
	return turns
}

func (t *run) upsert(sk state.Skill) state.Skill {
	t.Helper()
	written, err := t.skills.Upsert(t.ctx(), sk)
	t.must(err)
	return written
}

func (t *run) skill(idOrSlug string) state.Skill {
	t.Helper()
	sk, err := t.skills.Get(t.ctx(), idOrSlug)
	t.must(err)
	return sk
}

func (t *run) noSkill(idOrSlug string) {
	t.Helper()
	_, err := t.skills.Get(t.ctx(), idOrSlug)
	t.fails(state.ErrNotFound, err)
}

func (t *run) listSkills(scope state.Scope) []state.Skill {
	t.Helper()
	list, err := t.skills.List(t.ctx(), scope)
	t.must(err)
	return list
}

func (t *run) search(query string, limit int) []state.Skill {
	t.Helper()
	found, err := t.skills.Search(t.ctx(), query, limit)
	t.must(err)
	return found
}

func (t *run) deleteSkill(idOrSlug string) {
	t.Helper()
	t.must(t.skills.Delete(t.ctx(), idOrSlug))
}

func (t *run) write(it state.MemoryItem) state.MemoryItem {
	t.Helper()
	written, err := t.memory.Write(t.ctx(), it)
	t.must(err)
	return written
}

func (t *run) recall(q state.RecallQuery) []state.MemoryItem {
	t.Helper()
	found, err := t.memory.Recall(t.ctx(), q)
	t.must(err)
	return found
}

func (t *run) deleteMemory(id string) {
	t.Helper()
	t.must(t.memory.Delete(t.ctx(), id))
}

// nothingWritten checks that the provider is still empty.
func (t *run) nothingWritten() {
	t.Helper()
	t.equal([]state.Skill{}, t.search("", 0))
	t.equal([]state.MemoryItem{}, t.recall(state.RecallQuery{}))
}

func slugs(list []state.Skill) []string {
	names := make([]string, len(list))
	for i, sk := range list {
		names[i] = sk.Slug
	}
	return names
}

func contents(list []state.MemoryItem) []string {
	texts := make([]string, len(list))
	for i, it := range list {
		texts[i] = it.Content
	}
	return texts
}

func project(name string) state.Scope { return state.Scope{Project: name} }
