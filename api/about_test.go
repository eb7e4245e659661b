package api_test

import (
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
