package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/fleetsync/fleetd/api/wire"
)

// fleet serves what is about the node and its fleet.
type fleet struct {
	backend Backend
	version wire.Build
}

func (f fleet) status(r *http.Request) (reply, error) {
	if err := paramsOf(r).done(); err != nil {
		return reply{}, err
	}
	status, err := f.backend.Status(r.Context())
	if err != nil {
		return reply{}, err
	}
	status.SchemaVersion = wire.SchemaVersion
	status.InSync, status.Verdict = verdict(status.Members, time.Now())
	return ok(status), nil
}

func (f fleet) members(r *http.Request) (reply, error) {
	if err := paramsOf(r).done(); err != nil {
		return reply{}, err
	}
	status, err := f.backend.Status(r.Context())
	if err != nil {
		return reply{}, err
	}
	return ok(wire.MemberList{SchemaVersion: wire.SchemaVersion, Members: status.Members}), nil
}

func (f fleet) probe(r *http.Request) (reply, error) {
	if err := paramsOf(r).done(); err != nil {
		return reply{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
	defer cancel()
	probe, err := f.backend.Probe(ctx)
	if err != nil {
		return reply{}, err
	}
	probe.SchemaVersion = wire.SchemaVersion
	probe.Converged = converged(probe.Members)
	return ok(probe), nil
}

// converged is the rule of `fleetd wait converged`: at least one other member
// answered and all that answered are equal, or there is no other member.
func converged(others []wire.Answer) bool {
	answered := 0
	for _, a := range others {
		switch {
		case !a.Answered:
		case !a.Equal:
			return false
		default:
			answered++
		}
	}
	return answered > 0 || len(others) == 0
}

func (f fleet) invite(w http.ResponseWriter, r *http.Request) (reply, error) {
	var in wire.InvitationRequest
	if err := errors.Join(paramsOf(r).done(), readBody(w, r, &in)); err != nil {
		return reply{}, err
	}
	const ttlSecondsMax = 365 * 24 * 3600 // the node's bound is lower; this one keeps the product in range
	if in.TTLSeconds < 0 || in.TTLSeconds > ttlSecondsMax || in.Uses < 0 {
		return reply{}, newProblem(wire.CodeInvalid, "ttl_seconds and uses must be positive, and not longer than a year")
	}
	opts := InviteOptions{Name: in.Name, TTL: time.Duration(in.TTLSeconds) * time.Second, Uses: in.Uses}
	invitation, err := f.backend.Invite(r.Context(), opts)
	if err != nil {
		return reply{}, err
	}
	invitation.SchemaVersion = wire.SchemaVersion
	return reply{status: http.StatusCreated, body: invitation}, nil
}

func (f fleet) conflicts(r *http.Request) (reply, error) {
	if err := paramsOf(r).done(); err != nil {
		return reply{}, err
	}
	found, err := f.backend.State().Conflicts(r.Context())
	if err != nil {
		return reply{}, err
	}
	list := wire.ConflictList{SchemaVersion: wire.SchemaVersion, Conflicts: []wire.Conflict{}}
	for _, c := range found {
		list.Conflicts = append(list.Conflicts, wireConflict(c))
	}
	return ok(list), nil
}

func (f fleet) versions(r *http.Request) (reply, error) {
	return ok(f.version), paramsOf(r).done()
}

// live answers as long as the process does: what else could fail has /readyz.
func (f fleet) live(*http.Request) (reply, error) {
	return health(wire.Check{Name: "http", OK: true}), nil
}

func (f fleet) ready(r *http.Request) (reply, error) {
	node := wire.Check{Name: "node", OK: true}
	if err := f.backend.Ready(r.Context()); err != nil {
		node.OK, node.Detail = false, err.Error()
	}
	storage := wire.Check{Name: "store", OK: true}
	if _, err := f.backend.State().SkillLibrary().Search(r.Context(), "", 1); err != nil {
		storage.OK, storage.Detail = false, err.Error()
	}
	return health(node, storage), nil
}

func health(checks ...wire.Check) reply {
	h := wire.Health{SchemaVersion: wire.SchemaVersion, OK: true, Checks: checks}
	for _, c := range checks {
		h.OK = h.OK && c.OK
	}
	if !h.OK {
		return reply{status: http.StatusServiceUnavailable, body: h}
	}
	return ok(h)
}
