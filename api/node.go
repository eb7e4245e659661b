package api

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
)

// ForNode returns the backend of a node, which the caller runs and closes.
func ForNode(n *node.Node) Backend { return nodeBackend{n} }

// nodeBackend shows a node in the shapes of package wire.
type nodeBackend struct{ node *node.Node }

func (b nodeBackend) State() state.Replica { return b.node.State() }

func (b nodeBackend) Status(ctx context.Context) (wire.Status, error) {
	st, err := b.node.Status(ctx)
	if err != nil {
		return wire.Status{}, nodeProblem(err)
	}
	w := wire.Status{
		InSync: st.InSync, Verdict: st.Verdict,
		ID: st.ID.String(), Name: st.Name, Fleet: hex.EncodeToString(st.Fleet[:]),
		Records: st.Records, Root: st.Root, Conflicts: st.Conflicts, Parked: st.Parked,
		Addresses: append([]string{}, st.Addrs...), Store: b.node.State().Name(),
		Members: wireMembers(st.Members), WantedBlobs: st.WantedBlobs, Held: st.Held,
	}
	for reason, n := range st.ParkedFor {
		if w.ParkedFor == nil {
			w.ParkedFor = map[string]int{}
		}
		w.ParkedFor[reason.String()] = n
	}
	return w, nil
}

func (b nodeBackend) Members(ctx context.Context) ([]wire.Member, error) {
	members, err := b.node.Members(ctx)
	if err != nil {
		return nil, nodeProblem(err)
	}
	return wireMembers(members), nil
}

func (b nodeBackend) NameOf(instanceID string) string {
	id, err := merge.ParseInstanceID(instanceID)
	if err != nil {
		return ""
	}
	return b.node.NameOf(id)
}

func wireMembers(members []node.Member) []wire.Member {
	list := make([]wire.Member, 0, len(members))
	for i := range members {
		m := &members[i]
		w := wire.Member{
			ID: m.ID.String(), Name: m.Name, Role: m.Role.String(), State: strings.ReplaceAll(string(m.State), " ", "_"),
			Told: m.IsTold, Behind: m.Lacks, Ahead: m.Behind, Why: m.Why, Addresses: append([]string{}, m.Addrs...),
		}
		addRights(&w, &m.Rights)
		if !m.Since.IsZero() {
			since := m.Since.UTC()
			w.Since = &since
		}
		if p := m.Progress; p != nil {
			w.Progress = &wire.Progress{
				Family: p.Section.Family, Scope: wireScope(p.Section.Scope), Received: p.Received, Expected: p.Expected, Join: p.Join,
			}
		}
		list = append(list, w)
	}
	return list
}

func (b nodeBackend) Probe(ctx context.Context) (wire.Probe, error) {
	p, err := b.node.Probe(ctx)
	if err != nil {
		return wire.Probe{}, nodeProblem(err)
	}
	w := wire.Probe{Converged: p.Converged(), Root: p.Root, Members: make([]wire.Answer, 0, len(p.Members))}
	for _, a := range p.Members {
		w.Members = append(w.Members, wire.Answer{ID: a.ID.String(), Name: a.Name, Answered: a.Answered, Equal: a.Equal, Why: a.Why})
	}
	return w, nil
}

func (b nodeBackend) Invite(ctx context.Context, opts InviteOptions) (wire.Invitation, error) {
	cfg := fleet.InvitationConfig{Name: opts.Name, Capabilities: opts.Can, Scopes: opts.Scopes, TTL: opts.TTL, Uses: opts.Uses}
	if opts.Admin {
		cfg.Role = fleet.RoleAdmin
	}
	invited, err := b.node.Invite(ctx, cfg)
	if err != nil {
		return wire.Invitation{}, nodeProblem(err)
	}
	return wire.Invitation{
		Ticket: invited.Ticket, Name: invited.Name, Uses: invited.Uses, ExpiresAt: invited.Expires.UTC(),
		Addresses: append([]string{}, invited.Addrs...),
	}, nil
}

func (b nodeBackend) Checks(ctx context.Context) []wire.Check {
	var checks []wire.Check
	for _, c := range b.node.Checks(ctx) {
		check := wire.Check{Name: string(c.Name), OK: c.Err == nil}
		if !check.OK {
			check.Detail = c.Err.Error()
		}
		checks = append(checks, check)
	}
	return checks
}

// nodeProblem gives the errors that a node is known to return their code.
func nodeProblem(err error) error {
	for _, k := range []struct {
		sentinel error
		code     wire.Code
	}{
		{node.ErrDenied, wire.CodeDenied},
		{node.ErrNotRunning, wire.CodeUnavailable},
		{node.ErrBanned, wire.CodeConflict},
		{node.ErrRange, wire.CodeInvalid},
		{node.ErrNoVersion, wire.CodeNotFound},
		{node.ErrNotWithdrawable, wire.CodeInvalid},
		{node.ErrNoMember, wire.CodeNotFound},
		{node.ErrInvitations, wire.CodeUnavailable},
		{node.ErrConfig, wire.CodeInvalid},
		{fleet.ErrName, wire.CodeInvalid},
		{fleet.ErrMalformed, wire.CodeInvalid},
	} {
		if errors.Is(err, k.sentinel) {
			return newProblem(k.code, detailOf(err, k.sentinel))
		}
	}
	return err
}
