package fleet_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// floor seals a floor and fails the test when that is not possible.
func floor(tb testing.TB, f merge.FleetID, issuer fleet.Identity, fl fleet.Floor, stamp hlc.Timestamp) *merge.Record {
	tb.Helper()
	rec, err := fleet.SealFloor(f, issuer, fl, stamp)
	if err != nil {
		tb.Fatal(err)
	}
	return &rec
}

// entries returns n entries at a stamp, ascending.
func entries(n int, stamp hlc.Timestamp) []fleet.FloorEntry {
	all := make([]fleet.FloorEntry, n)
	for i := range all {
		binary.BigEndian.PutUint64(all[i].Key[:], uint64(i))
		all[i].Stamp = stamp
	}
	return all
}

func TestFloorComesBackAsItWasSealed(t *testing.T) {
	s := newSmall(t)
	section := merge.Section{Family: strings.Repeat("f", 64), Scope: merge.Scope{
		Instance: strings.Repeat("i", 256), Project: strings.Repeat("p", 256), Workspace: strings.Repeat("w", 256),
	}}
	for what, want := range map[string]fleet.Floor{
		"one key":           {Section: merge.Section{Family: "memory"}, Entries: entries(1, at(5))},
		"the longest floor": {Section: section, Entries: entries(4000, at(6))},
	} {
		got, err := fleet.FloorOf(floor(t, s.fleet, s.admin, want, at(month+6)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", what, diff)
		}
	}
	// In any order, and a key twice.
	k1, k2 := fleet.KeyHash{1}, fleet.KeyHash{2}
	rec := floor(t, s.fleet, s.admin, fleet.Floor{Section: merge.Section{Family: "memory"}, Entries: []fleet.FloorEntry{
		{Key: k2, Stamp: at(1)}, {Key: k1, Stamp: at(2)}, {Key: k1, Stamp: at(3)}, {Key: k1, Stamp: at(1)},
	}}, at(month+6))
	got, err := fleet.FloorOf(rec)
	if diff := cmp.Diff([]fleet.FloorEntry{{Key: k1, Stamp: at(3)}, {Key: k2, Stamp: at(1)}}, got.Entries); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestSealFloorRefuses(t *testing.T) {
	s := newSmall(t)
	for what, change := range map[string]func(*fleet.Floor){
		"statements":                func(f *fleet.Floor) { f.Section.Family = "fleet" },
		"no family":                 func(f *fleet.Floor) { f.Section.Family = "" },
		"a kind for a family":       func(f *fleet.Floor) { f.Section.Family = "skill.outcome" },
		"a scope that cannot be":    func(f *fleet.Floor) { f.Section.Scope.Project = "a\x00b" },
		"no keys":                   func(f *fleet.Floor) { f.Entries = nil },
		"4,001 keys":                func(f *fleet.Floor) { f.Entries = entries(4001, at(5)) },
		"a stamp of zero":           func(f *fleet.Floor) { f.Entries[0].Stamp = hlc.Timestamp{} },
		"a stamp before 1970":       func(f *fleet.Floor) { f.Entries[0].Stamp.Wall = -1 },
		"a tombstone that is young": func(f *fleet.Floor) { f.Entries[0].Stamp = hlc.Timestamp{Wall: at(5).Wall, Counter: 1} },
	} {
		f := fleet.Floor{Section: merge.Section{Family: "skill"}, Entries: entries(2, at(5))}
		change(&f)
		if _, err := fleet.SealFloor(s.fleet, s.admin, f, at(month+5)); !errors.Is(err, fleet.ErrMalformed) {
			t.Errorf("%s: got %v, want ErrMalformed", what, err)
		}
	}
	f := fleet.Floor{Section: merge.Section{Family: "skill"}, Entries: entries(2, at(5))}
	for _, stamp := range []hlc.Timestamp{{}, {Wall: 5}, {Wall: -1}, {Wall: 1 << 47}} {
		if _, err := fleet.SealFloor(s.fleet, s.admin, f, stamp); !errors.Is(err, fleet.ErrMalformed) {
			t.Errorf("stamped %s: got %v, want ErrMalformed", stamp, err)
		}
	}
}

// TestZombieAfterTheFloor is the row of that name: a machine that was away comes
// back with versions of keys whose tombstones were collected.
func TestZombieAfterTheFloor(t *testing.T) {
	s := newSmall(t)
	old := newIdentity(t, 5)
	web := merge.Scope{Project: "web"}
	gone, other := merge.Key{Kind: "memory", Scope: web, ID: "gone"}, merge.Key{Kind: "memory", Scope: web, ID: "other"}
	learn(t, s.authority, grant(t, s.fleet, s.root, fleet.Grant{Member: old.ID(), Name: "old", Role: fleet.RoleMember, Capabilities: []string{"*"}}, at(1)))
	laid := floor(t, s.fleet, s.admin, fleet.Floor{
		Section: gone.Section(), Entries: []fleet.FloorEntry{{Key: fleet.FloorKeyHash(gone), Stamp: at(100)}},
	}, at(month+100))
	wantJudgement(t, s.authority, write(t, s.fleet, old, gone, at(100)), "admitted", 0)
	learn(t, s.authority, laid)
	const collected = "not admitted: collected: below a floor"
	for _, writer := range []fleet.Identity{old, s.member, s.admin} {
		wantJudgement(t, s.authority, write(t, s.fleet, writer, gone, at(50)), collected, fleet.CauseFloor)
		wantJudgement(t, s.authority, write(t, s.fleet, writer, gone, at(100)), collected, fleet.CauseFloor)
		wantJudgement(t, s.authority, write(t, s.fleet, writer, gone, at(101)), "admitted", 0)
		wantJudgement(t, s.authority, write(t, s.fleet, writer, other, at(50)), "admitted", 0)
	}
	elsewhere := gone
	elsewhere.Scope = merge.Scope{}
	wantJudgement(t, s.authority, write(t, s.fleet, old, elsewhere, at(50)), "admitted", 0)
	wantJudgement(t, s.authority, write(t, s.fleet, newIdentity(t, 9), gone, at(50)), "not admitted: no grant for this writer", fleet.CauseAuthority)

	// Floors add up: an older one lowers nothing.
	learn(t, s.authority,
		floor(t, s.fleet, s.root, fleet.Floor{Section: gone.Section(), Entries: []fleet.FloorEntry{
			{Key: fleet.FloorKeyHash(gone), Stamp: at(80)}, {Key: fleet.FloorKeyHash(other), Stamp: at(60)},
		}}, at(month+200)))
	wantJudgement(t, s.authority, write(t, s.fleet, old, gone, at(90)), collected, fleet.CauseFloor)
	wantJudgement(t, s.authority, write(t, s.fleet, old, other, at(60)), collected, fleet.CauseFloor)
	wantJudgement(t, s.authority, write(t, s.fleet, old, other, at(61)), "admitted", 0)
	member := floor(t, s.fleet, s.member, fleet.Floor{Section: gone.Section(), Entries: entries(1, at(1))}, at(month+200))
	wantJudgement(t, s.authority, member, "not admitted: issuer is not an admin", fleet.CauseAuthority)

	// The floor of an admin that root bans, and that the ban does not list, lifts.
	learn(t, s.authority, ban(t, s.fleet, s.root, fleet.Ban{Writer: s.admin.ID(), From: at(0)}, at(month+300)))
	wantJudgement(t, s.authority, write(t, s.fleet, old, gone, at(90)), "admitted", 0)
	wantJudgement(t, s.authority, write(t, s.fleet, old, gone, at(80)), collected, fleet.CauseFloor)
}

func TestJudgingAllocatesNothing(t *testing.T) {
	s := newSmall(t)
	key := merge.Key{Kind: "memory", Scope: merge.Scope{Project: "web"}, ID: merge.NewID(strings.Repeat("i", 256), strings.Repeat("j", 256))}
	learn(t, s.authority, floor(t, s.fleet, s.admin, fleet.Floor{Section: key.Section(), Entries: entries(100, at(1))}, at(month+200)))
	rec := write(t, s.fleet, s.member, key, at(50))
	version := rec.Version()
	if n := testing.AllocsPerRun(100, func() { s.authority.Judge(rec) }); n != 0 {
		t.Errorf("Judge: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { s.authority.JudgeVersion(key, version) }); n != 0 {
		t.Errorf("JudgeVersion: %v allocations", n)
	}
}
