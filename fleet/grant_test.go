package fleet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

func TestValidateName(t *testing.T) {
	good := []string{
		"a", "desk", "Büro 2", "東京", "ci-runner/3", "build:main", strings.Repeat("é", 64),
		"12D3KooW", "naïve.host_1", "🚀",
	}
	for _, name := range good {
		if err := fleet.ValidateName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	bad := map[string]string{
		"empty":                  "",
		"65 characters":          strings.Repeat("é", 65),
		"a line break":           "desk\nadmin",
		"NUL":                    "desk\x00",
		"invalid UTF-8":          "desk\xff",
		"a space at the end":     "desk ",
		"a space at the start":   "\u00a0desk",
		"the mark of a suffix":   "desk~abc",
		"bidirectional override": "desk\u202e",
		"zero width space":       "de\u200bsk",
		"a line separator":       "de\u2028sk",
		"a peer id":              newIdentity(t, 1).ID().String(),
	}
	for what, name := range bad {
		if err := fleet.ValidateName(name); !errors.Is(err, fleet.ErrName) {
			t.Errorf("%s: got %v, want ErrName", what, err)
		}
	}
}

func TestGrantComesBackAsItWasSealed(t *testing.T) {
	s := newSmall(t)
	want := fleet.Grant{
		Member: s.member.ID(), Name: "laptop", Role: fleet.RoleMember,
		Capabilities: []string{"*", "memory", "skill"},
		Scopes:       []merge.Scope{{Project: "api"}, {Project: "web", Workspace: "blue"}, {Instance: "x"}},
		Issued:       at(-50), Expires: at(900),
	}
	unordered := want
	unordered.Capabilities = []string{"skill", "*", "memory", "skill"}
	unordered.Scopes = []merge.Scope{{Instance: "x"}, {Project: "web", Workspace: "blue"}, {Project: "api"}, {Instance: "x"}}
	rec := grant(t, s.fleet, s.admin, unordered, at(10))
	if err := fleet.Check(rec, s.fleet); err != nil {
		t.Fatal(err)
	}
	got, err := fleet.GrantOf(rec)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grant differs (-want +got):\n%s", diff)
	}
	plain, err := fleet.GrantOf(s.memberGrant)
	if err != nil || plain.Issued != at(10) || !plain.Expires.IsZero() {
		t.Errorf("a grant without times runs from %s to %s (%v), want from its stamp on", plain.Issued, plain.Expires, err)
	}
}

func TestSealGrantRefuses(t *testing.T) {
	s := newSmall(t)
	families := make([]string, 33)
	scopes := make([]merge.Scope, 33)
	for i := range families {
		families[i], scopes[i].Project = fmt.Sprintf("family-%d", i), fmt.Sprintf("project-%d", i)
	}
	for what, change := range map[string]func(*fleet.Grant){
		"a member without a key":     func(g *fleet.Grant) { g.Member = "local" },
		"nobody as a member":         func(g *fleet.Grant) { g.Member = "" },
		"no name":                    func(g *fleet.Grant) { g.Name = "" },
		"no role":                    func(g *fleet.Grant) { g.Role = 0 },
		"an admin with capabilities": func(g *fleet.Grant) { g.Role = fleet.RoleAdmin },
		"an admin with scopes": func(g *fleet.Grant) {
			*g = fleet.Grant{Member: g.Member, Name: "x", Role: fleet.RoleAdmin, Scopes: scopes[:1]}
		},
		"the family fleet":                  func(g *fleet.Grant) { g.Capabilities = []string{"fleet"} },
		"a kind for a family":               func(g *fleet.Grant) { g.Capabilities = []string{"skill.outcome"} },
		"an empty capability":               func(g *fleet.Grant) { g.Capabilities = []string{""} },
		"a control character in a family":   func(g *fleet.Grant) { g.Capabilities = []string{"skill\n"} },
		"33 families":                       func(g *fleet.Grant) { g.Capabilities = families },
		"33 scopes":                         func(g *fleet.Grant) { g.Scopes = scopes },
		"an empty scope":                    func(g *fleet.Grant) { g.Scopes = []merge.Scope{{}} },
		"a control character in a scope":    func(g *fleet.Grant) { g.Scopes = []merge.Scope{{Project: "a\x1fb"}} },
		"an end before its beginning":       func(g *fleet.Grant) { g.Expires = at(9) },
		"an end at its beginning":           func(g *fleet.Grant) { g.Expires = at(10) },
		"a beginning before 1970":           func(g *fleet.Grant) { g.Issued = hlc.Timestamp{Wall: -1} },
		"an end in the year 6430":           func(g *fleet.Grant) { g.Expires = hlc.Timestamp{Wall: 1 << 47} },
		"a name with a hidden character":    func(g *fleet.Grant) { g.Name = "lap\u202etop" },
		"a family with an overlong name":    func(g *fleet.Grant) { g.Capabilities = []string{strings.Repeat("f", 65)} },
		"a scope field with 257 characters": func(g *fleet.Grant) { g.Scopes = []merge.Scope{{Project: strings.Repeat("p", 257)}} },
	} {
		g := fleet.Grant{Member: s.member.ID(), Name: "laptop", Role: fleet.RoleMember, Capabilities: []string{"skill"}}
		change(&g)
		if _, err := fleet.SealGrant(s.fleet, s.admin, g, at(10)); !errors.Is(err, fleet.ErrMalformed) {
			t.Errorf("%s: got %v, want ErrMalformed", what, err)
		}
	}
	for _, stamp := range []hlc.Timestamp{{}, {Wall: -1}, {Wall: 1 << 47}} {
		g := fleet.Grant{Member: s.member.ID(), Name: "laptop", Role: fleet.RoleMember, Issued: at(1)}
		if _, err := fleet.SealGrant(s.fleet, s.admin, g, stamp); !errors.Is(err, fleet.ErrMalformed) {
			t.Errorf("stamped %s: got %v, want ErrMalformed", stamp, err)
		}
	}
}

// TestGrantVector holds the format of a grant: what these bytes say can never
// change.
func TestGrantVector(t *testing.T) {
	for _, file := range []string{"grant-admin.txt", "grant-member.txt"} {
		t.Run(file, func(t *testing.T) {
			vector := readGolden(t, file)
			encoded := vector.hex(t, "record")
			root := newIdentity(t, 1)
			f := fleet.FleetIDOf(root.Public())
			if err := admissible(encoded, f); err != nil {
				t.Fatal(err)
			}
			rec, err := merge.Decode(encoded)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(vector.hex(t, "body"), rec.Body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			got, err := fleet.GrantOf(&rec)
			if err != nil {
				t.Fatal(err)
			}
			want, issuer := vectorGrant(t, file)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("grant (-want +got):\n%s", diff)
			}
			again := grant(t, f, issuer, want, rec.Envelope.UpdatedHLC)
			if diff := cmp.Diff(encoded, again.Encode()); diff != "" {
				t.Errorf("sealed anew it has other bytes (-want +got):\n%s", diff)
			}
		})
	}
}

func vectorGrant(tb testing.TB, file string) (fleet.Grant, fleet.Identity) {
	tb.Helper()
	if file == "grant-admin.txt" {
		return fleet.Grant{Member: newIdentity(tb, 2).ID(), Name: "desk", Role: fleet.RoleAdmin, Issued: at(0)}, newIdentity(tb, 1)
	}
	return fleet.Grant{
		Member: newIdentity(tb, 3).ID(), Name: "Büro 2", Role: fleet.RoleMember,
		Capabilities: []string{"memory", "session", "skill"},
		Scopes:       []merge.Scope{{Project: "web"}, {Project: "web", Workspace: "blue"}},
		Issued:       at(-500), Expires: at(86_400_000),
	}, newIdentity(tb, 2)
}
