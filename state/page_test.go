package state_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
)

// pagesOf writes items and skills of equal times and names in several scopes.
func pagesOf(t *testing.T) *node {
	t.Helper()
	clk := clock.NewManual(startTime())
	n := newNode(t, "a", clk)
	for i, scope := range []state.Scope{{}, {Project: "p"}, {Project: "p", Workspace: "w"}, {Instance: "a"}} {
		for j := range 6 {
			if j%2 == 0 {
				clk.Advance(time.Second)
			}
			n.write(t, state.MemoryItem{ID: fmt.Sprintf("m%d%d", j, i), Kind: fmt.Sprint("kind", j%2), Content: fmt.Sprint("word", j%3), Scope: scope})
			n.upsert(t, state.Skill{Slug: fmt.Sprintf("s%d", j), Body: fmt.Sprint("word", j%3), Scope: scope})
		}
	}
	return n
}

// TestPagesOfMemoryAreTheListInParts for every size of page and way to select.
func TestPagesOfMemoryAreTheListInParts(t *testing.T) {
	n := pagesOf(t)
	all, err := n.Memory().Recall(t.Context(), state.RecallQuery{})
	must(t, err)
	project, global := state.Scope{Project: "p"}, state.Scope{}
	for name, tt := range map[string]struct {
		page state.MemoryPage
		want func(it state.MemoryItem) bool
	}{
		"all":      {state.MemoryPage{}, func(state.MemoryItem) bool { return true }},
		"a query":  {state.MemoryPage{Query: "word1"}, func(it state.MemoryItem) bool { return it.Content == "word1" }},
		"a kind":   {state.MemoryPage{Kind: "kind1"}, func(it state.MemoryItem) bool { return it.Kind == "kind1" }},
		"a scope":  {state.MemoryPage{Scope: &project}, func(it state.MemoryItem) bool { return it.Scope == project }},
		"no scope": {state.MemoryPage{Scope: &global}, func(it state.MemoryItem) bool { return it.Scope == global }},
		"all three": {state.MemoryPage{Query: "word1", Kind: "kind1", Scope: &project}, func(it state.MemoryItem) bool {
			return it.Content == "word1" && it.Kind == "kind1" && it.Scope == project
		}},
		"nothing": {state.MemoryPage{Query: "none"}, func(state.MemoryItem) bool { return false }},
	} {
		want := slices.DeleteFunc(slices.Clone(all), func(it state.MemoryItem) bool { return !tt.want(it) })
		for limit := range len(want) + 2 {
			got, q := []state.MemoryItem{}, tt.page
			q.Limit = limit
			for {
				page, more, err := n.MemoryLibrary().Page(t.Context(), q)
				must(t, err)
				got = append(got, page...)
				if !more {
					break
				}
				if len(page) != limit {
					t.Fatalf("%s: a page of %d, limit %d", name, len(page), limit)
				}
				place := page[len(page)-1].Place()
				q.After = &place
			}
			same(t, want, got)
		}
	}
}

// TestPagesOfSkillsAreTheListInParts by slug and then scope.
func TestPagesOfSkillsAreTheListInParts(t *testing.T) {
	n := pagesOf(t)
	all, err := n.Skills().Search(t.Context(), "", 0)
	must(t, err)
	slices.SortFunc(all, func(a, b state.Skill) int {
		return cmp.Or(cmp.Compare(a.Slug, b.Slug), cmp.Compare(a.Scope.Instance, b.Scope.Instance),
			cmp.Compare(a.Scope.Project, b.Scope.Project), cmp.Compare(a.Scope.Workspace, b.Scope.Workspace))
	})
	project, global := state.Scope{Project: "p"}, state.Scope{}
	for _, tt := range []struct {
		page state.SkillPage
		want func(sk state.Skill) bool
	}{
		{state.SkillPage{}, func(state.Skill) bool { return true }},
		{state.SkillPage{Query: "word1"}, func(sk state.Skill) bool { return sk.Body == "word1" }},
		{state.SkillPage{Scope: &project}, func(sk state.Skill) bool { return sk.Scope == project }},
		{state.SkillPage{Scope: &global, Query: "word2"}, func(sk state.Skill) bool { return sk.Scope == global && sk.Body == "word2" }},
	} {
		want := slices.DeleteFunc(slices.Clone(all), func(sk state.Skill) bool { return !tt.want(sk) })
		for limit := range len(want) + 2 {
			got, q := []state.Skill{}, tt.page
			q.Limit = limit
			for {
				page, more, err := n.SkillLibrary().Page(t.Context(), q)
				must(t, err)
				got = append(got, page...)
				if !more {
					break
				}
				place := page[len(page)-1].Place()
				q.After = &place
			}
			same(t, want, got)
		}
	}
}

// TestAPageOfAScopeThatCannotBeIsEmpty as all that reads is.
func TestAPageOfAScopeThatCannotBeIsEmpty(t *testing.T) {
	n := pagesOf(t)
	scope := state.Scope{Project: "a\x00b"}
	items, moreItems, err := n.MemoryLibrary().Page(t.Context(), state.MemoryPage{Scope: &scope, Limit: 1})
	must(t, err)
	skills, moreSkills, err := n.SkillLibrary().Page(t.Context(), state.SkillPage{Scope: &scope, Limit: 1})
	must(t, err)
	same(t, []any{[]state.MemoryItem{}, false, []state.Skill{}, false}, []any{items, moreItems, skills, moreSkills})
}

// TestContestedIsWhatConflictsLists of the keys that are asked for.
func TestContestedIsWhatConflictsLists(t *testing.T) {
	a, b, clk := apart(t, func(a *node) {
		a.upsert(t, state.Skill{Slug: "deploy", Body: "old"})
		a.write(t, state.MemoryItem{ID: "calm", Content: "x"})
	})
	a.upsert(t, state.Skill{Slug: "deploy", Body: "of a"})
	clk.Advance(time.Second)
	b.upsert(t, state.Skill{Slug: "deploy", Body: "of b"})
	exchange(t, a, b)
	deploy := merge.Key{Kind: "skill", ID: merge.NewID("deploy")}
	got, err := a.Contested(t.Context(), deploy,
		merge.Key{Kind: "memory", ID: merge.NewID("calm")}, merge.Key{Kind: "memory", Scope: state.Scope{Project: "nowhere"}, ID: merge.NewID("none")})
	must(t, err)
	same(t, map[merge.Key]bool{deploy: true}, got)
	same(t, state.Scope{}, a.Home())
}
