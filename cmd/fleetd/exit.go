package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/node"
)

// The exit codes. Scripts rely on them.
const (
	exitOK           = 0
	exitError        = 1
	exitUsage        = 2
	exitNotRunning   = 3
	exitNotFound     = 4
	exitConflict     = 5
	exitNotConverged = 6
	exitDenied       = 7
)

// failure is an error with its exit code and what to do next.
type failure struct {
	text string
	code int
	next string
}

func (f *failure) Error() string { return f.text }

// usage is the failure of a command line that cannot be meant.
func usage(text, next string) error { return &failure{text: text, code: exitUsage, next: next} }

// failed is any other failure that knows what to do next.
func failed(code int, next, format string, args ...any) error {
	return &failure{text: plain(fmt.Errorf(format, args...)), code: code, next: next}
}

// report prints an error, what to do next in a line of its own, and returns the
// exit code.
func (a *app) report(err error) int {
	if err == nil {
		return exitOK
	}
	f := a.explain(err)
	// An error of usage begins with the command, which says the program too.
	a.note("fleetd%s", strings.TrimPrefix(oneLine(": "+f.text), ": fleetd"))
	if f.next != "" {
		a.note("next: %s", f.next)
	}
	return f.code
}

// note prints one line to the person, beside the output.
func (a *app) note(format string, args ...any) { say(a.errOut, format, args...) }

// explain finds code and advice for an error of the packages below.
func (a *app) explain(err error) *failure {
	var known *failure
	var problem *wire.Problem
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &problem):
		return explainProblem(problem)
	case errors.Is(err, client.ErrNotRunning):
		return a.notRunning()
	case errors.Is(err, client.ErrLost):
		return &failure{plain(err), exitNotRunning, "look at its log; a write may or may not have been done, so read before you repeat it"}
	case errors.Is(err, errNotConverged):
		return &failure{plain(err), exitNotConverged, ""}
	case errors.Is(err, context.Canceled):
		return &failure{"interrupted", exitError, ""}
	case errors.Is(err, fs.ErrPermission):
		return &failure{plain(err), exitDenied, "the data directory belongs to another user: use your own --dir"}
	}
	for _, known := range knownErrors() {
		if errors.Is(err, known.sentinel) {
			return &failure{plain(err), known.code, known.next}
		}
	}
	return &failure{plain(err), exitError, ""}
}

// explainProblem finds exit code and advice for what the daemon refused.
func explainProblem(p *wire.Problem) *failure {
	f := &failure{text: p.Error(), code: exitError}
	switch p.Code {
	case wire.CodeInvalid, wire.CodeBadRequest, wire.CodeMediaType: // the text says it
	case wire.CodeNotFound:
		f.code, f.next = exitNotFound, "the list command shows what there is; a scope is exact"
	case wire.CodeConflict:
		f.code, f.next = exitConflict, "somebody else wrote in between: read it again, then repeat"
	case wire.CodeAmbiguous:
		f.code, f.next = exitUsage, `name the scope with --project, --workspace or --instance; --project "" is the global one`
	case wire.CodeDenied:
		f.code = exitDenied
	case wire.CodeTooLarge:
		f.next = "one record holds 64 KiB: shorten it, or make several"
	case wire.CodeNoRoute, wire.CodeMethod:
		f.next = "the daemon is of another version: restart it with this one"
	case wire.CodeInternal, wire.CodeTimeout, wire.CodeUnavailable:
		f.next = "look at the daemon's log"
	}
	return f
}

// knownError is an error of a package below, as people meet it.
type knownError struct {
	sentinel error
	code     int
	next     string
}

func knownErrors() []knownError {
	const ask = "ask for a new ticket: fleetd invite on a machine of the fleet"
	return []knownError{
		{node.ErrNotInitialised, exitError, "fleetd init --name N begins a fleet, fleetd join TICKET --name N enters one"},
		{node.ErrAlreadyInitialised, exitError, "fleetd run starts what is there; another --dir holds another instance"},
		{node.ErrInUse, exitError, "talk to the running one with the other commands, or stop it"},
		{node.ErrConfig, exitUsage, "config.yaml in the data directory, FLEETD_... in the environment and the flags of fleetd run set this"},
		{fleet.ErrName, exitUsage, "choose a name of 1 to 64 visible characters, such as --name laptop"},
		{fleet.ErrTicketEmpty, exitUsage, ask},
		{fleet.ErrTicketSyntax, exitUsage, "a ticket is the one long word that begins with fleet1 and that fleetd invite printed"},
		{fleet.ErrTicketDamaged, exitUsage, "copy the whole word that fleetd invite printed"},
		{fleet.ErrTicketVersion, exitUsage, "install the version of fleetd that the other machine has"},
		{fleet.ErrTicketUnknown, exitDenied, ask},
		{fleet.ErrTicketUsed, exitDenied, ask},
		{fleet.ErrTicketExpired, exitDenied, ask},
		{fleet.ErrProof, exitDenied, ask},
		{fleet.ErrNameTaken, exitConflict, "choose another --name; fleetd members on a machine of the fleet shows those in use"},
		{fleet.ErrNameFixed, exitDenied, "leave --name out: the ticket says the name"},
		{fleet.ErrRefused, exitDenied, ask},
		{fleet.ErrChain, exitDenied, ask},
	}
}

// plain is the text of an error without the names of the packages that it came
// through: people know commands, not packages. A name that is a key of the
// configuration too goes only where it begins the text.
func plain(err error) string {
	text := strings.TrimPrefix(": "+err.Error(), ": store")
	for _, name := range []string{"client", "node", "fleet", "state", "skillfs", "api"} {
		text = strings.ReplaceAll(text, ": "+name+": ", ": ")
	}
	return strings.TrimPrefix(text, ": ")
}
