package mcp

import (
	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// scopeArguments are what every tool has that is about records in a scope. what
// says what they do when they are given.
func scopeArguments(what string) []argument {
	return []argument{
		{name: "project", about: what + " in exactly the scope of this project. Leave it out unless the user works by projects."},
		{name: "workspace", about: what + " in exactly the scope of this workspace."},
		{name: "instance", about: what + " in exactly the scope of this instance; such a record never leaves its machine."},
		{name: "scope", form: formScope, about: `The three in one object, as results show them; "global" is the scope without any.`},
	}
}

// readScope reads a scope as results show it.
func readScope(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return state.Scope{}, v == "global" || v == ""
	case map[string]any:
		var scope state.Scope
		for name, value := range v {
			text, isText := value.(string)
			if !isText && value != nil {
				return nil, false
			}
			switch fold(name) {
			case "instance":
				scope.Instance = text
			case "project":
				scope.Project = text
			case "workspace":
				scope.Workspace = text
			default:
				return nil, false
			}
		}
		return scope, true
	}
	return nil, false
}

// scope returns the scope that a call names; ok is false when it names none.
// Errors: a *wire.Problem.
func (v values) scope() (scope state.Scope, ok bool, err error) {
	for name, field := range map[string]*string{
		"instance": &scope.Instance, "project": &scope.Project, "workspace": &scope.Workspace,
	} {
		*field = v.text(name)
		ok = ok || v.has(name)
	}
	if whole, given := v["scope"].(state.Scope); given {
		if ok {
			return scope, ok, api.NewProblem(wire.CodeBadRequest, "scope stands for project, workspace and instance: give it or those")
		}
		return whole, true, nil
	}
	return scope, ok, nil
}

func wireScope(s state.Scope) wire.Scope {
	return wire.Scope{Instance: s.Instance, Project: s.Project, Workspace: s.Workspace}
}

// scopeText names a scope in a line of text; empty for the global one.
func scopeText(s state.Scope) string {
	if s == (state.Scope{}) {
		return ""
	}
	for _, name := range []*string{&s.Instance, &s.Project, &s.Workspace} {
		if *name != "" {
			*name = api.Named(*name)
		}
	}
	return " [" + s.String() + "]"
}
