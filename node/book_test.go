package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
