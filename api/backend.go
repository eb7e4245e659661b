package api

import (
	"context"
	"time"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
)

// Backend is the node that the API serves. It is safe for concurrent use. Its
// errors are a *wire.Problem, or one of package state or context; any other is
// a fault of the daemon.
type Backend interface {
	// State is the node's copy of what the fleet knows.
	State() state.Replica
	// Status tells what the node knows without asking anybody.
	Status(ctx context.Context) (wire.Status, error)
	// NameOf returns the name of the member of an instance id; empty for who is
	// none. It asks nobody.
	NameOf(instanceID string) string
	// Members lists all members, the node included, by name, those that belong to
	// the fleet no more too.
	Members(ctx context.Context) ([]wire.Member, error)
	// Probe asks every other member for its root, and waits for each answer as
	// long as ctx allows at most.
	Probe(ctx context.Context) (wire.Probe, error)
	// Verify proves the node's own store.
	Verify(ctx context.Context) (wire.Verification, error)
	// Compare compares exactly with the members of these names or ids, with all
	// others when there are none, as long as ctx allows.
	Compare(ctx context.Context, members []string) (wire.Comparison, error)
	// Invite opens an invitation.
	Invite(ctx context.Context, opts InviteOptions) (wire.Invitation, error)
	// Ban revokes a member, or voids a range of what it wrote.
	Ban(ctx context.Context, opts BanOptions) (wire.Ban, error)
	// Withdraw takes a version of a skill back; Head is left to the caller.
	Withdraw(ctx context.Context, opts WithdrawOptions) (wire.Withdrawal, error)
	// Checks tells of each thing that the node needs to serve its fleet whether it
	// has it, as long as ctx allows: wire.CheckNode, CheckNetwork, CheckWrites and
	// CheckClock.
	Checks(ctx context.Context) []wire.Check
}

// BanOptions are the choices of a ban.
type BanOptions = node.BanRequest

// WithdrawOptions name a version of a skill.
type WithdrawOptions = node.WithdrawRequest

// InviteOptions are the choices of an invitation; zero values are defaults, and
// Can as in wire.InvitationRequest.
type InviteOptions struct {
	Name   string
	TTL    time.Duration
	Uses   int
	Can    []string
	Scopes []state.Scope
	// Admin makes the joiner an admin.
	Admin bool
}
