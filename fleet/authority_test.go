package fleet_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// begin is the time at which every test starts.
const begin = int64(1_790_000_000_000)

// at returns the stamp some milliseconds after begin.
func at(ms int64) hlc.Timestamp { return hlc.Timestamp{Wall: begin + ms} }

func timeAt(ms int64) time.Time { return time.UnixMilli(begin + ms).UTC() }

// newIdentity returns the identity number n: always the same one.
func newIdentity(t testing.TB, n byte) fleet.Identity {
	t.Helper()
	id, err := fleet.NewIdentity(rand.NewChaCha8([32]byte{n}))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// grant seals a grant and fails the test when that is not possible.
func grant(t testing.TB, f merge.FleetID, issuer fleet.Identity, g fleet.Grant, stamp hlc.Timestamp) *merge.Record {
	t.Helper()
	rec, err := fleet.SealGrant(f, issuer, g, stamp)
	if err != nil {
		t.Fatal(err)
	}
	return &rec
}

func TestFounderBecomesAdminAndInvitesAMember(t *testing.T) {
	root, founder, joiner := newIdentity(t, 1), newIdentity(t, 2), newIdentity(t, 3)
	f := fleet.FleetIDOf(root.Public())
	a := fleet.NewAuthority(f)
	founding := grant(t, f, root, fleet.Grant{Member: founder.ID(), Name: "desk", Role: fleet.RoleAdmin}, at(0))
	if changed, err := a.Learn(founding); !changed || err != nil {
		t.Fatalf("learn the founder's grant: %v, %v", changed, err)
	}
	inv, err := fleet.NewInvitation(fleet.InvitationConfig{}, timeAt(0), rand.NewChaCha8([32]byte{9}))
	if err != nil {
		t.Fatal(err)
	}
	ticket, err := inv.Ticket([]string{"/ip4/192.168.1.7/tcp/4101"}, founder.ID(), f)
	if err != nil {
		t.Fatal(err)
	}
	ticket, err = fleet.ParseTicket(ticket.String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := inv.Redeem(fleet.Redemption{
		Request: fleet.NewJoinRequest(ticket, joiner.ID(), "laptop"),
		Joiner:  joiner.ID(), Inviter: founder.ID(), Fleet: f, Now: timeAt(60_000),
		Taken: func(name string) bool { _, taken := a.ByName(name); return taken },
		Seal:  func(g fleet.Grant) (merge.Record, error) { return fleet.SealGrant(f, founder, g, at(60_000)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := merge.Decode(accepted.Statement)
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := a.Learn(&rec); !changed || err != nil {
		t.Fatalf("learn the joiner's grant: %v, %v", changed, err)
	}
	joined, err := fleet.VerifyChain(accepted.Reply(a.Chain(&rec)), ticket, joiner.ID(), "laptop")
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := joined.ByName("desk"); !ok || m.ID != founder.ID() || m.Role != fleet.RoleAdmin {
		t.Errorf("the joiner knows %+v as desk", m)
	}
	if m, ok := joined.Member(joiner.ID()); !ok || m.Name != "laptop" || m.Role != fleet.RoleMember {
		t.Errorf("the joiner knows itself as %+v", m)
	}
}
