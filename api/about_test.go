package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

func TestTheNodeIsAskedForWhatConcernsTheFleet(t *testing.T) {
	b := newBackend(t)
	b.probe = wire.Probe{Converged: true, Root: "00", Members: []wire.Answer{{Name: "lap", Answered: true, Equal: true}}}
	h := api.NewHandler(b, api.Config{Version: wire.Build{Version: "v1"}})
	status := decode[wire.Status](t, ask(t, h, "GET", "/v1/status", ""), http.StatusOK)
	if status.Verdict != "fine" || status.SchemaVersion != wire.SchemaVersion {
		t.Errorf("status %+v", status)
	}
	members := decode[wire.MemberList](t, ask(t, h, "GET", "/v1/members", ""), http.StatusOK)
	if diff := cmp.Diff(b.members, members.Members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	probe := decode[wire.Probe](t, ask(t, h, "POST", "/v1/probe", ""), http.StatusOK)
	b.probe.SchemaVersion = wire.SchemaVersion
	if diff := cmp.Diff(b.probe, probe); diff != "" {
		t.Errorf("probe (-want +got):\n%s", diff)
	}
	invitation := decode[wire.Invitation](t, ask(t, h, "POST", "/v1/invitations", `{"name":"lap","ttl_seconds":60,"uses":1,"can":["skill"],"scopes":[{"project":"p"}]}`), http.StatusCreated)
	want := api.InviteOptions{Name: "lap", TTL: time.Minute, Uses: 1, Can: []string{"skill"}, Scopes: []state.Scope{{Project: "p"}}}
	if diff := cmp.Diff(want, b.invited); diff != "" || invitation.Ticket == "" {
		t.Errorf("invited (-want +got):\n%s", diff)
	}
	build := decode[wire.Build](t, ask(t, h, "GET", "/v1/version", ""), http.StatusOK)
	if build.Version != "v1" || build.SchemaVersion != wire.SchemaVersion {
		t.Errorf("version %+v", build)
	}
	conflicts := decode[wire.ConflictList](t, ask(t, h, "GET", "/v1/conflicts", ""), http.StatusOK)
	if conflicts.Conflicts == nil || len(conflicts.Conflicts) != 0 {
		t.Errorf("conflicts %+v, want an empty list", conflicts)
	}
}

// timed notes how long members have to answer a probe.
type timed struct {
	*backend
	left time.Duration
}

func (b *timed) Probe(ctx context.Context) (wire.Probe, error) {
	deadline, _ := ctx.Deadline()
	b.left = time.Until(deadline)
	return b.backend.Probe(ctx)
}

// A client that waits for less than the members may take was told nothing.
func TestAProbeTakesNoLongerThanItsCallerWaits(t *testing.T) {
	b := &timed{backend: newBackend(t)}
	h := api.NewHandler(b, api.Config{})
	for query, most := range map[string]time.Duration{"": 5 * time.Second, "?timeout_ms=1500": 1500 * time.Millisecond, "?timeout_ms=90000": 5 * time.Second} {
		decode[wire.Probe](t, ask(t, h, "POST", "/v1/probe"+query, ""), http.StatusOK)
		if b.left > most || b.left < most/2 {
			t.Errorf("probe%s: members have %s, want %s", query, b.left, most)
		}
	}
	refused(t, ask(t, h, "POST", "/v1/probe?timeout_ms=soon", ""), wire.CodeBadRequest)
}
