package node_test

import (
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/node"
)

// TestABannedOrSucceededKeyIsUnwelcome learns what root and a member state of
// keys that would like to be connected, and to join.
func TestABannedOrSucceededKeyIsUnwelcome(t *testing.T) {
	a := newFixture(t, nil).found("a")
	root, err := node.ReadKey(filepath.Join(a.dir, "root.key"))
	if err != nil {
		t.Fatal(err)
	}
	var keys [3]fleet.Identity
	for i := range keys {
		if keys[i], err = fleet.NewIdentity(rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	banned, old, next := keys[0], keys[1], keys[2]
	stamp := hlc.Timestamp{Wall: time.Now().UnixMilli() - 1000}
	learn := func(rec merge.Record, err error) {
		t.Helper()
		if err != nil || !a.LearnStatement(&rec) {
			t.Fatalf("not learnt: %v", err)
		}
	}
	for name, key := range map[string]fleet.Identity{"b": banned, "c": old} {
		learn(fleet.SealGrant(a.Fleet(), root, fleet.Grant{Member: key.ID(), Name: name, Role: fleet.RoleMember}, stamp))
		if a.Unwelcome(peer.ID(key.ID())) {
			t.Fatalf("%s is not welcome", name)
		}
	}
	stamp.Wall++
	learn(fleet.SealBan(a.Fleet(), root, fleet.Ban{Writer: banned.ID(), From: stamp}, stamp))
	learn(fleet.SealGrant(a.Fleet(), old, fleet.Grant{Member: next.ID(), Name: "c", Role: fleet.RoleSuccessor}, stamp))
	for what, c := range map[string]struct {
		key       fleet.Identity
		unwelcome bool
	}{"banned": {banned, true}, "succeeded": {old, true}, "the successor": {next, false}} {
		if got := a.Unwelcome(peer.ID(c.key.ID())); got != c.unwelcome {
			t.Errorf("%s: unwelcome %v", what, got)
		}
	}

	ticket, err := fleet.ParseTicket(a.ticket(fleet.InvitationConfig{}))
	if err != nil {
		t.Fatal(err)
	}
	request := fleet.NewJoinRequest(ticket, banned.ID(), "again")
	b, err := request.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if reply := a.AnswerJoin(t.Context(), b, banned.ID()); reply.Status != fleet.JoinBanned {
		t.Errorf("a banned key that joins is told status %d, %v", reply.Status, reply.Err())
	}
}
