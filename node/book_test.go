package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fleetsync/fleetd/node"
)

func TestTheAddressBookKeepsWhatCanBeDialled(t *testing.T) {
	got := node.CleanAddrs([]string{
		"/ip4/192.0.2.1/tcp/4001", "/ip4/0.0.0.0/tcp/4001", "nonsense",
		"/ip4/192.0.2.1/tcp/4001/p2p/12D3KooWGweod1BcYdJdK4VDDSAux4zhauyMfEY6zTZuHxw7s2rB",
		"/ip4/192.0.2.1/udp/4001/quic-v1", "/ip6/::/tcp/4001", "/dns4/" + strings.Repeat("a", 300) + "/tcp/1",
	})
	want := []string{"/ip4/192.0.2.1/tcp/4001", "/ip4/192.0.2.1/udp/4001/quic-v1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("/ip4/192.0.2.1/tcp/%d", i+1))
	}
	if got := node.CleanAddrs(many); len(got) != 16 {
		t.Errorf("it keeps %d addresses of one member", len(got))
	}
}

// Since when a member is offline stands in the address book: a restart of this node,
// while the member stays away, loses at most the minute by which the book may lag.
func TestARestartKeepsSinceWhenAMemberIsOffline(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	b := f.join(a, "b")
	f.converge(a, b)
	b.stop()
	offline := func(m *node.Node) (got node.Member) {
		status, err := m.Status(t.Context())
		if err != nil || len(status.Members) != 2 {
			t.Fatalf("status: %+v, %v", status, err)
		}
		return status.Members[1]
	}
	f.eventually("a sees that b is gone", []*member{a}, func() bool { return !a.Connected(peer.ID(b.ID())) && offline(a.Node).State == node.MemberOffline })
	before := offline(a.Node).Since
	a.stop()

	apart, err := node.New(t.Context(), f.config(a.dir))
	if err != nil {
		t.Fatal(err)
	}
	still := offline(apart)
	if err := apart.Close(); err != nil {
		t.Fatal(err)
	}
	back := offline(f.start(a.dir).Node)
	for what, got := range map[string]node.Member{"before it runs": still, "running again": back} {
		if got.State != node.MemberOffline || got.Since.IsZero() || got.Since.After(before) || before.Sub(got.Since) > time.Minute {
			t.Errorf("%s, b is %s since %s (%s); before the restart it was offline since %s", what, got.State, got.Since, got.Why, before)
		}
	}
}
