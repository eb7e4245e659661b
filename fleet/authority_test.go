package fleet_test

import (
	"errors"
	"fmt"
	"math/big"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// memberView compares members by what callers can see.
var memberView = cmpopts.IgnoreUnexported(fleet.Granted{})

func TestAMemberWaitsForTheGrantOfItsAdmin(t *testing.T) {
	s := newSmall(t)
	a := fleet.NewAuthority(s.fleet)
	skill := write(t, s.fleet, s.member, merge.Key{Kind: "skill", ID: "x"}, at(50))
	if changed, err := a.Learn(s.memberGrant); changed || err != nil || a.Judge(s.memberGrant).Admitted {
		t.Errorf("a grant by an unknown admin: changed %v, %v, %s", changed, err, a.Judge(s.memberGrant))
	}
	if len(a.Members()) != 0 {
		t.Error("it counts before its admin is known")
	}
	if changed, err := a.Learn(s.adminGrant); !changed || err != nil {
		t.Fatalf("the admin's grant: changed %v, %v", changed, err)
	}
	if !a.Judge(s.memberGrant).Admitted {
		t.Error("judged again it is still not admitted")
	}
	if a.Judge(skill).Admitted {
		t.Error("what was not learnt again counts")
	}
	if changed, err := a.Learn(s.memberGrant); !changed || err != nil {
		t.Errorf("learnt again: changed %v, %v", changed, err)
	}
	if changed, err := a.Learn(s.memberGrant); changed || err != nil {
		t.Errorf("learnt twice: changed %v, %v", changed, err)
	}
	if j := a.Judge(skill); !j.Admitted {
		t.Errorf("the member's write: %s", j)
	}
	if diff := cmp.Diff(s.authority.Members(), a.Members(), memberView); diff != "" {
		t.Errorf("members depend on the order (-want +got):\n%s", diff)
	}
}

func TestLearnRefusesWhatIsNoStatement(t *testing.T) {
	s := newSmall(t)
	skill := write(t, s.fleet, s.member, merge.Key{Kind: "skill", ID: "x"}, at(50))
	if _, err := s.authority.Learn(skill); !errors.Is(err, fleet.ErrMalformed) {
		t.Errorf("a skill: got %v, want ErrMalformed", err)
	}
	other := fleet.NewAuthority(merge.FleetID{7})
	if _, err := other.Learn(s.adminGrant); !errors.Is(err, fleet.ErrForeign) {
		t.Errorf("a statement of another fleet: got %v, want ErrForeign", err)
	}
	fresh := fleet.NewAuthority(s.fleet)
	if changed, err := fresh.LearnAll([]*merge.Record{s.adminGrant, skill}); changed || err == nil || len(fresh.Members()) != 0 {
		t.Errorf("a bad one among good ones: changed %v, %v, %d members", changed, err, len(fresh.Members()))
	}
	ban := statement(t, s.fleet, s.admin, "fleet.oath", body(s.admin, nil), nil)
	if changed, err := s.authority.Learn(ban); changed || err != nil {
		t.Errorf("a kind of the future: changed %v, %v, want nothing", changed, err)
	}
}

func TestOfTwoMembersWithOneNameTheFirstKeepsIt(t *testing.T) {
	s := newSmall(t)
	second := newIdentity(t, 5)
	learn(t, s.authority, grant(t, s.fleet, s.root, fleet.Grant{Member: second.ID(), Name: "rack", Role: fleet.RoleAdmin}, at(1)))
	x, y := newIdentity(t, 6), newIdentity(t, 7)
	later := grant(t, s.fleet, s.admin, fleet.Grant{Member: x.ID(), Name: "tablet", Role: fleet.RoleMember}, at(31))
	first := grant(t, s.fleet, second, fleet.Grant{Member: y.ID(), Name: "tablet", Role: fleet.RoleMember}, at(30))
	learn(t, s.authority, later)
	if m, ok := s.authority.ByName("tablet"); !ok || m.ID != x.ID() {
		t.Errorf("the only tablet is %s", m.ID)
	}
	learn(t, s.authority, first)
	if m, ok := s.authority.ByName("tablet"); !ok || m.ID != y.ID() {
		t.Errorf("tablet is %s, want %s, who was granted it first", m.ID, y.ID())
	}
	id := x.ID().String()
	shown := "tablet~" + id[len(id)-6:]
	if m, ok := s.authority.ByName(shown); !ok || m.ID != x.ID() || m.Name != shown {
		t.Errorf("%s is %+v", shown, m)
	}
	// A new grant renames.
	learn(t, s.authority, grant(t, s.fleet, s.admin, fleet.Grant{Member: y.ID(), Name: "slate", Role: fleet.RoleMember}, at(40)))
	if m, ok := s.authority.ByName("tablet"); !ok || m.ID != x.ID() {
		t.Errorf("after the first was renamed tablet is %s", m.ID)
	}
	if m, ok := s.authority.ByName("slate"); !ok || m.ID != y.ID() || len(m.Grants) != 2 {
		t.Errorf("slate is %+v", m)
	}
	if _, ok := s.authority.ByName(shown); ok {
		t.Errorf("%s is still there", shown)
	}
}

// TestSuffixesGrowUntilTheyDiffer names three members alike whose ids end alike.
func TestSuffixesGrowUntilTheyDiffer(t *testing.T) {
	s := newSmall(t)
	key := new(big.Int).SetBytes(newIdentity(t, 5).Public())
	step := new(big.Int).Exp(big.NewInt(58), big.NewInt(6), nil) // the last six digits of base58
	want := []string{"twin"}
	for i := range 3 {
		var raw [32]byte
		id := merge.InstanceOf(key.FillBytes(raw[:]))
		learn(t, s.authority, grant(t, s.fleet, s.admin, fleet.Grant{Member: id, Name: "twin", Role: fleet.RoleMember}, at(int64(20+i))))
		if text := id.String(); i > 0 {
			want = append(want, "twin~"+text[len(text)-5-i:])
		}
		if m, ok := s.authority.ByName(want[i]); !ok || m.ID != id {
			t.Errorf("%s is %s, want %s", want[i], m.ID, id)
		}
		key.Sub(key, step)
	}
}

func TestMemberActivity(t *testing.T) {
	s := newSmall(t)
	m := newIdentity(t, 5)
	learn(t, s.authority, grant(t, s.fleet, s.admin, fleet.Grant{
		Member: m.ID(), Name: "guest", Role: fleet.RoleMember, Issued: at(100), Expires: at(200),
	}, at(20)))
	guest, _ := s.authority.Member(m.ID())
	desk, _ := s.authority.ByName("desk")
	for _, c := range []struct {
		ms          int64
		guest, desk bool
	}{{0, true, true}, {199, true, true}, {200, false, true}, {1 << 40, false, true}} {
		if guest.ActiveAt(at(c.ms)) != c.guest || desk.ActiveAt(at(c.ms)) != c.desk {
			t.Errorf("at %d: guest %v, desk %v", c.ms, guest.ActiveAt(at(c.ms)), desk.ActiveAt(at(c.ms)))
		}
	}
	if _, ok := s.authority.Member(s.root.ID()); ok {
		t.Error("root is a member")
	}
}

func TestChainProvesAStatementToAStranger(t *testing.T) {
	s := newSmall(t)
	chain := s.authority.Chain(s.memberGrant)
	if len(chain) != 2 || chain[0].Hash() != s.adminGrant.Hash() || chain[1].Hash() != s.memberGrant.Hash() {
		t.Errorf("chain of a member's grant has %d statements", len(chain))
	}
	// That the issuer was a member before it was an admin proves nothing.
	promoted, guest := newIdentity(t, 6), newIdentity(t, 7)
	before := grant(t, s.fleet, s.admin, fleet.Grant{Member: promoted.ID(), Name: "rack", Role: fleet.RoleMember}, at(11))
	promotion := grant(t, s.fleet, s.root, fleet.Grant{Member: promoted.ID(), Name: "rack", Role: fleet.RoleAdmin}, at(12))
	byPromoted := grant(t, s.fleet, promoted, fleet.Grant{Member: guest.ID(), Name: "guest", Role: fleet.RoleMember}, at(13))
	learn(t, s.authority, before, promotion, byPromoted)
	if chain := s.authority.Chain(byPromoted); len(chain) != 2 || chain[0].Hash() != promotion.Hash() {
		t.Errorf("chain of a grant by a promoted member begins with %s", chain[0].Key)
	}
	if chain := s.authority.Chain(s.adminGrant); len(chain) != 1 || chain[0].Hash() != s.adminGrant.Hash() {
		t.Errorf("chain of an admin's grant has %d statements", len(chain))
	}
	stranger := newIdentity(t, 9)
	forged := grant(t, s.fleet, stranger, fleet.Grant{Member: stranger.ID(), Name: "x", Role: fleet.RoleMember}, at(1))
	if chain := s.authority.Chain(forged); chain != nil {
		t.Errorf("chain of a forged grant has %d statements", len(chain))
	}
	if chain := s.authority.Chain(write(t, s.fleet, s.member, merge.Key{Kind: "skill", ID: "x"}, at(50))); chain != nil {
		t.Error("a skill has a chain")
	}
	fresh := fleet.NewAuthority(s.authority.Fleet())
	learn(t, fresh, s.authority.Statements()...)
	if diff := cmp.Diff(s.authority.Members(), fresh.Members(), memberView); diff != "" {
		t.Errorf("Statements do not make the same authority (-want +got):\n%s", diff)
	}
}

func TestAuthorityIsSafeForConcurrentUse(t *testing.T) {
	s := newSmall(t)
	skill := write(t, s.fleet, s.member, merge.Key{Kind: "skill", ID: "x"}, at(50))
	var grants []*merge.Record
	for i := range 40 {
		grants = append(grants, grant(t, s.fleet, s.admin, fleet.Grant{
			Member: newIdentity(t, byte(100+i)).ID(), Name: fmt.Sprintf("box %d", i), Role: fleet.RoleMember,
		}, at(int64(60+i))))
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := worker; i < len(grants); i += 4 {
				if changed, err := s.authority.Learn(grants[i]); !changed || err != nil {
					t.Errorf("learn: changed %v, %v", changed, err)
				}
			}
		})
		wg.Go(func() {
			for range 50 {
				if j := s.authority.Judge(skill); !j.Admitted {
					t.Errorf("judge while learning: %s", j)
				}
				s.authority.Members()
			}
		})
	}
	wg.Wait()
	if got := len(s.authority.Members()); got != 42 {
		t.Errorf("%d members, want 42", got)
	}
}
