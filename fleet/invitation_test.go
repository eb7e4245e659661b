package fleet_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// invite opens an invitation at the beginning of time.
func invite(tb testing.TB, cfg fleet.InvitationConfig) fleet.Invitation {
	tb.Helper()
	inv, err := fleet.NewInvitation(cfg, timeAt(0), source(40))
	if err != nil {
		tb.Fatal(err)
	}
	return inv
}

// redemption is an honest attempt of joiner to join s by inv a minute later.
func (s small) redemption(tb testing.TB, inv *fleet.Invitation, joiner merge.InstanceID, name string) fleet.Redemption {
	tb.Helper()
	ticket, err := inv.Ticket([]string{"/ip4/10.0.0.1/tcp/1"}, s.admin.ID(), s.fleet)
	if err != nil {
		tb.Fatal(err)
	}
	return fleet.Redemption{
		Request: fleet.NewJoinRequest(ticket, joiner, name),
		Joiner:  joiner, Inviter: s.admin.ID(), Fleet: s.fleet, Now: timeAt(60_000),
		Taken: func(name string) bool {
			m, taken := s.authority.ByName(name)
			return taken && m.ID != joiner
		},
		Seal: func(g fleet.Grant) (merge.Record, error) { return fleet.SealGrant(s.fleet, s.admin, g, at(60_000)) },
	}
}

func TestRedeem(t *testing.T) {
	s := newSmall(t)
	first, second := newIdentity(t, 5).ID(), newIdentity(t, 6).ID()
	errSeal := errors.New("disk full")
	for what, c := range map[string]struct {
		cfg    fleet.InvitationConfig
		joiner merge.InstanceID
		name   string
		change func(*fleet.Redemption)
		want   error
		got    string
	}{
		"a name of the joiner's choice":    {name: "tablet", got: "tablet"},
		"a fixed name":                     {cfg: fleet.InvitationConfig{Name: "kiosk"}, got: "kiosk"},
		"a fixed name, asked for":          {cfg: fleet.InvitationConfig{Name: "kiosk"}, name: "kiosk", got: "kiosk"},
		"another name than the fixed one":  {cfg: fleet.InvitationConfig{Name: "kiosk"}, name: "tablet", want: fleet.ErrNameFixed},
		"no name at all":                   {want: fleet.ErrName},
		"a name that nobody can have":      {name: "tab\u202elet", want: fleet.ErrName},
		"the name of another member":       {name: "laptop", want: fleet.ErrNameTaken},
		"a fixed name that is taken since": {cfg: fleet.InvitationConfig{Name: "laptop"}, want: fleet.ErrNameTaken},
		"the name of the joiner, a member": {joiner: s.member.ID(), name: "laptop", got: "laptop"},
		"the last millisecond": {name: "tablet", got: "tablet", change: func(r *fleet.Redemption) {
			r.Now = timeAt(15*60_000 - 1)
		}},
		"expired": {name: "tablet", want: fleet.ErrTicketExpired, change: func(r *fleet.Redemption) {
			r.Now = timeAt(15 * 60_000)
		}},
		"a ticket of another invitation": {name: "tablet", want: fleet.ErrTicketUnknown, change: func(r *fleet.Redemption) {
			r.Request.Ticket[0] ^= 1
		}},
		"a guessed proof": {name: "tablet", want: fleet.ErrProof, change: func(r *fleet.Redemption) {
			r.Request.Proof = fleet.Proof{}
		}},
		"relayed by another peer": {name: "tablet", want: fleet.ErrProof, change: func(r *fleet.Redemption) {
			r.Joiner = second
		}},
		"meant for another inviter": {name: "tablet", want: fleet.ErrProof, change: func(r *fleet.Redemption) {
			r.Inviter = second
		}},
		"meant for another fleet": {name: "tablet", want: fleet.ErrProof, change: func(r *fleet.Redemption) {
			r.Fleet = merge.FleetID{1}
		}},
		"the name changed on the way": {name: "tablet", want: fleet.ErrProof, change: func(r *fleet.Redemption) {
			r.Request.Name = "tablet2"
		}},
		"the inviter's own proof sent back": {name: "tablet", want: fleet.ErrProof, change: func(r *fleet.Redemption) {
			h := fleet.Handshake{Joiner: first, Inviter: r.Inviter, Fleet: r.Fleet, Name: "tablet"}
			r.Request.Proof = h.InviterProof(invite(t, fleet.InvitationConfig{}).Secret)
		}},
		"a clock that tells nothing of the fleet's": {name: "tablet", want: fleet.ErrClock, change: func(r *fleet.Redemption) {
			r.Request.Time = r.Now.Add(-10 * time.Minute)
		}},
		"a clock behind a fleet that is ahead": {name: "tablet", want: fleet.ErrClock, change: func(r *fleet.Redemption) {
			r.Request.Time = r.Now.Add(-4 * time.Minute)
			r.Seal = func(g fleet.Grant) (merge.Record, error) {
				return fleet.SealGrant(s.fleet, s.admin, g, at(60_000+3*60_000))
			}
		}},
		"a clock that is a little wrong": {name: "tablet", got: "tablet", change: func(r *fleet.Redemption) {
			r.Request.Time = r.Now.Add(4 * time.Minute)
		}},
		"the inviter cannot sign": {name: "tablet", want: errSeal, change: func(r *fleet.Redemption) {
			r.Seal = func(fleet.Grant) (merge.Record, error) { return merge.Record{}, errSeal }
		}},
	} {
		t.Run(what, func(t *testing.T) {
			if c.joiner == "" {
				c.joiner = first
			}
			inv := invite(t, c.cfg)
			before := inv
			r := s.redemption(t, &inv, c.joiner, c.name)
			if c.change != nil {
				c.change(&r)
			}
			accepted, err := inv.Redeem(r)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err != nil {
				if diff := cmp.Diff(before, inv); diff != "" {
					t.Errorf("a refusal changed the invitation (-want +got):\n%s", diff)
				}
				return
			}
			checkAccepted(t, s, inv, accepted, c.joiner, c.got)
		})
	}
}

func checkAccepted(t *testing.T, s small, inv fleet.Invitation, accepted fleet.Accepted, joiner merge.InstanceID, name string) {
	t.Helper()
	rec, err := merge.Decode(accepted.Statement)
	if err != nil {
		t.Fatal(err)
	}
	if err := admissible(accepted.Statement, s.fleet); err != nil {
		t.Fatal(err)
	}
	if j := s.authority.Judge(&rec); !j.Admitted {
		t.Fatal(j)
	}
	g, err := fleet.GrantOf(&rec)
	if err != nil {
		t.Fatal(err)
	}
	want := fleet.Grant{
		Member: joiner, Name: name, Role: fleet.RoleMember, Capabilities: []string{"memory", "session", "skill"}, Issued: at(60_000),
	}
	if diff := cmp.Diff(want, g); diff != "" {
		t.Errorf("grant (-want +got):\n%s", diff)
	}
	h := fleet.Handshake{Joiner: joiner, Inviter: s.admin.ID(), Fleet: s.fleet, Name: name}
	if accepted.Name != name || accepted.Again || !accepted.Proof.Equal(h.InviterProof(inv.Secret)) {
		t.Errorf("accepted %+v", accepted)
	}
	if len(inv.Redeemed) != 1 || inv.Open(timeAt(60_001)) {
		t.Errorf("the invitation is still open: %+v", inv.Redeemed)
	}
}

// TestTicketReused is a row of the table of threats.
func TestTicketReused(t *testing.T) {
	s := newSmall(t)
	inv := invite(t, fleet.InvitationConfig{})
	first, second := newIdentity(t, 5).ID(), newIdentity(t, 6).ID()
	won, err := inv.Redeem(s.redemption(t, &inv, first, "tablet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tablet", "phone", ""} {
		if _, err := inv.Redeem(s.redemption(t, &inv, second, name)); !errors.Is(err, fleet.ErrTicketUsed) {
			t.Errorf("a second joiner as %q: got %v, want ErrTicketUsed", name, err)
		}
	}
	late := s.redemption(t, &inv, second, "phone")
	late.Now = timeAt(1 << 40)
	if _, err := inv.Redeem(late); !errors.Is(err, fleet.ErrTicketUsed) {
		t.Errorf("a second joiner, late: got %v, want ErrTicketUsed", err)
	}
	// The first gets its answer again, even late, and nothing is signed for it.
	again := s.redemption(t, &inv, first, "tablet")
	again.Now = timeAt(1 << 40)
	again.Seal = nil
	again.Taken = nil
	got, err := inv.Redeem(again)
	if err != nil {
		t.Fatal(err)
	}
	won.Again = true
	if diff := cmp.Diff(won, got); diff != "" {
		t.Errorf("asked again (-first +second):\n%s", diff)
	}
	if _, err := inv.Redeem(s.redemption(t, &inv, first, "")); err != nil {
		t.Errorf("asked again without a name: %v", err)
	}
	if _, err := inv.Redeem(s.redemption(t, &inv, first, "other")); !errors.Is(err, fleet.ErrNameFixed) {
		t.Errorf("asked again under another name: got %v, want ErrNameFixed", err)
	}
}

// TestTicketRaced is a row of the table of threats: two joiners at once, over
// an invitation that is stored as bytes and changed in a transaction.
func TestTicketRaced(t *testing.T) {
	s := newSmall(t)
	inv := invite(t, fleet.InvitationConfig{})
	joiners := []merge.InstanceID{newIdentity(t, 5).ID(), newIdentity(t, 6).ID()}
	stored, err := inv.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // the store's transaction
	errs := make([]error, len(joiners))
	var wg sync.WaitGroup
	for i, joiner := range joiners {
		r := s.redemption(t, &inv, joiner, fmt.Sprintf("racer %d", i))
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			kept, err := fleet.UnmarshalInvitation(stored)
			if err != nil {
				errs[i] = err
				return
			}
			if _, errs[i] = kept.Redeem(r); errs[i] != nil {
				return
			}
			stored, errs[i] = kept.Marshal()
		})
	}
	wg.Wait()
	winner, loser := errs[0], errs[1]
	if winner != nil {
		winner, loser = loser, winner
	}
	if winner != nil || !errors.Is(loser, fleet.ErrTicketUsed) {
		t.Errorf("the racers got %v and %v, want one of them ErrTicketUsed", errs[0], errs[1])
	}
}

// TestInvitationModel drives one invitation with joiners, names, clocks and
// restarts at random, against a model of plain variables.
func TestInvitationModel(t *testing.T) {
	s := newSmall(t)
	joiners := []merge.InstanceID{newIdentity(t, 5).ID(), newIdentity(t, 6).ID(), newIdentity(t, 7).ID(), newIdentity(t, 8).ID()}
	names := []string{"a", "b", "c", "laptop", ""}
	rapid.Check(t, func(rt *rapid.T) {
		cfg := fleet.InvitationConfig{Uses: rapid.IntRange(1, 3).Draw(rt, "uses"), TTL: 10 * time.Second}
		inv := invite(t, cfg)
		got := map[merge.InstanceID]string{}
		statements := map[merge.InstanceID][]byte{}
		now := int64(0)
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			now += rapid.Int64Range(0, 3000).Draw(rt, "pause")
			joiner := rapid.SampledFrom(joiners).Draw(rt, "joiner")
			name := rapid.SampledFrom(names).Draw(rt, "name")
			r := s.redemption(t, &inv, joiner, name)
			r.Now = timeAt(now)
			if rapid.IntRange(0, 5).Draw(rt, "forged") == 0 {
				r.Request.Proof[0] ^= 1
				if _, err := inv.Redeem(r); !errors.Is(err, fleet.ErrProof) {
					rt.Fatalf("a forged proof: %v", err)
				}
				continue
			}
			accepted, err := inv.Redeem(r)
			if want := modelRedeem(got, joiner, name, now, cfg); !errors.Is(err, want) || (err == nil) != (want == nil) {
				rt.Fatalf("%s as %q at %d: got %v, want %v", joiner, name, now, err, want)
			}
			if err == nil {
				if before, again := statements[joiner]; again != accepted.Again || again && !bytes.Equal(before, accepted.Statement) {
					rt.Fatalf("again %v, want %v with the same statement", accepted.Again, again)
				}
				got[joiner], statements[joiner] = accepted.Name, accepted.Statement
			}
			inv = restart(rt, inv)
		}
		if len(inv.Redeemed) != len(got) || len(got) > cfg.Uses {
			rt.Fatalf("%d of %d uses, the model says %d", len(inv.Redeemed), cfg.Uses, len(got))
		}
	})
}

// modelRedeem returns the outcome of an honest attempt; got is who joined as
// what so far.
func modelRedeem(got map[merge.InstanceID]string, joiner merge.InstanceID, name string, now int64, cfg fleet.InvitationConfig) error {
	if mine, joined := got[joiner]; joined {
		if name != "" && name != mine {
			return fleet.ErrNameFixed
		}
		return nil
	}
	if len(got) >= cfg.Uses {
		return fleet.ErrTicketUsed
	}
	if now >= cfg.TTL.Milliseconds() {
		return fleet.ErrTicketExpired
	}
	if name == "" {
		return fleet.ErrName
	}
	if name == "laptop" {
		return fleet.ErrNameTaken
	}
	for _, other := range got {
		if other == name {
			return fleet.ErrNameTaken
		}
	}
	return nil
}

// restart stores and loads an invitation.
func restart(rt *rapid.T, inv fleet.Invitation) fleet.Invitation {
	stored, err := inv.Marshal()
	if err != nil {
		rt.Fatal(err)
	}
	loaded, err := fleet.UnmarshalInvitation(stored)
	if err != nil {
		rt.Fatal(err)
	}
	if diff := cmp.Diff(inv, loaded); diff != "" {
		rt.Fatalf("invitation comes back changed (-want +got):\n%s", diff)
	}
	return loaded
}

func TestNewInvitationRefuses(t *testing.T) {
	for what, cfg := range map[string]fleet.InvitationConfig{
		"a name that nobody can have":  {Name: "a~b"},
		"a role that nobody knows":     {Role: 7},
		"an admin with limits":         {Role: fleet.RoleAdmin, Capabilities: []string{"skill"}},
		"the family fleet":             {Capabilities: []string{"fleet"}},
		"an empty scope":               {Scopes: []merge.Scope{{}}},
		"a time of less than nothing":  {TTL: -time.Second},
		"a time of a year":             {TTL: 365 * 24 * time.Hour},
		"uses below one":               {Uses: -1},
		"more uses than can be stored": {Uses: 257},
		"one name for two":             {Name: "kiosk", Uses: 2},
	} {
		if _, err := fleet.NewInvitation(cfg, timeAt(0), source(40)); !errors.Is(err, fleet.ErrMalformed) && !errors.Is(err, fleet.ErrName) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if _, err := fleet.NewInvitation(fleet.InvitationConfig{}, timeAt(0), bytes.NewReader(nil)); err == nil {
		t.Error("an invitation without randomness")
	}
}

func TestInvitationOffersWhatWasAsked(t *testing.T) {
	inv := invite(t, fleet.InvitationConfig{
		Capabilities: []string{"skill", "memory", "skill"}, Scopes: []merge.Scope{{Project: "web"}, {Project: "api"}}, TTL: time.Hour, Uses: 3,
	})
	want := fleet.Invitation{
		Role: fleet.RoleMember, Capabilities: []string{"memory", "skill"}, Scopes: []merge.Scope{{Project: "api"}, {Project: "web"}},
		Secret: inv.Secret, Created: timeAt(0), Expires: timeAt(3_600_000), Uses: 3,
	}
	if diff := cmp.Diff(want, inv); diff != "" {
		t.Errorf("invitation (-want +got):\n%s", diff)
	}
	reader := invite(t, fleet.InvitationConfig{Capabilities: []string{}})
	if len(reader.Capabilities) != 0 {
		t.Errorf("a reader may write %v", reader.Capabilities)
	}
	admin := invite(t, fleet.InvitationConfig{Role: fleet.RoleAdmin})
	if len(admin.Capabilities) != 0 || admin.Role != fleet.RoleAdmin {
		t.Errorf("an admin: %+v", admin)
	}
	if inv.Secret.ID() != inv.ID() || inv.ID() == (fleet.TicketID{}) {
		t.Error("the id is not that of the secret")
	}
}

func TestUnmarshalInvitationRefuses(t *testing.T) {
	joiner := newIdentity(t, 5).ID()
	used := func(who any, statement []byte) []any {
		return []any{map[int]any{1: who, 2: "tablet", 3: statement}}
	}
	for what, change := range map[string]map[int]any{
		"a short secret":              {5: make([]byte, 15)},
		"an end before its beginning": {6: begin + 2000},
		"a beginning before 1970":     {6: -1},
		"an end in the year 6430":     {7: int64(1) << 47},
		"no role":                     {2: 0},
		"no uses":                     {8: 0},
		"a capability twice":          {3: []string{"skill", "skill"}},
		"an empty scope":              {4: [][]string{{"", "", ""}}},
		"a name that nobody can have": {1: "a\nb"},
		"more joiners than uses":      {9: append(used(joiner, []byte{1}), used(joiner, []byte{1})...)},
		"a joiner without a key":      {9: used("local", []byte{1})},
		"a use without a statement":   {9: used(joiner, []byte{})},
	} {
		m := map[int]any{2: 1, 5: make([]byte, 16), 6: begin, 7: begin + 1000, 8: 1}
		for _, changed := range []bool{false, true} {
			if changed {
				maps.Copy(m, change)
			}
			b, err := merge.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fleet.UnmarshalInvitation(b); (err != nil) != changed ||
				err != nil && !errors.Is(err, fleet.ErrMalformed) && !errors.Is(err, fleet.ErrName) {
				t.Errorf("%s, changed %v: got %v", what, changed, err)
			}
		}
	}
	for what, b := range map[string][]byte{"nothing": nil, "2 MiB": make([]byte, 2<<20), "no map": {0x01}} {
		if _, err := fleet.UnmarshalInvitation(b); !errors.Is(err, fleet.ErrMalformed) {
			t.Errorf("%s: got %v, want ErrMalformed", what, err)
		}
	}
}

func FuzzUnmarshalInvitation(f *testing.F) {
	s := newSmall(f)
	inv := invite(f, fleet.InvitationConfig{Scopes: []merge.Scope{{Project: "web"}}, Uses: 2})
	for range 2 {
		b, err := inv.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		if _, err := inv.Redeem(s.redemption(f, &inv, newIdentity(f, 5).ID(), "tablet")); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		inv, err := fleet.UnmarshalInvitation(b)
		if err != nil {
			return
		}
		again, err := inv.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := fleet.UnmarshalInvitation(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(inv, loaded); diff != "" {
			t.Errorf("invitation comes back changed (-want +got):\n%s", diff)
		}
	})
}
