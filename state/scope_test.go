package state_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/state"
)

// TestASlugIsFoundFromTheHomeScopeOutward gives each home the scopes in which
// one slug lives, and says in which it is found; "ambiguous" when in none.
func TestASlugIsFoundFromTheHomeScopeOutward(t *testing.T) {
	scope := func(text string) state.Scope {
		part := strings.Split(text+"//", "/")
		return state.Scope{Instance: part[0], Project: part[1], Workspace: part[2]}
	}
	tests := []struct {
		name string
		home string // instance/project/workspace
		in   []string
		want string
	}{
		{"the home scope first", "i/p/w", []string{"", "i", "i/p", "i/p/w"}, "i/p/w"},
		{"then its project", "i/p/w", []string{"", "i", "i/p", "i/p/x"}, "i/p"},
		{"then its instance", "i/p/w", []string{"", "i", "i/q"}, "i"},
		{"then global", "i/p/w", []string{"", "j", "/q"}, ""},
		{"a shared workspace before a private project", "i/p/w", []string{"i/p", "/p/w"}, "/p/w"},
		{"a shared project before a private instance", "i/p/w", []string{"i", "/p"}, "/p"},
		{"a private scope before its shared twin", "i/p", []string{"i/p", "/p"}, "i/p"},
		{"a home without an instance", "/p/w", []string{"", "i/p/w", "/p"}, "/p"},
		{"a global home", "", []string{"", "/p", "i"}, ""},
		{"the only one elsewhere", "/p", []string{"/q/w"}, "/q/w"},
		{"several elsewhere", "/p", []string{"/q", "/p/w"}, "ambiguous"},
		{"never the most specific anywhere", "", []string{"/p/w", "/p"}, "ambiguous"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := state.NewMemory(state.WithScope(scope(test.home)))
			defer func() { must(t, p.Close()) }()
			for _, in := range test.in {
				if _, err := p.Skills().Upsert(t.Context(), state.Skill{Slug: "deploy", Scope: scope(in)}); err != nil {
					t.Fatal(err)
				}
			}
			got, err := p.Skills().Get(t.Context(), "deploy")
			if test.want == "ambiguous" {
				if !errors.Is(err, state.ErrAmbiguous) {
					t.Errorf("got %s, %v, want ErrAmbiguous", got.Scope, err)
				}
				return
			}
			must(t, err)
			same(t, scope(test.want), got.Scope)
		})
	}
}

// TestSkillIDIsTheSameForEver pins derived ids: they are stored nowhere, so
// another derivation would cut every reference to a skill.
func TestSkillIDIsTheSameForEver(t *testing.T) {
	same(t, []string{
		"083c03b4-ce64-89fa-af99-b6ab351d5ee4",
		"58e02c02-62a6-8132-a2f9-08ed7475f6cf",
		"bebbe8b6-37e9-852b-845f-4ef15873e77b",
	}, []string{
		state.SkillID(state.Scope{}, "deploy"),
		state.SkillID(state.Scope{Project: "web"}, "deploy"),
		state.SkillID(state.Scope{Instance: "i", Project: "web", Workspace: "w"}, "服务部署"),
	})
}

func TestAnIDChosenWithinTheHomeScopeComesBeforeASlug(t *testing.T) {
	home := state.Scope{Project: "p"}
	p := state.NewMemory(state.WithScope(home))
	defer func() { must(t, p.Close()) }()
	for _, sk := range []state.Skill{
		{Slug: "deploy"},
		{Slug: "mine", ID: "deploy", Scope: home},
		{Slug: "theirs", ID: "deploy-2", Scope: state.Scope{Project: "q"}},
	} {
		if _, err := p.Skills().Upsert(t.Context(), sk); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"deploy": "mine", "deploy-2": "theirs"} {
		got, err := p.Skills().Get(t.Context(), name)
		must(t, err)
		same(t, want, got.Slug)
	}
}
