package state

import (
	"fmt"
	"slices"
	"strings"
)

// outward lists the scopes in which a slug is looked up from a home scope:
// workspace, project, instance, global. A home on one instance also sees, at
// each step, what is shared under the same names without the instance.
func outward(home Scope) []Scope {
	var scopes []Scope
	for _, step := range []Scope{
		home,
		{Project: home.Project, Workspace: home.Workspace},
		{Instance: home.Instance, Project: home.Project},
		{Project: home.Project},
		{Instance: home.Instance},
		{},
	} {
		if !slices.Contains(scopes, step) {
			scopes = append(scopes, step)
		}
	}
	return scopes
}

// nearest returns the first of the home scopes that is among scopes.
func (p *replica) nearest(scopes []Scope) (nearest Scope, found bool) {
	for _, home := range p.home {
		if slices.Contains(scopes, home) {
			return home, true
		}
	}
	return Scope{}, false
}

// choose picks the scope that a name stands for when it is live in these:
// the nearest from the home scope outward, else the only one. It is never "the
// most specific anywhere": a writer who is confined to one project must not
// shadow what others mean. Errors: ErrNotFound, ErrAmbiguous.
func (p *replica) choose(what string, scopes []Scope) (Scope, error) {
	if scope, found := p.nearest(scopes); found {
		return scope, nil
	}
	return only(what, scopes)
}

// only returns the one scope of a name. Errors: ErrNotFound,
// ErrAmbiguous.
func only(what string, scopes []Scope) (Scope, error) {
	switch len(scopes) {
	case 0:
		return Scope{}, fmt.Errorf("%w: %s", ErrNotFound, what)
	case 1:
		return scopes[0], nil
	}
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = s.String()
	}
	return Scope{}, fmt.Errorf("%w: %s is in several scopes: %s", ErrAmbiguous, what, strings.Join(names, "; "))
}
