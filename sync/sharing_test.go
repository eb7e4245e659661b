package sync_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

func sharingBy(t *testing.T, rules ...string) fleetsync.Sharing {
	t.Helper()
	var s fleetsync.Sharing
	for _, text := range rules {
		r, err := fleetsync.ParseSharingRule(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Rules = append(s.Rules, r)
	}
	return s
}

func in(family, project, workspace string) merge.Section {
	return merge.Section{Family: family, Scope: merge.Scope{Project: project, Workspace: workspace}}
}

func TestTheFirstRuleThatMatchesDecides(t *testing.T) {
	s := sharingBy(t,
		"share memory project=client-open",
		"keep memory project=client-*",
		"keep * workspace=scratch",
		`share session project="my notes"`,
		`keep skill project=""`,
	)
	alone := in("memory", "client-open", "")
	alone.Scope.Instance = "i"
	for section, want := range map[merge.Section]bool{
		in("memory", "", ""):                 true,
		in("memory", "client-a", ""):         false,
		in("memory", "client-a", "x"):        false,
		in("memory", "client-open", ""):      true,
		in("memory", "client", ""):           true,
		in("memory", "web", "scratch"):       false,
		in("skill", "", ""):                  false,
		in("skill", "web", ""):               true,
		in("skill", "web", "scratch"):        false,
		in("session", "", ""):                false,
		in("session", "my notes", ""):        true,
		in("session", "my notes", "scratch"): false,
		in("made-up", "", ""):                true,
		in("fleet", "", ""):                  true,
		in("fleet", "", "scratch"):           true,
		alone:                                false,
	} {
		if got := s.Shares(section); got != want {
			t.Errorf("%s: %t, want %t", section, got, want)
		}
	}
}

// TestAFamilyIsSharedWhereSomeSectionIs holds that nothing is missed by who asks
// for families: for topics, and for what is told of as withheld.
func TestAFamilyIsSharedWhereSomeSectionIs(t *testing.T) {
	for _, c := range []struct {
		rules  []string
		family string
		want   bool
	}{
		{nil, "session", false},
		{[]string{"keep memory"}, "memory", false},
		{[]string{"keep memory", "share memory project=a"}, "memory", false},
		{[]string{"share memory project=a", "keep memory"}, "memory", true},
		{[]string{"keep memory project=a"}, "memory", true},
		{[]string{"keep *"}, "memory", false},
		{[]string{"keep *"}, "fleet", true},
		{[]string{"share session project=a"}, "session", true},
		{[]string{"keep session project=a", "share *"}, "session", true},
	} {
		s := sharingBy(t, c.rules...)
		if got := s.SharesFamily(c.family); got != c.want {
			t.Errorf("%q shares %s: %t", c.rules, c.family, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := fleetsync.Sharing{Sessions: rapid.Bool().Draw(t, "sessions"), Rules: rapid.SliceOfN(rapid.Custom(drawRule), 0, 5).Draw(t, "rules")}
		section := in(rapid.SampledFrom([]string{"memory", "session", "fleet"}).Draw(t, "family"),
			rapid.SampledFrom([]string{"", "a", "ab"}).Draw(t, "project"), rapid.SampledFrom([]string{"", "a"}).Draw(t, "workspace"))
		if s.Shares(section) && !s.SharesFamily(section.Family) {
			t.Fatalf("%s is shared, its family is not", section)
		}
	})
}

func drawRule(t *rapid.T) fleetsync.SharingRule {
	pattern := func(name string) fleetsync.Pattern {
		if !rapid.Bool().Draw(t, name+" is set") {
			return fleetsync.Pattern{}
		}
		return fleetsync.Pattern{IsSet: true, Text: rapid.OneOf(
			rapid.SampledFrom([]string{"", "a", "a*", "*", "my notes", `a"b`, `"`, `\`, "a,b", " a", "ä", "a b*"}), rapid.StringMatching(`[^\pC*]{0,20}`),
		).Draw(t, name)}
	}
	return fleetsync.SharingRule{
		Keep: rapid.Bool().Draw(t, "keep"), Family: rapid.SampledFrom([]string{"memory", "skill", "session", "*"}).Draw(t, "family"),
		Project: pattern("project"), Workspace: pattern("workspace"),
	}
}

func TestARuleOfSharingIsReadAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Custom(drawRule).Draw(t, "rule")
		got, err := fleetsync.ParseSharingRule(want.String())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%s: %v %s", want, err, diff)
		}
	})
}

func TestWhatIsNoRuleOfSharing(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   `want "keep" or "share"`,
		"keep":                               `want "keep" or "share"`,
		"deny memory":                        `want "keep" or "share"`,
		"keep fleet":                         "always shared",
		"share fleet":                        "always shared",
		"keep skill.outcome":                 "has a dot",
		"keep memory web":                    `"web" is neither project=NAME nor workspace=NAME`,
		"keep memory instance=x":             "neither project=NAME",
		"keep memory project=a project":      "neither project=NAME",
		"keep memory project=a project=b":    "project is there twice",
		"keep memory project=a*b":            "has a * that is not its end",
		`keep memory project="a`:             "do not end",
		`keep memory project="a"b`:           "without a space",
		`keep memory project="a\u0000"`:      "control character",
		"keep x project=" + long(300):        "at most 256",
		"keep " + long(300):                  "at most 64",
		"keep x workspace=b workspace=c":     "workspace is there twice",
		"keep x project=client-* and more":   "neither project=NAME",
		"keep memory project=a workspace=*b": "has a * that is not its end",
	} {
		if _, err := fleetsync.ParseSharingRule(text); !errors.Is(err, fleetsync.ErrSharing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func long(n int) string { return strings.Repeat("m", n) }

var secret = in("memory", "secret", "")

// withASecret connects b, which keeps a project to itself, with two that do not;
// c holds nothing of it.
func withASecret(t *testing.T) (m *mesh, a, b, c *node) {
	t.Helper()
	m = newMesh(t, true)
	a, b, c = m.add("a", openly{}), m.add("b", openly{}), m.add("c", openly{})
	b.share = sharingBy(t, "keep memory project=secret")
	m.open(b)
	for _, id := range []merge.ID{"1", "2", "3"} {
		m.writeKey(a, merge.Key{Kind: "memory", Scope: secret.Scope, ID: id}, "text")
	}
	m.write(a, "open", "text")
	m.writeKey(b, merge.Key{Kind: "memory", Scope: secret.Scope, ID: "own"}, "text")
	m.lose = func(d delivery) bool {
		if text := fmt.Sprintf("%q", d.message); d.to == "c" && strings.Contains(text, "secret") {
			t.Errorf("c is told of it: %T %s", d.message, text)
		}
		return false
	}
	m.connect("a", "b")
	m.connect("b", "c")
	m.settle(3)
	m.lose = nil
	return m, a, b, c
}

// TestASectionThatAPeerKeepsToItselfIsNotWaitedFor holds that what one side does
// not share makes no difference, and is not named to who has not named it.
func TestASectionThatAPeerKeepsToItselfIsNotWaitedFor(t *testing.T) {
	_, a, b, c := withASecret(t)
	p := a.engine.Peers()[0]
	if !p.InSync || p.Lacks != 0 || p.Behind != 0 || len(p.Withholds) != 0 || !cmp.Equal(p.WithholdsSections, []merge.Section{secret}) {
		t.Errorf("to a, b is %+v", p)
	}
	for _, p := range append(b.engine.Peers(), c.engine.Peers()...) {
		if !p.InSync || len(p.WithholdsSections) != 0 {
			t.Errorf("%+v", p)
		}
	}
	if n := b.store.State(secret).Count; n != 1 {
		t.Errorf("b holds %d secrets, want its own", n)
	}
	if n := c.store.State(in("memory", "", "")).Count; n != 1 {
		t.Errorf("c holds %d open ones", n)
	}
}

// TestASectionIsSharedInAnotherLife holds that who shares from its next start on
// what it kept is not taken for one that does not.
func TestASectionIsSharedInAnotherLife(t *testing.T) {
	m, a, b, c := withASecret(t)
	b.share = fleetsync.Sharing{}
	m.isolate(b)
	m.reopen(b)
	m.connect("a", "b")
	m.connect("b", "c")
	m.settle(3)
	if p := a.engine.Peers()[0]; !p.InSync || len(p.WithholdsSections) != 0 {
		t.Errorf("to a, b is %+v", p)
	}
	for _, n := range []*node{a, c} {
		if held := n.store.State(secret).Count; held != 4 {
			t.Errorf("%s holds %d of it, want 4", n.id, held)
		}
	}
}
