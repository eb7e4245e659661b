package main

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
)

// scopeFlags are --project, --workspace and --instance of one command.
type scopeFlags struct {
	cmd   *cobra.Command
	scope wire.Scope
}

func addScope(cmd *cobra.Command) *scopeFlags {
	s := &scopeFlags{cmd: cmd}
	cmd.Flags().StringVar(&s.scope.Project, "project", "", "scope: of this project")
	cmd.Flags().StringVar(&s.scope.Workspace, "workspace", "", "scope: of this workspace")
	cmd.Flags().StringVar(&s.scope.Instance, "instance", "", "scope: of this instance; it never leaves the machine")
	return s
}

// asked returns the scope that reads are limited to: exactly that of the flags,
// nil without any. A flag with an empty value asks for the global scope.
func (s *scopeFlags) asked() *wire.Scope {
	flags := s.cmd.Flags()
	if flags.Changed("project") || flags.Changed("workspace") || flags.Changed("instance") {
		return &s.scope
	}
	return nil
}

// forWriting returns the scope to write to: the global one without any flag. An
// empty value is refused: it is the value of a variable that nobody set, and what
// was to stay on this machine would go to all.
func (s *scopeFlags) forWriting() (wire.Scope, error) {
	for _, name := range []string{"instance", "project", "workspace"} {
		if f := s.cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return wire.Scope{}, usage("--"+name+" is empty", "leave it out to write for every project, or name one")
		}
	}
	return s.scope, nil
}

// explainFind is explain for a record that was looked for in a scope.
func (a *app) explainFind(err error, group string, scope *scopeFlags) error {
	explained := *a.explain(err)
	if isProblem(err, wire.CodeNotFound) {
		explained.next = "fleetd " + group + " list shows what there is"
		if scope.asked() != nil {
			explained.next += "; a scope is exact, and without one all are searched"
		}
	}
	return &explained
}

// limitFlag is the value of --limit: a number from 1, zero when it is not given.
type limitFlag int

func (l *limitFlag) String() string {
	if *l == 0 {
		return ""
	}
	return strconv.Itoa(int(*l))
}

func (l *limitFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("want a number from 1")
	}
	*l = limitFlag(n)
	return nil
}

func (*limitFlag) Type() string { return "number" }

// afterFlag is the value of --after: a number from 0, zero when it is not given.
type afterFlag int64

func (f *afterFlag) String() string {
	if *f == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*f), 10)
}

func (f *afterFlag) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return errors.New("want a number from 0")
	}
	*f = afterFlag(n)
	return nil
}

func (*afterFlag) Type() string { return "number" }
