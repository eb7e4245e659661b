package merge_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/merge/mergetest"
)

func TestKeyFormsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := mergetest.Key().Draw(t, "key")
		if err := key.Validate(); err != nil {
			t.Fatalf("Validate(%q) = %v", key, err)
		}
		if got := merge.NewID(key.ID.Components()...); got != key.ID {
			t.Errorf("components %q give %q", key.ID.Components(), got)
		}
		section := key.Section()
		gotSection, err := merge.ParseSectionID(section.ID())
		if err != nil || gotSection != section {
			t.Errorf("ParseSectionID(%q) = %q, %v; want %q", section.ID(), gotSection, err, section)
		}
		gotKey, err := merge.ParseOrder(section, key.Order())
		if err != nil || gotKey != key {
			t.Errorf("ParseOrder(%q) = %q, %v; want %q", key.Order(), gotKey, err, key)
		}
	})
}

// TestKeysNeverShareAForm: section id and order tell all keys apart.
func TestKeysNeverShareAForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := mergetest.Key().Draw(t, "a"), mergetest.Key().Draw(t, "b")
		if rapid.Bool().Draw(t, "split an id") { // "ab" against "a", "b"
			b = a
			b.ID = merge.ID(strings.Replace(string(a.ID), "\x00", "", 1))
		}
		form := func(k merge.Key) string { return k.Section().ID() + "\x00" + k.Order() }
		if (form(a) == form(b)) != (a == b) {
			t.Errorf("%q and %q have the forms %q and %q", a, b, form(a), form(b))
		}
	})
}

// TestSectionsCompareAsTheirIDs: the order of sections is that of their ids.
func TestSectionsCompareAsTheirIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := mergetest.Key().Draw(t, "a").Section(), mergetest.Key().Draw(t, "b").Section()
		if rapid.Bool().Draw(t, "share the family") {
			b.Family = a.Family
		}
		if rapid.Bool().Draw(t, "begin alike") {
			b.Scope.Project = a.Scope.Project + b.Scope.Project
		}
		if got, want := a.Compare(b), strings.Compare(a.ID(), b.ID()); got != want {
			t.Errorf("%q against %q is %d, their ids are %d", a, b, got, want)
		}
	})
}

// TestOrderKeepsAKindTogether: all keys of a kind lie side by side, and an id
// lies before those that it begins.
func TestOrderKeepsAKindTogether(t *testing.T) {
	want := []merge.Key{
		{Kind: "skill", ID: merge.NewID("a")},
		{Kind: "skill", ID: merge.NewID("a", "1")},
		{Kind: "skill", ID: merge.NewID("a", "2")},
		{Kind: "skill", ID: merge.NewID("ab")},
		{Kind: "skill", ID: merge.NewID("ä")},
		{Kind: "skill.outcome", ID: merge.NewID("a")},
		{Kind: "skills", ID: merge.NewID("a")},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, func(a, b merge.Key) int { return strings.Compare(a.Order(), b.Order()) })
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestKeyValidation(t *testing.T) {
	at := func(kind string, scope merge.Scope, id ...string) merge.Key {
		return merge.Key{Kind: kind, Scope: scope, ID: merge.NewID(id...)}
	}
	var global merge.Scope
	for _, c := range []struct {
		name string
		key  merge.Key
		ok   bool
	}{
		{"a kind and an id pass", at("skill", global, "deploy"), true},
		{"four components pass", at("session.turn", global, "a", "b", "c", "d"), true},
		{"five do not", at("session.turn", global, "a", "b", "c", "d", "e"), false},
		{"256 bytes pass", at("skill", global, repeated("x", 256)), true},
		{"257 do not", at("skill", global, repeated("x", 257)), false},
		{"bytes count, not letters", at("skill", global, repeated("é", 129)), false},
		{"a kind of 64 bytes passes", at(repeated("k", 64), global, "a"), true},
		{"one of 65 does not", at(repeated("k", 65), global, "a"), false},
		{"a kind is not empty", at("", global, "a"), false},
		{"a kind has a family", at(".outcome", global, "a"), false},
		{"a kind has no control character", at("ski\x1fll", global, "a"), false},
		{"a kind has no 0x00", at("ski\x00ll", global, "a"), false},
		{"an id is not empty", at("skill", global, ""), false},
		{"no component is empty", at("skill", global, "a", "", "b"), false},
		{"the last component is not empty", at("skill", global, "a", ""), false},
		{"a component may have spaces, slashes and dots", at("skill", global, " ../a b "), true},
		{"a component has no newline", at("skill", global, "a\nb"), false},
		{"a component has no 0x7f", at("skill", global, "a\x7fb"), false},
		{"a component has no control character beyond ASCII", at("skill", global, "a\u0085b"), false},
		{"a component is UTF-8", at("skill", global, "a\xffb"), false},
		{"a component is not a surrogate", at("skill", global, "a\xed\xa0\x80b"), false},
		{"one scope field passes", at("skill", merge.Scope{Project: "web"}, "a"), true},
		{"a scope field has at most 256 bytes", at("skill", merge.Scope{Workspace: repeated("w", 257)}, "a"), false},
		{"a scope field has no control character", at("skill", merge.Scope{Instance: "a\x1fb"}, "a"), false},
		{"a scope field is UTF-8", at("skill", merge.Scope{Project: "\xc3"}, "a"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.key.Validate()
			if (err == nil) != c.ok || (err != nil && !errors.Is(err, merge.ErrMalformed)) {
				t.Errorf("Validate(%q) = %v, want ok %v", c.key, err, c.ok)
			}
		})
	}
}

func TestParseSectionIDRefuses(t *testing.T) {
	for _, id := range []string{
		"", "skill", "skill\x1f\x1f", "skill\x1f\x1f\x1f\x1f", "\x1f\x1f\x1f", "skill.outcome\x1f\x1f\x1f",
		"sk\nill\x1f\x1f\x1f", "skill\x1fa\x00b\x1f\x1f", "skill\x1f\xff\x1f\x1f", repeated("k", 65) + "\x1f\x1f\x1f",
		"skill\x1f" + repeated("i", 257) + "\x1f\x1f",
	} {
		if got, err := merge.ParseSectionID(id); !errors.Is(err, merge.ErrMalformed) {
			t.Errorf("ParseSectionID(%.40q) = %q, %v; want ErrMalformed", id, got, err)
		}
	}
}

func TestParseOrderRefuses(t *testing.T) {
	section := merge.Section{Family: "skill", Scope: merge.Scope{Project: "web"}}
	for _, order := range []string{
		"", "skill", "skill\x00", "\x00deploy", "memory\x00deploy", "skills\x00deploy", ".skill\x00deploy",
		"skill\x00a\x00", "skill\x00\x00a", "skill\x00a\x00b\x00c\x00d\x00e", "skill\x00a\nb", "skill\x00\xff",
	} {
		if got, err := merge.ParseOrder(section, order); !errors.Is(err, merge.ErrMalformed) {
			t.Errorf("ParseOrder(%q) = %q, %v; want ErrMalformed", order, got, err)
		}
	}
}

func TestReadableForms(t *testing.T) {
	web := merge.Scope{Project: "web"}
	for _, c := range []struct{ got, want string }{
		{merge.Key{Kind: "skill", ID: "deploy"}.String(), "skill/deploy"},
		{merge.Key{Kind: "session.turn", Scope: web, ID: merge.NewID("s", "t")}.String(), "session.turn/s/t in project web"},
		{merge.Scope{}.String(), "global"},
		{merge.Scope{Instance: "i", Project: "p", Workspace: "w"}.String(), "instance i, project p, workspace w"},
		{merge.Section{Family: "skill"}.String(), "skill, global"},
		{merge.Section{Family: "memory", Scope: web}.String(), "memory, project web"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// FuzzParseSectionID: what is accepted is exactly what Section.ID gives.
func FuzzParseSectionID(f *testing.F) {
	f.Fuzz(func(t *testing.T, id string) {
		s, err := merge.ParseSectionID(id)
		if err != nil {
			if !errors.Is(err, merge.ErrMalformed) {
				t.Errorf("ParseSectionID(%q) = %v, want ErrMalformed", id, err)
			}
			return
		}
		if s.ID() != id {
			t.Errorf("ParseSectionID(%q) = %q, whose id is %q", id, s, s.ID())
		}
		if err := (merge.Key{Kind: s.Family, Scope: s.Scope, ID: "x"}).Validate(); err != nil {
			t.Errorf("section %q has no valid key: %v", s, err)
		}
	})
}

// FuzzParseOrder: what is accepted is exactly what Key.Order gives, and stays
// in its section.
func FuzzParseOrder(f *testing.F) {
	f.Fuzz(func(t *testing.T, family, order string) {
		section := merge.Section{Family: family, Scope: merge.Scope{Workspace: "w"}}
		k, err := merge.ParseOrder(section, order)
		if err != nil {
			if !errors.Is(err, merge.ErrMalformed) {
				t.Errorf("ParseOrder(%q) = %v, want ErrMalformed", order, err)
			}
			return
		}
		if k.Order() != order || k.Section() != section || k.Validate() != nil {
			t.Errorf("ParseOrder(%q) = %q in %q, whose order is %q", order, k, k.Section(), k.Order())
		}
	})
}
