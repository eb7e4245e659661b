package mcp

import (
	"strings"

	"github.com/fleetsync/fleetd/state"
)

// gated is what the gate for secrets says of a record.
type gated struct {
	// Held are the rules by which the record is held back: it stays on this machine
	// until a person releases it.
	Held []string `json:"held,omitempty"`
	// Warned are the rules that found a secret in what was written and goes out.
	Warned []string `json:"warned,omitempty"`
}

func gatedOf(s state.Secrets) gated {
	g := gated{}
	if s.Held != "" {
		g.Held = strings.Fields(s.Held)
	}
	if s.Warned != "" {
		g.Warned = strings.Fields(s.Warned)
	}
	return g
}

// note tells a model what became of its write; empty for nothing unusual.
func (g gated) note() string {
	switch {
	case len(g.Held) > 0:
		return "\nheld back: it holds a secret (" + strings.Join(g.Held, ", ") + "), so it stays on this machine and is not shared. " +
			"Write it again without the secret, or tell the user: fleetd secrets list."
	case len(g.Warned) > 0:
		return "\nwarning: it holds a secret (" + strings.Join(g.Warned, ", ") + ") and is shared with the fleet. Tell the user."
	}
	return ""
}

// meantFor is the scope of a write over a record that was found without a scope: of
// one that is held the one that it is meant for.
func meantFor(scope state.Scope, s state.Secrets, scoped bool) state.Scope {
	if s.Held != "" && !scoped {
		scope.Instance = ""
	}
	return scope
}
