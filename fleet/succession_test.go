package fleet_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// succession seals the statement by which a key is handed over to a new one.
func succession(tb testing.TB, f merge.FleetID, from, to fleet.Identity, stamp hlc.Timestamp) *merge.Record {
	tb.Helper()
	return grant(tb, f, from, fleet.Grant{Member: to.ID(), Name: "handed over", Role: fleet.RoleSuccessor}, stamp)
}

func TestASuccessionSaysNothingElse(t *testing.T) {
	s := newSmall(t)
	next := newIdentity(t, 5)
	for what, change := range map[string]func(*fleet.Grant){
		"capabilities":           func(g *fleet.Grant) { g.Capabilities = []string{"skill"} },
		"scopes":                 func(g *fleet.Grant) { g.Scopes = []merge.Scope{{Project: "web"}} },
		"an end":                 func(g *fleet.Grant) { g.Expires = at(900) },
		"another beginning":      func(g *fleet.Grant) { g.Issued = at(9) },
		"no name":                func(g *fleet.Grant) { g.Name = "" },
		"itself as successor":    func(g *fleet.Grant) { g.Member = s.member.ID() },
		"root as successor":      func(g *fleet.Grant) { g.Member = s.root.ID() },
		"no key as successor":    func(g *fleet.Grant) { g.Member = "local" },
		"an end at its own time": func(g *fleet.Grant) { g.Expires = at(10) },
	} {
		g := fleet.Grant{Member: next.ID(), Name: "laptop", Role: fleet.RoleSuccessor}
		change(&g)
		if _, err := fleet.SealGrant(s.fleet, s.member, g, at(10)); !errors.Is(err, fleet.ErrMalformed) {
			t.Errorf("%s: got %v, want ErrMalformed", what, err)
		}
	}
	if _, err := fleet.SealGrant(s.fleet, s.root, fleet.Grant{Member: next.ID(), Name: "x", Role: fleet.RoleSuccessor}, at(10)); !errors.Is(err, fleet.ErrMalformed) {
		t.Errorf("a succession of root: got %v, want ErrMalformed", err)
	}
}

func TestASuccessorHasWhatItsPredecessorHad(t *testing.T) {
	s := newSmall(t)
	next, adminNext, guest := newIdentity(t, 5), newIdentity(t, 6), newIdentity(t, 7)
	learn(t, s.authority, succession(t, s.fleet, s.member, next, at(50)), succession(t, s.fleet, s.admin, adminNext, at(60)))
	skill, weather := merge.Key{Kind: "skill", ID: "x"}, merge.Key{Kind: "weather", ID: "x"}
	wantJudgement(t, s.authority, write(t, s.fleet, s.member, skill, at(49)), "admitted", 0)
	wantJudgement(t, s.authority, write(t, s.fleet, s.member, skill, at(50)), "not admitted: its key was succeeded at 1790000000050.0", fleet.CauseClosed)
	wantJudgement(t, s.authority, write(t, s.fleet, next, skill, at(49)), "not admitted: before its grant", fleet.CauseAuthority)
	wantJudgement(t, s.authority, write(t, s.fleet, next, skill, at(50)), "admitted", 0)
	wantJudgement(t, s.authority, write(t, s.fleet, next, weather, at(50)), "not admitted: grant lacks weather", fleet.CauseAuthority)
	wantJudgement(t, s.authority, write(t, s.fleet, adminNext, weather, at(60)), "admitted", 0)

	g := fleet.Grant{Member: guest.ID(), Name: "guest", Role: fleet.RoleMember}
	wantJudgement(t, s.authority, grant(t, s.fleet, s.admin, g, at(59)), "admitted", 0)
	wantJudgement(t, s.authority, grant(t, s.fleet, s.admin, g, at(60)), "not admitted: its key was succeeded at 1790000000060.0", fleet.CauseClosed)
	wantJudgement(t, s.authority, grant(t, s.fleet, adminNext, g, at(59)), "not admitted: before its grant", fleet.CauseAuthority)
	wantJudgement(t, s.authority, grant(t, s.fleet, adminNext, g, at(60)), "admitted", 0)
	wantJudgement(t, s.authority, grant(t, s.fleet, adminNext, fleet.Grant{Member: guest.ID(), Name: "guest", Role: fleet.RoleAdmin}, at(60)),
		"not admitted: only root grants admins", fleet.CauseAuthority)
	wantJudgement(t, s.authority, ban(t, s.fleet, adminNext, fleet.Ban{Writer: s.admin.ID()}, at(70)), "not admitted: only root bans admins", fleet.CauseAuthority)

	old, _ := s.authority.Member(s.admin.ID())
	now, _ := s.authority.ByName("desk")
	suffix := s.admin.ID().String()
	if old.Name != "desk~"+suffix[len(suffix)-6:] || old.Successor != adminNext.ID() || old.Closed != at(60) ||
		!old.ActiveAt(at(59)) || old.ActiveAt(at(60)) {
		t.Errorf("the old key is %+v", old)
	}
	if now.ID != adminNext.ID() || now.Predecessor != s.admin.ID() || now.Role != fleet.RoleAdmin || !now.ActiveAt(at(60)) {
		t.Errorf("desk is %+v", now)
	}
	// What the old key is granted later, the new one has too; its own adds up.
	learn(t, s.authority,
		grant(t, s.fleet, s.root, fleet.Grant{Member: s.member.ID(), Name: "slate", Role: fleet.RoleMember, Capabilities: []string{"weather"}}, at(80)),
		grant(t, s.fleet, s.root, fleet.Grant{Member: next.ID(), Name: "slate", Role: fleet.RoleMember, Capabilities: []string{"rain"}}, at(81)))
	wantJudgement(t, s.authority, write(t, s.fleet, next, weather, at(90)), "admitted", 0)
	wantJudgement(t, s.authority, write(t, s.fleet, next, merge.Key{Kind: "rain", ID: "x"}, at(90)), "admitted", 0)
	if m, _ := s.authority.ByName("slate"); m.ID != next.ID() || len(m.Grants) != 3 {
		t.Errorf("slate is %+v", m)
	}
}

// TestSuccessionFirstByMergeOrderCounts has one key handed over twice, as by its
// owner and by a thief, and two keys handed over to one.
func TestSuccessionFirstByMergeOrderCounts(t *testing.T) {
	s := newSmall(t)
	a, b, other := newIdentity(t, 5), newIdentity(t, 6), newIdentity(t, 7)
	learn(t, s.authority, grant(t, s.fleet, s.admin, fleet.Grant{Member: other.ID(), Name: "other", Role: fleet.RoleMember, Capabilities: []string{"*"}}, at(11)))
	first, second := succession(t, s.fleet, s.member, a, at(50)), succession(t, s.fleet, s.member, b, at(51))
	third := succession(t, s.fleet, other, a, at(52))
	for _, order := range permutations([]*merge.Record{first, second, third}) {
		authority := fleet.NewAuthority(s.fleet)
		learn(t, authority, s.authority.Statements()...)
		learnParking(t, authority, order)
		wantJudgement(t, authority, first, "admitted", 0)
		wantJudgement(t, authority, second, "not admitted: its key was succeeded at 1790000000050.0", fleet.CauseClosed)
		wantJudgement(t, authority, third, "not admitted: its successor is no new key", fleet.CauseAuthority)
		wantJudgement(t, authority, write(t, s.fleet, b, merge.Key{Kind: "skill", ID: "x"}, at(60)), "not admitted: no grant for this writer", fleet.CauseAuthority)
		wantJudgement(t, authority, write(t, s.fleet, other, merge.Key{Kind: "skill", ID: "x"}, at(60)), "admitted", 0)
	}
	for what, c := range map[string]struct {
		rec  *merge.Record
		want string
	}{
		"by a stranger":        {succession(t, s.fleet, newIdentity(t, 9), a, at(60)), "not admitted: no grant for this writer"},
		"before it was one":    {succession(t, s.fleet, s.member, a, at(9)), "not admitted: its issuer is not a member at its stamp"},
		"to a member":          {succession(t, s.fleet, s.member, other, at(60)), "not admitted: its successor is no new key"},
		"to an admin":          {succession(t, s.fleet, s.member, s.admin, at(60)), "not admitted: its successor is no new key"},
		"of an admin, to one":  {succession(t, s.fleet, s.admin, s.admin2(t), at(60)), "not admitted: its successor is no new key"},
		"to a later member":    {succession(t, s.fleet, s.member, a, at(5000)), "admitted"},
		"to one from nowhere":  {succession(t, s.fleet, s.member, b, at(60)), "admitted"},
		"to one that is older": {succession(t, s.fleet, s.member, other, at(10)), "admitted"},
	} {
		wantJudgement(t, s.authority, c.rec, c.want, s.authority.Judge(c.rec).Cause)
		if c.want == "admitted" != s.authority.Judge(c.rec).Admitted {
			t.Errorf("%s: %s", what, s.authority.Judge(c.rec))
		}
	}
}

// admin2 makes root grant one more admin.
func (s small) admin2(tb testing.TB) fleet.Identity {
	tb.Helper()
	id := newIdentity(tb, 12)
	learn(tb, s.authority, grant(tb, s.fleet, s.root, fleet.Grant{Member: id.ID(), Name: "rack", Role: fleet.RoleAdmin}, at(2)))
	return id
}

// TestASuccessionGoesNoWayBack has a key hand over to the one before it, which a
// grant that reaches back has made a member.
func TestASuccessionGoesNoWayBack(t *testing.T) {
	s := newSmall(t)
	x, y := newIdentity(t, 5), newIdentity(t, 6)
	learn(t, s.authority,
		grant(t, s.fleet, s.admin, fleet.Grant{Member: x.ID(), Name: "x", Role: fleet.RoleMember, Issued: at(0)}, at(100)),
		succession(t, s.fleet, x, y, at(50)))
	wantJudgement(t, s.authority, succession(t, s.fleet, y, x, at(60)), "not admitted: its successor is no new key", fleet.CauseAuthority)
}

// TestASuccessorOfAnAdminHandsOverLater has an admin's successor hand over under
// the stamp at which it came to be, before that by merge order: it was nobody
// then, and what an admin hands over is not looked at again as a member's.
func TestASuccessorOfAnAdminHandsOverLater(t *testing.T) {
	s := newSmall(t)
	n := byte(20)
	for newIdentity(t, n).ID() > s.admin.ID() {
		n++
	}
	second, third := newIdentity(t, n), newIdentity(t, 5)
	learn(t, s.authority, succession(t, s.fleet, s.admin, second, at(20)))
	early := succession(t, s.fleet, second, third, at(20))
	if j := s.authority.Judge(early); j.Admitted || j.Cause != fleet.CauseAuthority {
		t.Errorf("at the same stamp: %s", j)
	}
	wantJudgement(t, s.authority, succession(t, s.fleet, second, third, at(21)), "admitted", 0)
}

func TestALineageEnds(t *testing.T) {
	s := newSmall(t)
	last := s.member
	for i := range 31 {
		next := newIdentity(t, byte(100+i))
		learn(t, s.authority, succession(t, s.fleet, last, next, at(int64(20+i))))
		last = next
	}
	rec := succession(t, s.fleet, last, newIdentity(t, 200), at(90))
	wantJudgement(t, s.authority, rec, "not admitted: too many successions: the instance has to be granted anew", fleet.CauseAuthority)
	if m, _ := s.authority.ByName("laptop"); m.ID != last.ID() {
		t.Errorf("laptop is %s, want the last of the lineage", m.ID)
	}
}

// TestABanHitsSuccessors bans a key that was handed over twice.
func TestABanHitsSuccessors(t *testing.T) {
	s := newSmall(t)
	second, third := newIdentity(t, 5), newIdentity(t, 6)
	learn(t, s.authority, succession(t, s.fleet, s.member, second, at(20)), succession(t, s.fleet, second, third, at(30)))
	stands := s.authority.InForce(s.member.ID())
	if len(stands) != 2 {
		t.Fatalf("%d statements in force by the lineage, want its two successions", len(stands))
	}
	learn(t, s.authority, ban(t, s.fleet, s.admin, fleet.Ban{Writer: s.member.ID(), From: at(40), Stands: stands}, at(60)))
	key := merge.Key{Kind: "skill", ID: "x"}
	for _, writer := range []fleet.Identity{s.member, second, third} {
		wantJudgement(t, s.authority, write(t, s.fleet, writer, key, at(40)), "not admitted: writer banned from 1790000000040.0 on", fleet.CauseBanned)
		if m, _ := s.authority.Member(writer.ID()); m.Ban == nil || m.ActiveAt(at(40)) {
			t.Errorf("%s is %+v", writer, m)
		}
	}
	wantJudgement(t, s.authority, write(t, s.fleet, third, key, at(39)), "admitted", 0)
	wantJudgement(t, s.authority, succession(t, s.fleet, third, newIdentity(t, 7), at(41)),
		"not admitted: its issuer is banned, and the ban does not let it stand", fleet.CauseBanned)
}

// TestAnAdminsBanEndsAtAnAdmin bans the old key of a member that root made an
// admin since.
func TestAnAdminsBanEndsAtAnAdmin(t *testing.T) {
	s := newSmall(t)
	second := newIdentity(t, 5)
	handedOver := succession(t, s.fleet, s.member, second, at(20))
	learn(t, s.authority, handedOver,
		grant(t, s.fleet, s.root, fleet.Grant{Member: second.ID(), Name: "laptop", Role: fleet.RoleAdmin}, at(30)),
		ban(t, s.fleet, s.admin, fleet.Ban{Writer: s.member.ID(), From: at(15), Stands: []merge.Hash{handedOver.Hash()}}, at(60)))
	key := merge.Key{Kind: "skill", ID: "x"}
	wantJudgement(t, s.authority, write(t, s.fleet, s.member, key, at(16)), "not admitted: writer banned from 1790000000015.0 on", fleet.CauseBanned)
	wantJudgement(t, s.authority, write(t, s.fleet, second, key, at(40)), "admitted", 0)
	learn(t, s.authority, ban(t, s.fleet, s.root, fleet.Ban{Writer: s.member.ID(), From: at(35), Stands: []merge.Hash{handedOver.Hash()}}, at(61)))
	wantJudgement(t, s.authority, write(t, s.fleet, second, key, at(40)), "not admitted: writer banned from 1790000000035.0 on", fleet.CauseBanned)
}

// TestWhatAMemberHandedOverBeforeRootMadeItAnAdmin holds the corners in which a
// key is an admin and has been handed over as a member.
func TestWhatAMemberHandedOverBeforeRootMadeItAnAdmin(t *testing.T) {
	s := newSmall(t)
	second, third, guest := newIdentity(t, 5), newIdentity(t, 6), newIdentity(t, 7)
	handedOver := succession(t, s.fleet, s.member, second, at(20))
	admin := func(of fleet.Identity, from int64) *merge.Record {
		return grant(t, s.fleet, s.root, fleet.Grant{Member: of.ID(), Name: "laptop", Role: fleet.RoleAdmin, Issued: at(from)}, at(30))
	}
	g := fleet.Grant{Member: guest.ID(), Name: "guest", Role: fleet.RoleMember}
	learn(t, s.authority, handedOver, admin(s.member, 40))
	// What root made of the old key later is not the successor's.
	wantJudgement(t, s.authority, write(t, s.fleet, second, merge.Key{Kind: "weather", ID: "x"}, at(50)), "not admitted: grant lacks weather", fleet.CauseAuthority)
	wantJudgement(t, s.authority, grant(t, s.fleet, second, g, at(50)), "not admitted: issuer is not an admin", fleet.CauseAuthority)
	if m, _ := s.authority.Member(second.ID()); m.Role != fleet.RoleMember {
		t.Errorf("the successor of a member is an %s", m.Role)
	}
	wantJudgement(t, s.authority, grant(t, s.fleet, s.member, g, at(50)), "admitted", 0)
	wantJudgement(t, s.authority, write(t, s.fleet, s.member, merge.Key{Kind: "skill", ID: "x"}, at(50)),
		"not admitted: its key was succeeded at 1790000000020.0", fleet.CauseClosed)

	// Root's ban of the old key hits what the new one writes and hands over, and
	// no statement that it makes as an admin.
	learn(t, s.authority, admin(second, 40),
		ban(t, s.fleet, s.root, fleet.Ban{Writer: s.member.ID(), From: at(45), Stands: []merge.Hash{handedOver.Hash()}}, at(60)))
	wantJudgement(t, s.authority, write(t, s.fleet, second, merge.Key{Kind: "skill", ID: "x"}, at(50)),
		"not admitted: writer banned from 1790000000045.0 on", fleet.CauseBanned)
	wantJudgement(t, s.authority, grant(t, s.fleet, second, g, at(50)), "admitted", 0)
	wantJudgement(t, s.authority, succession(t, s.fleet, second, third, at(50)), "admitted", 0)
	wantJudgement(t, s.authority, succession(t, s.fleet, second, third, at(39)),
		"not admitted: its issuer is banned, and the ban does not let it stand", fleet.CauseBanned)

	// Nor is a key a member by a role that it did not inherit.
	timed, heir := newIdentity(t, 8), newIdentity(t, 9)
	learn(t, s.authority,
		grant(t, s.fleet, s.root, fleet.Grant{Member: timed.ID(), Name: "timed", Role: fleet.RoleMember, Issued: at(10), Expires: at(30)}, at(10)),
		grant(t, s.fleet, s.root, fleet.Grant{Member: timed.ID(), Name: "timed", Role: fleet.RoleAdmin, Issued: at(40)}, at(10)),
		succession(t, s.fleet, timed, heir, at(20)))
	wantJudgement(t, s.authority, succession(t, s.fleet, heir, third, at(50)), "not admitted: its issuer is not a member at its stamp", fleet.CauseAuthority)

	// An admin's ban of the old key ends at the one that only root may ban.
	fresh := newSmall(t)
	learn(t, fresh.authority, handedOver, admin(second, 40),
		ban(t, s.fleet, s.admin, fleet.Ban{Writer: s.member.ID(), From: at(25), Stands: []merge.Hash{handedOver.Hash()}}, at(60)))
	wantJudgement(t, fresh.authority, succession(t, s.fleet, second, third, at(39)), "admitted", 0)
}

// TestABackDatedSuccessionOfABannedKey is why a ban without an end lists the
// successions that stand: a thief of the key would close it from an earlier
// stamp on, and so take away what its owner wrote.
func TestABackDatedSuccessionOfABannedKey(t *testing.T) {
	s := newSmall(t)
	thief := newIdentity(t, 5)
	honest := write(t, s.fleet, s.member, merge.Key{Kind: "skill", ID: "x"}, at(40))
	revoked := ban(t, s.fleet, s.admin, fleet.Ban{Writer: s.member.ID(), From: at(50), Stands: s.authority.InForce(s.member.ID())}, at(60))
	dated := succession(t, s.fleet, s.member, thief, at(20))
	for _, order := range permutations([]*merge.Record{revoked, dated}) {
		a := fleet.NewAuthority(s.fleet)
		learn(t, a, s.authority.Statements()...)
		learnParking(t, a, order)
		wantJudgement(t, a, honest, "admitted", 0)
		wantJudgement(t, a, dated, "not admitted: its issuer is banned, and the ban does not let it stand", fleet.CauseBanned)
		wantJudgement(t, a, write(t, s.fleet, thief, merge.Key{Kind: "skill", ID: "x"}, at(70)), "not admitted: no grant for this writer", fleet.CauseAuthority)
	}
}

// TestChainThroughSuccessions proves grants and successions by keys that were
// handed over to somebody who knows nothing but the fleet.
func TestChainThroughSuccessions(t *testing.T) {
	s := newSmall(t)
	admin2, admin3, member2, guest := newIdentity(t, 5), newIdentity(t, 6), newIdentity(t, 7), newIdentity(t, 8)
	handed1, handed2 := succession(t, s.fleet, s.admin, admin2, at(20)), succession(t, s.fleet, admin2, admin3, at(30))
	handed3 := succession(t, s.fleet, s.member, member2, at(25))
	granted := grant(t, s.fleet, admin3, fleet.Grant{Member: guest.ID(), Name: "guest", Role: fleet.RoleMember}, at(40))
	learn(t, s.authority, handed1, handed2, handed3, granted)
	for what, c := range map[string]struct {
		of   *merge.Record
		want []*merge.Record
	}{
		"a grant by a successor":      {granted, []*merge.Record{s.adminGrant, handed1, handed2, granted}},
		"a succession of an admin":    {handed2, []*merge.Record{s.adminGrant, handed1, handed2}},
		"a succession of a member":    {handed3, []*merge.Record{s.adminGrant, s.memberGrant, handed3}},
		"a kind of the future":        {statement(t, s.fleet, s.admin, "fleet.oath", map[int]any{1: s.admin.ID(), 2: at(15).Pack()}, restamp(s.admin, 15)), nil},
		"a grant before any of these": {s.memberGrant, []*merge.Record{s.adminGrant, s.memberGrant}},
	} {
		if c.want == nil {
			c.want = []*merge.Record{s.adminGrant, c.of}
		}
		chain := s.authority.Chain(c.of)
		if diff := cmp.Diff(hashesOf(c.want), hashesOf(chain)); diff != "" {
			t.Errorf("%s: chain (-want +got):\n%s", what, diff)
		}
		fresh := fleet.NewAuthority(s.fleet)
		learn(t, fresh, chain...)
	}
	// The same as a joiner verifies it.
	ticket := vectorTicket(t)
	reply := fleet.Accepted{Name: "guest", Proof: fleet.Handshake{
		Joiner: guest.ID(), Inviter: ticket.Inviter, Fleet: ticket.Fleet, Name: "guest",
	}.InviterProof(ticket.Secret)}.Reply(append(s.authority.Chain(granted), s.authority.Chain(handed3)[1:]...))
	a, err := fleet.VerifyChain(reply, ticket, guest.ID(), "guest")
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := a.Member(member2.ID()); !ok || m.Name != "laptop" {
		t.Errorf("the joiner knows the inviter's successor as %+v", m)
	}
}

// restamp returns a change that stamps a statement of its issuer otherwise.
func restamp(issuer fleet.Identity, ms int64) func(*merge.Record) {
	return func(r *merge.Record) {
		r.Envelope.UpdatedHLC = at(ms)
		r.Basis = merge.Basis{}.With(issuer.ID(), at(ms))
	}
}

// TestTheLongestLineagesFitIntoAReply proves a joiner and its inviter, all of
// whose keys were handed over as often as may be.
func TestTheLongestLineagesFitIntoAReply(t *testing.T) {
	s := newSmall(t)
	lastOf := func(from fleet.Identity, n byte, ms int64) (fleet.Identity, *merge.Record) {
		var rec *merge.Record
		for i := range byte(31) {
			next := newIdentity(t, n+i)
			rec = succession(t, s.fleet, from, next, at(ms+int64(i)))
			learn(t, s.authority, rec)
			from = next
		}
		return from, rec
	}
	second := s.admin2(t)
	inviter, inviterStatement := lastOf(s.member, 100, 20)
	granter, _ := lastOf(second, 150, 60)
	rec := grant(t, s.fleet, granter, fleet.Grant{Member: newIdentity(t, 200).ID(), Name: "new", Role: fleet.RoleMember}, at(200))
	learn(t, s.authority, rec)
	chain := append(s.authority.Chain(rec), s.authority.Chain(inviterStatement)...)
	if len(chain) < 66 {
		t.Fatalf("%d statements prove %s and %s", len(chain), rec.Key, inviter)
	}
	reply := fleet.Accepted{Name: "new", Statement: rec.Encode()}.Reply(chain)
	b, err := reply.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fleet.DecodeJoinReply(b); err != nil {
		t.Fatal(fmt.Errorf("%d bytes: %w", len(b), err))
	}
}
