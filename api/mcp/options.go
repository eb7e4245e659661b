package mcp

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

// The groups of tools, as an allow-list names them.
const (
	groupMemory  = "memory"
	groupFile    = "file"
	groupSkill   = "skill"
	groupSession = "session"
	groupFleet   = "fleet"
)

// Options choose what one session may use. The zero value is everything.
type Options struct {
	// Tools are names of tools, and of groups: memory (with the tool of the same
	// name), file (that tool alone), skill, session and fleet. None means all.
	Tools []string
	// ReadOnly leaves out, and refuses, every tool that writes.
	ReadOnly bool
}

// ParseOptions reads a query with the parameters tools, names between commas, and
// read_only, true or false. Errors: a *wire.Problem, also for a query that cannot
// be read whole, a name that is neither a tool nor a group, none at all, and
// another parameter, since a misspelt limit would be none.
func ParseOptions(query string) (Options, error) {
	var opts Options
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return opts, api.NewProblem(wire.CodeBadRequest, "the query cannot be read: "+err.Error())
	}
	for name, values := range parameters {
		for _, value := range values {
			switch name {
			case "tools":
				for tool := range strings.SplitSeq(value, ",") {
					opts.Tools = append(opts.Tools, strings.TrimSpace(tool))
				}
			case "read_only":
				readOnly, err := strconv.ParseBool(value)
				if err != nil {
					return opts, api.NewProblem(wire.CodeBadRequest, fmt.Sprintf("parameter read_only is %.60q, not true or false", value))
				}
				opts.ReadOnly = opts.ReadOnly || readOnly
			default:
				return opts, api.NewProblem(wire.CodeBadRequest, fmt.Sprintf("unknown parameter %.60q; this path takes: tools, read_only", name))
			}
		}
	}
	return opts, opts.check()
}

func (o Options) check() error {
	known := []string{groupMemory, groupFile, groupSkill, groupSession, groupFleet}
	for _, t := range tools() {
		known = append(known, t.name)
	}
	for _, name := range o.Tools {
		if !slices.Contains(known, name) {
			return api.NewProblem(wire.CodeInvalid, fmt.Sprintf(
				"no tool or group of tools %.60q; known are %s", name, strings.Join(slices.Compact(known), ", ")))
		}
	}
	return nil
}

// allows reports whether a tool is listed and may be called.
func (o Options) allows(t *tool) bool {
	if o.ReadOnly && !t.readOnly {
		return false
	}
	return len(o.Tools) == 0 || slices.Contains(o.Tools, t.group) || slices.Contains(o.Tools, t.name) ||
		t.group == groupFile && slices.Contains(o.Tools, groupMemory)
}

// covers reports whether resources of a kind are shown: when a tool of their
// group is.
func (o Options) covers(group string) bool {
	if len(o.Tools) == 0 {
		return true
	}
	return slices.ContainsFunc(tools(), func(t *tool) bool {
		return t.group == group && (slices.Contains(o.Tools, t.group) || slices.Contains(o.Tools, t.name))
	})
}
