package fleet_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

func TestFounderInvitesAndTheJoinerVerifiesOffline(t *testing.T) {
	s := newSmall(t)
	joiner := newIdentity(t, 5).ID()
	inv := invite(t, fleet.InvitationConfig{})
	accepted, err := inv.Redeem(s.redemption(t, &inv, joiner, "tablet"))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := merge.Decode(accepted.Statement)
	if err != nil {
		t.Fatal(err)
	}
	learn(t, s.authority, &rec)
	reply := accepted.Reply(s.authority.Chain(&rec))
	sent, err := reply.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	received, err := fleet.DecodeJoinReply(sent)
	if err != nil {
		t.Fatal(err)
	}
	ticket, err := inv.Ticket(nil, s.admin.ID(), s.fleet)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tablet", ""} {
		a, err := fleet.VerifyChain(received, ticket, joiner, name)
		if err != nil {
			t.Fatal(err)
		}
		var known []string
		for _, m := range a.Members() {
			known = append(known, m.Name+", "+m.Role.String())
		}
		if diff := cmp.Diff([]string{"desk, admin", "tablet, member"}, known); diff != "" {
			t.Errorf("members that the joiner knows (-want +got):\n%s", diff)
		}
	}
}

// TestVerifyChainRefuses is what a joiner is told by a false inviter, or by
// somebody between.
func TestVerifyChainRefuses(t *testing.T) {
	s, ticket := newSmall(t), vectorTicket(t)
	self, stranger := s.member.ID(), newIdentity(t, 9)
	foreignRoot := newIdentity(t, 30)
	foreign := fleet.FleetIDOf(foreignRoot.Public())
	forged := *s.memberGrant
	forged.Signature = append([]byte{1}, forged.Signature[1:]...)
	admin := fleet.Grant{Member: s.admin.ID(), Name: "desk", Role: fleet.RoleAdmin}
	member := fleet.Grant{Member: self, Name: "laptop", Role: fleet.RoleMember}
	// The secret's holder can prove what it likes; its statements have to hold.
	prove := func(r *fleet.JoinReply) {
		h := fleet.Handshake{Joiner: self, Inviter: ticket.Inviter, Fleet: ticket.Fleet, Name: r.Name}
		r.Proof = h.InviterProof(ticket.Secret)
	}
	state := func(recs ...*merge.Record) func(*fleet.JoinReply) {
		return func(r *fleet.JoinReply) {
			r.Statements = nil
			for _, rec := range recs {
				r.Statements = append(r.Statements, rec.Encode())
			}
		}
	}
	for what, c := range map[string]struct {
		change func(*fleet.JoinReply)
		self   merge.InstanceID
		name   string
		want   error
	}{
		"as it was sent":               {name: "laptop"},
		"in the other order":           {change: state(s.memberGrant, s.adminGrant)},
		"root's grant for the joiner":  {change: state(grant(t, s.fleet, s.root, member, at(10)))},
		"a refusal":                    {change: func(r *fleet.JoinReply) { *r = fleet.Refuse(fleet.ErrTicketUsed) }, want: fleet.ErrTicketUsed},
		"no proof":                     {change: func(r *fleet.JoinReply) { r.Proof = fleet.Proof{} }, want: fleet.ErrProof},
		"the joiner's proof sent back": {change: func(r *fleet.JoinReply) { r.Proof = vectorRequest(t).Proof }, want: fleet.ErrProof},
		"a reply for another joiner":   {self: stranger.ID(), want: fleet.ErrProof},
		"another name":                 {name: "tablet", want: fleet.ErrChain},
		"another name in the reply":    {change: func(r *fleet.JoinReply) { r.Name = "desk"; prove(r) }, want: fleet.ErrChain},
		"nothing stated":               {change: state(), want: fleet.ErrChain},
		"the admin's grant missing":    {change: state(s.memberGrant), want: fleet.ErrChain},
		"the joiner's grant missing":   {change: state(s.adminGrant), want: fleet.ErrChain},
		"a signature that is wrong":    {change: state(s.adminGrant, &forged), want: fleet.ErrChain},
		"bytes that are no record":     {change: func(r *fleet.JoinReply) { r.Statements[0] = []byte{1, 2} }, want: fleet.ErrChain},
		"a record that is a skill":     {change: state(s.adminGrant, s.memberGrant, write(t, s.fleet, s.member, merge.Key{Kind: "skill", ID: "x"}, at(50))), want: fleet.ErrChain},
		"an admin of another fleet": {change: state(
			grant(t, foreign, foreignRoot, admin, at(0)), grant(t, foreign, s.admin, member, at(10)),
		), want: fleet.ErrChain},
		"another root in this fleet's name": {change: state(
			grant(t, s.fleet, foreignRoot, admin, at(0)), s.memberGrant,
		), want: fleet.ErrChain},
		"a member that grants": {change: state(
			s.adminGrant, grant(t, s.fleet, stranger, member, at(10)),
		), want: fleet.ErrChain},
		"a statement that nothing backs beside a good chain": {change: state(
			s.adminGrant, s.memberGrant, grant(t, s.fleet, stranger, fleet.Grant{Member: stranger.ID(), Name: "x", Role: fleet.RoleAdmin}, at(10)),
		), want: fleet.ErrChain},
		"a grant for somebody else": {change: state(
			s.adminGrant, grant(t, s.fleet, s.admin, fleet.Grant{Member: stranger.ID(), Name: "laptop", Role: fleet.RoleMember}, at(10)),
		), want: fleet.ErrChain},
	} {
		t.Run(what, func(t *testing.T) {
			reply := vectorReply(t)
			if c.change != nil {
				c.change(&reply)
			}
			if c.self == "" {
				c.self = self
			}
			a, err := fleet.VerifyChain(reply, ticket, c.self, c.name)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || (a == nil) != (err != nil) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}
