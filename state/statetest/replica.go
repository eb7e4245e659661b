package statetest

import (
	"time"

	"github.com/fleetsync/fleetd/state"
)

// skillLibraryCases hold the calls beyond the published interfaces.
func skillLibraryCases() []testCase {
	return []testCase{
		{"a skill is read in exactly one scope", func(t *run) {
			library := t.replica().SkillLibrary()
			want := t.upsert(state.Skill{Slug: "caf\u00e9", Scope: project("p")})
			got, err := library.GetIn(t.ctx(), project("p"), "cafe\u0301")
			t.must(err)
			t.equal(want, got)
			for _, scope := range []state.Scope{{}, project("q"), project("\xff")} {
				_, err := library.GetIn(t.ctx(), scope, "caf\u00e9")
				t.fails(state.ErrNotFound, err)
			}
			_, err = library.GetIn(t.ctx(), project("p"), "../x")
			t.fails(state.ErrNotFound, err)
		}},
		{"a skill is deleted in exactly one scope", func(t *run) {
			library := t.replica().SkillLibrary()
			t.upsert(state.Skill{Slug: "a"})
			t.upsert(state.Skill{Slug: "a", Scope: project("p")})
			t.fails(state.ErrNotFound, library.DeleteIn(t.ctx(), project("q"), "a"))
			t.fails(state.ErrNotFound, library.DeleteIn(t.ctx(), project("p"), ".."))
			t.must(library.DeleteIn(t.ctx(), project("p"), "a"))
			t.fails(state.ErrNotFound, library.DeleteIn(t.ctx(), project("p"), "a"))
			t.equal(state.Scope{}, t.skill("a").Scope)
			_, err := library.GetIn(t.ctx(), project("p"), "a")
			t.fails(state.ErrNotFound, err)
		}},
		{"nothing is in conflict and nothing invalid", func(t *run) {
			t.upsert(state.Skill{Slug: "a"})
			t.deleteSkill("a")
			t.write(state.MemoryItem{})
			conflicts, err := t.replica().Conflicts(t.ctx())
			t.must(err)
			t.equal([]state.Conflict{}, conflicts)
			hidden, err := t.replica().Invalid(t.ctx())
			t.must(err)
			t.equal([]state.Invalid{}, hidden)
		}},
	}
}

// memoryLibraryCases are skillLibraryCases for memory items.
func memoryLibraryCases() []testCase {
	return []testCase{
		{"an item is read by its id", func(t *run) {
			library := t.replica().MemoryLibrary()
			want := t.write(state.MemoryItem{Content: "x", Scope: project("p")})
			got, err := library.Get(t.ctx(), want.ID)
			t.must(err)
			t.equal(want, got)
			got, err = library.GetIn(t.ctx(), project("p"), want.ID)
			t.must(err)
			t.equal(want, got)
			_, err = library.GetIn(t.ctx(), state.Scope{}, want.ID)
			t.fails(state.ErrNotFound, err)
			_, err = library.Get(t.ctx(), "nope")
			t.fails(state.ErrNotFound, err)
			t.fails(state.ErrNotFound, library.DeleteIn(t.ctx(), state.Scope{}, want.ID))
			t.must(library.DeleteIn(t.ctx(), project("p"), want.ID))
			_, err = library.Get(t.ctx(), want.ID)
			t.fails(state.ErrNotFound, err)
			_, err = library.GetIn(t.ctx(), project("p"), want.ID)
			t.fails(state.ErrNotFound, err)
		}},
		{"items are listed of one scope and kind, newest first", func(t *run) {
			library := t.replica().MemoryLibrary()
			t.write(state.MemoryItem{Content: "1", Kind: "fact", CreatedAt: time.Unix(1, 0)})
			t.write(state.MemoryItem{Content: "2", Kind: "rule", CreatedAt: time.Unix(2, 0)})
			t.write(state.MemoryItem{Content: "3", Kind: "fact", CreatedAt: time.Unix(3, 0)})
			t.write(state.MemoryItem{Content: "4", Kind: "fact", CreatedAt: time.Unix(4, 0), Scope: project("p")})
			for _, c := range []struct {
				scope state.Scope
				kind  string
				want  []string
			}{
				{state.Scope{}, "", []string{"3", "2", "1"}},
				{state.Scope{}, "fact", []string{"3", "1"}},
				{state.Scope{}, "fac", []string{}},
				{project("p"), "", []string{"4"}},
				{project("q"), "", []string{}},
				{project("\xff"), "", []string{}},
			} {
				list, err := library.List(t.ctx(), c.scope, c.kind)
				t.must(err)
				t.equal(c.want, contents(list))
			}
		}},
	}
}
