package statetest

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/state"
)

func sorted(s []string) { slices.Sort(s) }

func memoryCases() []testCase {
	return []testCase{
		{"an unknown item is not deleted", func(t *run) {
			t.fails(state.ErrNotFound, t.memory.Delete(t.ctx(), "nope"))
			t.fails(state.ErrNotFound, t.memory.Delete(t.ctx(), ""))
		}},
		{"a write mints a UUID of version 7", func(t *run) {
			id := t.write(state.MemoryItem{Content: "x"}).ID
			if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
				t.Errorf("id %q", id)
			}
		}},
		{"what is recalled is what was written", func(t *run) {
			want := t.write(state.MemoryItem{Kind: "fact", Content: "Go 1.26\r\n\x00", Scope: project("web"), Source: "session 7"})
			t.equal([]state.MemoryItem{want}, t.recall(state.RecallQuery{}))
			t.equal([]state.MemoryItem{want}, t.recall(state.RecallQuery{Query: "go", Scope: project("web"), Limit: 5}))
		}},
		{"an item may be empty", func(t *run) {
			want := t.write(state.MemoryItem{})
			t.equal([]state.MemoryItem{want}, t.recall(state.RecallQuery{}))
		}},
		{"an id and times that the caller sets are kept", func(t *run) {
			at := time.Unix(1_000_000_000, 1)
			it := t.write(state.MemoryItem{ID: "cafe\u0301/1", CreatedAt: at})
			t.equal("caf\u00e9/1", it.ID)
			t.equal(at.UTC(), it.CreatedAt)
		}},
		{"equal content makes two items", func(t *run) {
			t.write(state.MemoryItem{Content: "same"})
			t.write(state.MemoryItem{Content: "same"})
			t.equal([]string{"same", "same"}, contents(t.recall(state.RecallQuery{})))
		}},
	}
}

func memoryIDCases() []testCase {
	return []testCase{
		{"an item of a known id is an update that keeps creation and origin", func(t *run) {
			first := t.write(state.MemoryItem{ID: "x", Kind: "fact", Content: "one"})
			second := t.write(state.MemoryItem{
				ID: "x", Content: "two", CreatedAt: time.Unix(7, 0), Envelope: state.Envelope{OriginInstanceID: "other"},
			})
			want := first
			want.Kind, want.Content, want.SyncVersion, want.UpdatedHLC = "", "two", 2, second.UpdatedHLC
			t.equal(want, second)
			t.equal([]state.MemoryItem{want}, t.recall(state.RecallQuery{}))
		}},
		{"a known id with another scope is invalid", func(t *run) {
			first := t.write(state.MemoryItem{ID: "x", Scope: project("p")})
			for _, scope := range []state.Scope{{}, project("q")} {
				_, err := t.memory.Write(t.ctx(), state.MemoryItem{ID: "x", Scope: scope})
				t.fails(state.ErrInvalid, err)
			}
			t.equal([]state.MemoryItem{first}, t.recall(state.RecallQuery{}))
			t.deleteMemory("x")
			_, err := t.memory.Write(t.ctx(), state.MemoryItem{ID: "x"})
			t.fails(state.ErrInvalid, err)
		}},
		{"a large source is refused", func(t *run) {
			_, err := t.memory.Write(t.ctx(), state.MemoryItem{Source: strings.Repeat("x", 64<<10)})
			t.fails(state.ErrTooLarge, err)
			t.nothingWritten()
		}},
		{"a deleted item is gone", func(t *run) {
			t.write(state.MemoryItem{ID: "x", Content: "one"})
			t.write(state.MemoryItem{ID: "y", Content: "two"})
			t.deleteMemory("x")
			t.equal([]string{"two"}, contents(t.recall(state.RecallQuery{})))
			t.fails(state.ErrNotFound, t.memory.Delete(t.ctx(), "x"))
		}},
	}
}

func recallCases() []testCase {
	write := func(t *run) {
		day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
		t.write(state.MemoryItem{ID: "b", Content: "tea at noon", Kind: "preference", CreatedAt: day(2)})
		t.write(state.MemoryItem{ID: "a", Content: "tea at four", Source: "diary", CreatedAt: day(2), Scope: project("p")})
		t.write(state.MemoryItem{ID: "c", Content: "喝茶", Kind: "fact", CreatedAt: day(1)})
		t.write(state.MemoryItem{ID: "d", Content: "coffee", CreatedAt: day(3), Scope: state.Scope{Project: "p", Workspace: "w"}})
		t.write(state.MemoryItem{ID: "e", Content: "old", CreatedAt: time.Unix(-5, 0)})
	}
	find := func(q state.RecallQuery, want ...string) func(t *run) {
		return func(t *run) {
			write(t)
			ids := []string{}
			for _, it := range t.recall(q) {
				ids = append(ids, it.ID)
			}
			if want == nil {
				want = []string{}
			}
			t.equal(want, ids)
		}
	}
	return []testCase{
		{"everything, newest first, ties by id descending", find(state.RecallQuery{}, "d", "b", "a", "c", "e")},
		{"a word of the content", find(state.RecallQuery{Query: "TEA"}, "b", "a")},
		{"a word of the kind", find(state.RecallQuery{Query: "pref"}, "b")},
		{"a word of the source", find(state.RecallQuery{Query: "diary"}, "a")},
		{"a word with punctuation", find(state.RecallQuery{Query: `"tea", noon?`}, "b")},
		{"every word", find(state.RecallQuery{Query: "tea four"}, "a")},
		{"CJK anywhere", find(state.RecallQuery{Query: "茶"}, "c")},
		{"not the inside of a word", find(state.RecallQuery{Query: "offee"})},
		{"a set scope is exact", find(state.RecallQuery{Scope: project("p")}, "a")},
		{"an unknown scope holds nothing", find(state.RecallQuery{Scope: project("q")})},
		{"a scope that cannot be holds nothing", find(state.RecallQuery{Scope: project("\n")})},
		{"a limit keeps the newest", find(state.RecallQuery{Limit: 2}, "d", "b")},
		{"a limit within a tie", find(state.RecallQuery{Query: "tea", Limit: 1}, "b")},
		{"a limit beyond the end", find(state.RecallQuery{Limit: 9}, "d", "b", "a", "c", "e")},
		{"a negative limit is none", find(state.RecallQuery{Limit: -1}, "d", "b", "a", "c", "e")},
		{"an update does not move an item", func(t *run) {
			write(t)
			t.write(state.MemoryItem{ID: "c", Content: "new"})
			t.equal("new", t.recall(state.RecallQuery{})[3].Content)
		}},
	}
}
