package node

import (
	"context"
	"errors"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// ErrNotRunning is returned by what needs the network while Run does not run.
var ErrNotRunning = errors.New("node: not running")

// errNoAddress is why a member of which no address is known is not dialled.
var errNoAddress = errors.New("no address of it is known")

// Reaction is what an error of replication makes the node do.
type Reaction uint8

const (
	// Retry means that a transport or a machine had trouble; the same may work
	// later.
	Retry Reaction = iota
	// Score means that the peer broke the rules; what it sent is dropped and
	// counted against it.
	Score
	// Refuse means that the peer cannot be talked to, through no fault of either
	// side.
	Refuse
	// Stop means that this machine's disk is bad; nothing that it says can be
	// trusted.
	Stop
	// Ignore means that nothing happened that matters.
	Ignore
)

// ReactionTo is the one place that decides what follows from an error.
func ReactionTo(err error) Reaction {
	is := func(targets ...error) bool {
		for _, target := range targets {
			if errors.Is(err, target) {
				return true
			}
		}
		return false
	}
	switch {
	case err == nil, is(context.Canceled, store.ErrClosed, fleetsync.ErrUnknownMessage):
		return Ignore
	case is(store.ErrCorrupt, store.ErrFormat, store.ErrFailed):
		return Stop
	case is(fleetsync.ErrIncompatible):
		return Refuse
	case is(fleetsync.ErrMalformed, fleetsync.ErrTooLarge, fleetsync.ErrProtocol, merge.ErrMalformed, merge.ErrTooLarge,
		fleet.ErrMalformed, fleet.ErrForeign, hlc.ErrSyntax):
		return Score
	}
	return Retry
}
