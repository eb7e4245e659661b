package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/node"
)

// openNode returns a node that has begun a fleet as desk and does not run.
func openNode(t *testing.T) *node.Node {
	t.Helper()
	dir := t.TempDir()
	made, err := node.Init(t.Context(), node.InitConfig{Dir: dir, Name: "desk", Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	cfg := node.DefaultConfig()
	cfg.Dir = made.Dir
	n, err := node.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func TestANodeWithoutANetworkServesItsStateAndSaysSo(t *testing.T) {
	n := openNode(t)
	h := api.NewHandler(api.ForNode(n), api.Config{})
	decode[wire.MemoryReply](t, ask(t, h, "POST", "/v1/memory", `{"content":"x"}`), http.StatusCreated)
	status := decode[wire.Status](t, ask(t, h, "GET", "/v1/status", ""), http.StatusOK)
	if status.Name != "desk" || status.ID != n.ID().String() || status.Store != "badger" || status.Records != 2 || !status.InSync {
		t.Errorf("status %+v, want desk's, in sync, with its grant and one item", status)
	}
	members := decode[wire.MemberList](t, ask(t, h, "GET", "/v1/members", ""), http.StatusOK)
	if len(members.Members) != 1 || members.Members[0].State != wire.StateSelf || members.Members[0].Role != "admin" {
		t.Errorf("members %+v, want desk alone", members)
	}
	refused(t, ask(t, h, "POST", "/v1/probe", ""), wire.CodeUnavailable)
	refused(t, ask(t, h, "POST", "/v1/invitations", `{}`), wire.CodeUnavailable)
	health := decode[wire.Health](t, ask(t, h, "GET", "/readyz", ""), http.StatusServiceUnavailable)
	ok := map[string]bool{}
	for _, c := range health.Checks {
		ok[c.Name] = c.OK
		if c.OK == (c.Detail != "") {
			t.Errorf("check %+v, want a reason just when it fails", c)
		}
	}
	want := map[string]bool{wire.CheckNode: false, wire.CheckNetwork: false, wire.CheckWrites: true, wire.CheckClock: true, wire.CheckStore: true}
	if diff := cmp.Diff(want, ok); diff != "" || health.OK {
		t.Errorf("readiness %t, checks (-want +got):\n%s", health.OK, diff)
	}
}
