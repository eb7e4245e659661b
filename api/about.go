package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/fleetsync/fleetd/api/wire"
)

// about serves what is about the node and its fleet.
type about struct {
	backend Backend
	version wire.Build
}

func (a about) status(r *http.Request) (reply, error) {
	if err := paramsOf(r).done(); err != nil {
		return reply{}, err
	}
	status, err := a.backend.Status(r.Context())
	if err != nil {
		return reply{}, err
	}
	status.SchemaVersion = wire.SchemaVersion
	return ok(status), nil
}

func (a about) members(r *http.Request) (reply, error) {
	if err := paramsOf(r).done(); err != nil {
		return reply{}, err
	}
	members, err := a.backend.Members(r.Context())
	if err != nil {
		return reply{}, err
	}
	return ok(wire.MemberList{SchemaVersion: wire.SchemaVersion, Members: members}), nil
}

func (a about) probe(r *http.Request) (reply, error) {
	p := paramsOf(r)
	timeout := probeTimeout
	if ms := p.count("timeout_ms"); ms > 0 && ms < int(probeTimeout.Milliseconds()) {
		timeout = time.Duration(ms) * time.Millisecond
	}
	if err := p.done(); err != nil {
		return reply{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	probe, err := a.backend.Probe(ctx)
	if err != nil {
		return reply{}, err
	}
	probe.SchemaVersion = wire.SchemaVersion
	return ok(probe), nil
}

func (a about) invite(w http.ResponseWriter, r *http.Request) (reply, error) {
	var in wire.InvitationRequest
	_, err := readBody(w, r, &in)
	if err := errors.Join(paramsOf(r).done(), err); err != nil {
		return reply{}, err
	}
	const ttlSecondsMax = 365 * 24 * 3600 // the node's bound is lower; this one keeps the product in range
	if in.TTLSeconds < 0 || in.TTLSeconds > ttlSecondsMax || in.Uses < 0 {
		return reply{}, newProblem(wire.CodeInvalid, "ttl_seconds and uses must be positive, and not longer than a year")
	}
	opts := InviteOptions{Name: in.Name, TTL: time.Duration(in.TTLSeconds) * time.Second, Uses: in.Uses, Can: in.Can}
	for _, scope := range in.Scopes {
		opts.Scopes = append(opts.Scopes, stateScope(scope))
	}
	invitation, err := a.backend.Invite(r.Context(), opts)
	if err != nil {
		return reply{}, err
	}
	invitation.SchemaVersion = wire.SchemaVersion
	return reply{status: http.StatusCreated, body: invitation}, nil
}

func (a about) conflicts(r *http.Request) (reply, error) {
	if err := paramsOf(r).done(); err != nil {
		return reply{}, err
	}
	found, err := a.backend.State().Conflicts(r.Context())
	if err != nil {
		return reply{}, err
	}
	list := wire.ConflictList{SchemaVersion: wire.SchemaVersion, Conflicts: []wire.Conflict{}}
	for _, c := range found {
		list.Conflicts = append(list.Conflicts, wireConflict(c))
	}
	return ok(list), nil
}

func (a about) versions(r *http.Request) (reply, error) {
	return ok(a.version), paramsOf(r).done()
}

// live answers as long as the process does: what else could fail has /readyz.
func (a about) live(*http.Request) (reply, error) {
	return health(wire.Check{Name: "http", OK: true}), nil
}

func (a about) ready(r *http.Request) (reply, error) {
	node := wire.Check{Name: "node", OK: true}
	if err := a.backend.Ready(r.Context()); err != nil {
		node.OK, node.Detail = false, err.Error()
	}
	storage := wire.Check{Name: "store", OK: true}
	if _, err := a.backend.State().SkillLibrary().Search(r.Context(), "", 1); err != nil {
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
