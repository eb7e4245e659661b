package main

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/store"
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

// explain finds code and advice for an error of the packages below.
func (a *app) explain(err error) *failure {
	var known *failure
	var problem *wire.Problem
	switch {
	case errors.Is(err, context.Canceled): // whatever else came of it
		return &failure{text: "interrupted", code: exitError, kind: kindInterrupted}
	case errors.As(err, &known):
		return known
	case errors.As(err, &problem):
		return explainProblem(problem)
	case errors.Is(err, node.ErrAlreadyInitialised), errors.Is(err, node.ErrNotInitialised):
		return a.explainDir(err)
	case errors.Is(err, client.ErrNotRunning):
		return a.notRunning()
	case errors.Is(err, client.ErrLost):
		return &failure{text: plain(err), code: exitNotRunning, next: "look at its log; a write may or may not have been done, so read before you repeat it"}
	case errors.Is(err, errNotConverged):
		return &failure{text: plain(err), code: exitNotConverged}
	case errors.Is(err, fs.ErrPermission):
		return &failure{text: plain(err), code: exitDenied, next: "the data directory belongs to another user: use your own --dir"}
	}
	for _, known := range knownErrors() {
		if errors.Is(err, known.sentinel) {
			return &failure{text: plain(err), code: known.code, next: known.next}
		}
	}
	return &failure{text: plain(err), code: exitError}
}

// explainProblem finds exit code and advice for what the daemon refused.
func explainProblem(p *wire.Problem) *failure {
	f := &failure{text: p.Error(), code: exitError, kind: string(p.Code)}
	switch p.Code {
	case wire.CodeInvalid, wire.CodeBadRequest:
		f.code = exitUsage // the text says it
	case wire.CodeMediaType, wire.CodeUnauthorized: // the text says it
	case wire.CodeNotFound:
		f.code, f.next = exitNotFound, "the list command shows what there is; a scope is exact"
	case wire.CodeConflict:
		f.code, f.next = exitConflict, "somebody else wrote in between: read it again, then repeat"
	case wire.CodeAmbiguous:
		f.code, f.next = exitUsage, `name the scope with --project, --workspace or --instance; --project "" is the global one`
	case wire.CodeDenied:
		f.code, f.next = exitDenied, deniedAdvice(p.Detail)
	case wire.CodeTooLarge:
		f.code, f.next = exitUsage, "a text holds 8 MiB, and all other fields of a record 64 KiB together: shorten it, or make several"
	case wire.CodeIncomplete:
		f.code, f.next = exitNotConverged, "bring a machine online that has it: fleetd members says who is offline; then repeat it"
	case wire.CodeDiskFull:
		f.next = fullAdvice
	case wire.CodeClock:
		f.next = clockAdvice
	case wire.CodeNoRoute, wire.CodeMethod:
		f.next = "the daemon is of another version: restart it with this one"
	case wire.CodeInternal, wire.CodeTimeout, wire.CodeUnavailable:
		f.next = "look at the daemon's log"
	}
	return f
}

// fullAdvice says what to do about a full disk.
const fullAdvice = "free some space on the disk of the data directory, then repeat it; a running daemon goes on by itself"

// clockAdvice says what to do about a clock.
const clockAdvice = "set the clock of this machine; if it is right, it was ahead before, and writes go on when time has caught up"

// deniedAdvice says what to do about a refusal. Other users of the machine are
// refused too, and for them there is no grant to ask for.
func deniedAdvice(detail string) string {
	if !strings.Contains(detail, "for a grant") {
		return ""
	}
	return "the grant of this machine does not allow it; today another grant comes with a new ticket alone: " +
		"fleetd invite --can ... on the machine that began the fleet, and fleetd join here with another --dir"
}

// knownError is an error of a package below, as people meet it.
type knownError struct {
	sentinel error
	code     int
	next     string
}

func knownErrors() []knownError {
	const ask = "ask for a new ticket: fleetd invite on the machine that began the fleet"
	return []knownError{
		{store.ErrFull, exitError, fullAdvice},
		{syscall.ENOSPC, exitError, fullAdvice},
		{node.ErrNotClosed, exitError, "look at the disk of the data directory; what was acknowledged is on it as far as it kept it, and fleetd verify says whether that agrees"},
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
		{fleet.ErrBanned, exitDenied, "join with a new data directory, which makes a new key"},
		{fleet.ErrNameTaken, exitConflict, "choose another --name; fleetd members on a machine of the fleet shows those in use"},
		{fleet.ErrNameFixed, exitDenied, "leave --name out: the ticket says the name"},
		{fleet.ErrClock, exitError, "set the clock that is wrong, then join again: the ticket is still good"},
		{fleet.ErrRefused, exitDenied, ask},
		{fleet.ErrChain, exitDenied, ask},
	}
}

// plain is the text of an error without the names of the packages that it came
// through: people know commands, not packages. A name that is a key of the
// configuration too goes only where it begins the text.
func plain(err error) string {
	text := strings.TrimPrefix(": "+err.Error(), ": store")
	for _, name := range []string{"client", "node", "fleet", "state", "skillfs", "api", "hlc", "sync"} {
		text = strings.ReplaceAll(text, ": "+name+": ", ": ")
	}
	return strings.TrimPrefix(text, ": ")
}
