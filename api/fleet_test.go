package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

func TestConvergedNeedsAnAnswerAndNoDifference(t *testing.T) {
	equal := wire.Answer{Answered: true, Equal: true}
	differs := wire.Answer{Answered: true}
	silent := wire.Answer{}
	tests := map[string]struct {
		others []wire.Answer
		want   bool
	}{
		"a fleet of one":                   {nil, true},
		"all equal":                        {[]wire.Answer{equal, equal}, true},
		"one is silent, the rest is equal": {[]wire.Answer{silent, equal}, true},
		"nobody answers":                   {[]wire.Answer{silent, silent}, false},
		"one differs":                      {[]wire.Answer{equal, differs}, false},
		"one differs, one is silent":       {[]wire.Answer{differs, silent}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := api.Converged(test.others); got != test.want {
				t.Errorf("converged %t, want %t", got, test.want)
			}
		})
	}
}

func TestTheVerdictNamesWhoIsBehind(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	ago := func(d time.Duration) *time.Time {
		at := now.Add(-d)
		return &at
	}
	self := wire.Member{Name: "desk", State: wire.StateSelf}
	inSync := wire.Member{Name: "lap", State: wire.StateInSync}
	tests := map[string]struct {
		members []wire.Member
		inSync  bool
		want    string
	}{
		"alone":     {[]wire.Member{self}, true, "in sync: this node is the whole fleet"},
		"all equal": {[]wire.Member{self, inSync, inSync}, true, "in sync with 2 of 2 members"},
		"one offline": {
			[]wire.Member{self, inSync, {Name: "box", State: wire.StateOffline, Since: ago(3 * time.Hour)}},
			false, "in sync with 1 of 2 members: box is offline since 3 h",
		},
		"one behind, both ways": {
			[]wire.Member{self, {Name: "box", State: wire.StateSyncing, Behind: 4, Lacks: 2, Since: ago(90 * time.Second)}},
			false, "in sync with 0 of 1 members: box is not equal yet since 90 s, this node lacks up to 4 of its versions, it lacks 2 versions",
		},
		"many offline": {
			[]wire.Member{
				{Name: "a", State: wire.StateOffline},
				{Name: "b", State: wire.StateOffline},
				{Name: "c", State: wire.StateOffline},
				{Name: "d", State: wire.StateOffline},
			},
			false, "in sync with 0 of 4 members: a is offline; b is offline; c is offline; and 1 more",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, text := api.Verdict(test.members, now)
			if got != test.inSync || text != test.want {
				t.Errorf("%t %q, want %t %q", got, text, test.inSync, test.want)
			}
		})
	}
}

func TestTheNodeIsAskedForWhatConcernsTheFleet(t *testing.T) {
	b := newBackend(t)
	b.answers = []wire.Answer{{Name: "lap", Answered: true, Equal: true}}
	h := api.NewHandler(b, api.Config{Version: wire.Build{Version: "v1"}})
	status := decode[wire.Status](t, ask(t, h, "GET", "/v1/status", ""), http.StatusOK)
	if !status.InSync || status.Verdict == "" || status.SchemaVersion != wire.SchemaVersion {
		t.Errorf("status %+v", status)
	}
	members := decode[wire.MemberList](t, ask(t, h, "GET", "/v1/members", ""), http.StatusOK)
	if diff := cmp.Diff(b.members, members.Members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	probe := decode[wire.Probe](t, ask(t, h, "POST", "/v1/probe", ""), http.StatusOK)
	if !probe.Converged {
		t.Errorf("probe %+v, want converged", probe)
	}
	invitation := decode[wire.Invitation](t, ask(t, h, "POST", "/v1/invitations", `{"name":"lap","ttl_seconds":60,"uses":1}`), http.StatusCreated)
	if want := (api.InviteOptions{Name: "lap", TTL: time.Minute, Uses: 1}); b.invited != want || invitation.Ticket == "" {
		t.Errorf("invited %+v, want %+v", b.invited, want)
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
