package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// about serves what is about the node and its fleet.
type about struct {
	backend Backend
	version wire.Build
	// openapi returns the description of the API.
	openapi func() []byte
}

func (a about) register(h *handler) {
	const small = "A fleet has few members, so the list has no pages."
	register(h, operation{route: "GET /v1/status", id: "get-status", tag: "fleet", summary: "What this node knows, without asking anybody"}, a.status)
	register(h, operation{
		route: "POST /v1/probe", id: "probe", tag: "fleet", summary: "What every member answers now", text: small,
	}, a.probe)
	register(h, operation{
		route: "POST /v1/verify", id: "verify", tag: "fleet", summary: "Prove the node's own store",
	}, a.verify)
	register(h, operation{
		route: "POST /v1/compare", id: "compare", tag: "fleet", summary: "Where members differ, version by version", text: small,
		codes: []wire.Code{wire.CodeNotFound},
	}, a.compare)
	register(h, operation{
		route: "POST /v1/invitations", id: "invite", tag: "fleet", summary: "Open an invitation",
		text: "Whoever holds its ticket may join.", status: http.StatusCreated, codes: []wire.Code{wire.CodeClock, wire.CodeDiskFull},
	}, a.invite)
	register(h, operation{route: "GET /v1/version", id: "get-version", tag: "daemon", summary: "Which build answers"}, a.versions)
	register(h, operation{
		route: "GET /livez", id: "live", tag: "daemon", summary: "Whether the process lives", responses: unhealthy(),
	}, a.live)
	register(h, operation{
		route: "GET /readyz", id: "ready", tag: "daemon", summary: "Whether the node serves", responses: unhealthy(),
	}, a.ready)
	register(h, operation{
		route: "GET /openapi.json", id: "describe", tag: "daemon", summary: "This description",
		responses: map[string]*huma.Response{"200": {
			Description: "An OpenAPI document.",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}},
		}},
	}, a.describe)
}

// unhealthy documents the one reply that is not 2xx and no problem.
func unhealthy() map[string]*huma.Response {
	return map[string]*huma.Response{"503": {
		Description: "A check failed.",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: schemaPrefix + "Health"}}},
	}}
}

type statusOutput struct{ Body wire.Status }

func (a about) status(ctx context.Context, _ *struct{}) (*statusOutput, error) {
	status, err := a.backend.Status(ctx)
	if err != nil {
		return nil, err
	}
	status.SchemaVersion = wire.SchemaVersion
	return &statusOutput{status}, nil
}

type probeInput struct {
	TimeoutMS int `query:"timeout_ms" minimum:"1" doc:"How long members may take to answer, in milliseconds; at most, and when absent, 5000."`
}

type probeOutput struct{ Body wire.Probe }

func (a about) probe(ctx context.Context, in *probeInput) (*probeOutput, error) {
	timeout := probeTimeout
	if in.TimeoutMS > 0 && in.TimeoutMS < int(probeTimeout.Milliseconds()) {
		timeout = time.Duration(in.TimeoutMS) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	probe, err := a.backend.Probe(ctx)
	if err != nil {
		return nil, err
	}
	probe.SchemaVersion = wire.SchemaVersion
	return &probeOutput{probe}, nil
}

type inviteInput struct{ Body wire.InvitationRequest }

type inviteOutput struct{ Body wire.Invitation }

func (a about) invite(ctx context.Context, in *inviteInput) (*inviteOutput, error) {
	const ttlSecondsMax = 365 * 24 * 3600 // the node's bound is lower; this one keeps the product in range
	if in.Body.TTLSeconds < 0 || in.Body.TTLSeconds > ttlSecondsMax || in.Body.Uses < 0 {
		return nil, newProblem(wire.CodeInvalid, "ttl_seconds and uses must be positive, and not longer than a year")
	}
	opts := InviteOptions{Name: in.Body.Name, TTL: time.Duration(in.Body.TTLSeconds) * time.Second, Uses: in.Body.Uses, Can: in.Body.Can, Admin: in.Body.Admin}
	for _, scope := range in.Body.Scopes {
		opts.Scopes = append(opts.Scopes, stateScope(scope))
	}
	invitation, err := a.backend.Invite(ctx, opts)
	if err != nil {
		return nil, err
	}
	invitation.SchemaVersion = wire.SchemaVersion
	return &inviteOutput{invitation}, nil
}

type versionOutput struct{ Body wire.Build }

func (a about) versions(context.Context, *struct{}) (*versionOutput, error) {
	return &versionOutput{a.version}, nil
}

type describeOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (a about) describe(context.Context, *struct{}) (*describeOutput, error) {
	return &describeOutput{"application/json", a.openapi()}, nil
}

type healthOutput struct {
	Status int
	Body   wire.Health
}

// live answers as long as the process does: what else could fail has /readyz.
func (a about) live(context.Context, *struct{}) (*healthOutput, error) {
	return health(wire.Check{Name: "http", OK: true}), nil
}

func (a about) ready(ctx context.Context, _ *struct{}) (*healthOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, checksTimeout)
	defer cancel()
	storage := wire.Check{Name: wire.CheckStore, OK: true}
	if _, _, err := a.backend.State().SkillLibrary().Page(ctx, state.SkillPage{Limit: 1}); err != nil {
		storage.OK, storage.Detail = false, err.Error()
	}
	return health(append(a.backend.Checks(ctx), storage)...), nil
}

func health(checks ...wire.Check) *healthOutput {
	out := &healthOutput{Status: http.StatusOK, Body: wire.Health{SchemaVersion: wire.SchemaVersion, OK: true, Checks: checks}}
	for _, c := range checks {
		out.Body.OK = out.Body.OK && c.OK
	}
	if !out.Body.OK {
		out.Status = http.StatusServiceUnavailable
	}
	return out
}
