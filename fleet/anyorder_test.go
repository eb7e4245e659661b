package fleet_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// month is how much older than its floor a tombstone is, in milliseconds.
const month = int64(fleet.FloorHorizonMin / time.Millisecond)

// crowd is who appears in drawn statements: root, two who are mostly admins,
// three who are mostly members, and keys that are mostly new.
type crowd struct {
	people []fleet.Identity
	fleet  merge.FleetID
	probes []*merge.Record
}

func newCrowd(tb testing.TB) crowd {
	tb.Helper()
	c := crowd{people: make([]fleet.Identity, 9)}
	for i := range c.people {
		c.people[i] = newIdentity(tb, byte(i+1))
	}
	c.fleet = fleet.FleetIDOf(c.people[0].Public())
	for _, p := range c.people {
		for _, key := range []merge.Key{
			{Kind: "skill", ID: "x"},
			{Kind: "skill", Scope: merge.Scope{Project: "web"}, ID: "x"},
			{Kind: "memory.x", Scope: merge.Scope{Project: "api", Workspace: "blue"}, ID: "x"},
			{Kind: "weather", ID: "x"},
		} {
			for _, ms := range []int64{5 - month, 1, 7, 13, 25} {
				c.probes = append(c.probes, write(tb, c.fleet, p, key, at(ms)))
			}
		}
	}
	return c
}

// draw draws statements by root, by admins and by others, with few people,
// names and times, so that they meet.
func (c crowd) draw(rt *rapid.T) []*merge.Record {
	count := rapid.IntRange(0, 18).Draw(rt, "statements")
	recs := c.drawBeginning(rt)
	for range count {
		issuer := c.people[rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8}).Draw(rt, "issuer")]
		stamp := at(rapid.Int64Range(1, 20).Draw(rt, "stamp"))
		var rec merge.Record
		var err error
		switch rapid.SampledFrom([]string{"grant", "grant", "grant", "succession", "succession", "ban", "ban", "withdrawal", "floor"}).Draw(rt, "what") {
		case "grant":
			rec, err = fleet.SealGrant(c.fleet, issuer, c.drawGrant(rt), stamp)
		case "succession":
			if issuer.ID() == c.people[0].ID() {
				continue // malformed
			}
			to := c.people[rapid.SampledFrom([]int{1, 3, 4, 6, 6, 7, 7, 8, 8}).Draw(rt, "successor")]
			if to.ID() == issuer.ID() {
				continue
			}
			rec, err = fleet.SealGrant(c.fleet, issuer, fleet.Grant{Member: to.ID(), Name: "s", Role: fleet.RoleSuccessor}, stamp)
		case "ban":
			rec, err = fleet.SealBan(c.fleet, issuer, c.drawBan(rt, recs), stamp)
		case "withdrawal":
			kind := rapid.SampledFrom([]string{"skill", "weather"}).Draw(rt, "withdrawn kind")
			rec, err = fleet.SealBan(c.fleet, issuer, fleet.Ban{Kind: kind, Digest: fleet.Digest(c.probes[0])}, stamp)
		case "floor":
			section := merge.Section{Family: "skill", Scope: rapid.SampledFrom([]merge.Scope{{}, {Project: "web"}}).Draw(rt, "floor in")}
			rec, err = fleet.SealFloor(c.fleet, issuer, fleet.Floor{Section: section, Entries: []fleet.FloorEntry{{
				Key:   fleet.FloorKeyHash(merge.Key{Kind: "skill", Scope: section.Scope, ID: "x"}),
				Stamp: hlc.Timestamp{Wall: stamp.Wall - month},
			}}}, stamp)
		}
		if err != nil {
			rt.Fatal(err)
		}
		recs = append(recs, &rec)
	}
	return recs
}

// drawBeginning draws grants that most others stand on.
func (c crowd) drawBeginning(rt *rapid.T) []*merge.Record {
	var recs []*merge.Record
	for n := range 5 {
		if rapid.IntRange(0, 3).Draw(rt, "not at first") == 0 {
			continue
		}
		issuer, g := c.people[1], fleet.Grant{
			Member: c.people[n+1].ID(), Name: string("abc"[n%3]), Role: fleet.RoleMember, Capabilities: []string{"*"}, Issued: at(-2 * month),
		}
		if n < 2 {
			issuer, g.Role, g.Capabilities = c.people[0], fleet.RoleAdmin, nil
		}
		rec, err := fleet.SealGrant(c.fleet, issuer, g, at(int64(n)))
		if err != nil {
			rt.Fatal(err)
		}
		recs = append(recs, &rec)
	}
	return recs
}

func (c crowd) drawGrant(rt *rapid.T) fleet.Grant {
	g := fleet.Grant{
		Member: c.people[rapid.SampledFrom([]int{1, 2, 3, 3, 4, 5, 6}).Draw(rt, "member")].ID(),
		Name:   rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "name"),
		Role:   rapid.SampledFrom([]fleet.Role{fleet.RoleMember, fleet.RoleAdmin}).Draw(rt, "role"),
	}
	if g.Role == fleet.RoleMember {
		g.Capabilities = rapid.SampledFrom([][]string{nil, {"*"}, {"skill"}, {"memory", "skill"}}).Draw(rt, "capabilities")
		g.Scopes = rapid.SampledFrom([][]merge.Scope{nil, {{Project: "web"}}, {{Workspace: "blue"}, {Project: "api"}}}).Draw(rt, "scopes")
	}
	from := rapid.SampledFrom([]int64{-2 * month, 1, 2, 3, 5, 8, 13}).Draw(rt, "issued")
	g.Issued = at(from)
	if rapid.IntRange(0, 3).Draw(rt, "expires") == 0 {
		g.Expires = at(max(from, 0) + rapid.Int64Range(1, 10).Draw(rt, "for"))
	}
	return g
}

// drawBan bans somebody, and lets some of what was drawn stand.
func (c crowd) drawBan(rt *rapid.T, recs []*merge.Record) fleet.Ban {
	b := fleet.Ban{
		Writer: c.people[rapid.IntRange(1, len(c.people)-1).Draw(rt, "banned")].ID(),
		From:   at(rapid.Int64Range(0, 15).Draw(rt, "from")),
	}
	if rapid.Bool().Draw(rt, "ranged") {
		b.To = hlc.Timestamp{Wall: b.From.Wall + rapid.Int64Range(1, 8).Draw(rt, "length")}
	}
	for _, rec := range recs {
		if rapid.Bool().Draw(rt, "stands") {
			b.Stands = append(b.Stands, rec.Hash())
		}
	}
	return b
}

// TestStatementsInAnyOrder learns statements as a node does, one by one, with
// those that are not admitted parked and judged again after every change, and
// compares the result with a twin that sees all of them at once. So it does
// after a restart, from what was in force and then the rest.
func TestStatementsInAnyOrder(t *testing.T) {
	c := newCrowd(t)
	rapid.Check(t, func(rt *rapid.T) {
		recs := c.draw(rt)
		want := newTwin(recs, c.people[0].ID())
		asked := append(slices.Clone(recs), c.probes...)
		for range 3 {
			a := fleet.NewAuthority(c.fleet)
			learnParking(rt, a, rapid.Permutation(recs).Draw(rt, "order"))
			compareWithTwin(rt, a, want, asked)

			again := fleet.NewAuthority(c.fleet)
			learnParking(rt, again, a.Statements())
			if diff := cmp.Diff(hashesOf(a.Statements()), hashesOf(again.Statements())); diff != "" {
				rt.Fatalf("what was in force, learnt alone, is (-before +after):\n%s", diff)
			}
			learnParking(rt, again, rapid.Permutation(recs).Draw(rt, "order after the restart"))
			compareWithTwin(rt, again, want, asked)
		}
		all := fleet.NewAuthority(c.fleet)
		if _, err := all.LearnAll(rapid.Permutation(recs).Draw(rt, "order at once")); err != nil {
			rt.Fatal(err)
		}
		compareWithTwin(rt, all, want, asked)
	})
}

// TestJudgementOfWhatIsNotKnownIsPure judges statements that were not learnt as
// the twin does that knows them too.
func TestJudgementOfWhatIsNotKnownIsPure(t *testing.T) {
	c := newCrowd(t)
	rapid.Check(t, func(rt *rapid.T) {
		recs, others := c.draw(rt), c.draw(rt)
		a := fleet.NewAuthority(c.fleet)
		learnParking(rt, a, recs)
		compareWithTwin(rt, a, newTwin(recs, c.people[0].ID()), others)
	})
}

// TestEqualMarksMeanThatNothingWasTakenBack learns statements one by one: while
// the mark is equal, what was admitted is. A statement is learnt when it is
// admitted; nothing is said of one that was not.
func TestEqualMarksMeanThatNothingWasTakenBack(t *testing.T) {
	c := newCrowd(t)
	rapid.Check(t, func(rt *rapid.T) {
		recs := c.draw(rt)
		a := fleet.NewAuthority(c.fleet)
		admitted := map[[32]byte][]*merge.Record{} // by mark
		for _, rec := range recs {
			learnParking(rt, a, []*merge.Record{rec})
			for _, before := range admitted[a.Mark()] {
				if j := a.Judge(before); !j.Admitted {
					rt.Fatalf("%s at %s was admitted under the same mark: %s", before.Key, before.Envelope.UpdatedHLC, j)
				}
			}
			of := slices.DeleteFunc(slices.Clone(c.probes), func(r *merge.Record) bool { return !a.Judge(r).Admitted })
			admitted[a.Mark()] = append(of, a.Statements()...)
		}
	})
}

func hashesOf(recs []*merge.Record) []merge.Hash {
	var hashes []merge.Hash
	for _, rec := range recs {
		hashes = append(hashes, rec.Hash())
	}
	return hashes
}

// learnParking is what the caller of an Authority has to do: it learns what is
// admitted, parks the rest, and judges that again after every change.
func learnParking(tb rapid.TB, a *fleet.Authority, recs []*merge.Record) {
	var parked []*merge.Record
	for _, rec := range recs {
		parked = append(parked, rec)
		for again := true; again; {
			again = false
			parked = slices.DeleteFunc(parked, func(p *merge.Record) bool {
				if !a.Judge(p).Admitted {
					return false
				}
				changed, err := a.Learn(p)
				if err != nil {
					tb.Fatal(err)
				}
				again = again || changed
				return true
			})
		}
	}
}

func compareWithTwin(rt *rapid.T, a *fleet.Authority, want twin, recs []*merge.Record) {
	for _, rec := range recs {
		got := a.Judge(rec)
		if got.Admitted != want.admits(rec) || got.Admitted != (got.Reason == "") || got.Admitted != (got.Cause == 0) {
			rt.Fatalf("%s by %s at %s: %s, the twin says %v", rec.Key, rec.Envelope.LastWriterID, rec.Envelope.UpdatedHLC, got, want.admits(rec))
		}
		if j, sure := a.JudgeVersion(rec.Key, rec.Version()); sure && j != got {
			rt.Fatalf("%s by %s at %s: %s, without the record %s", rec.Key, rec.Envelope.LastWriterID, rec.Envelope.UpdatedHLC, got, j)
		}
	}
	names := map[string]string{}
	for _, m := range a.Members() {
		if byName, ok := a.ByName(m.Name); !ok || byName.ID != m.ID {
			rt.Fatalf("ByName(%q) is %s, want %s", m.Name, byName.ID, m.ID)
		}
		plain, suffix, _ := strings.Cut(m.Name, "~")
		if !strings.HasSuffix(m.ID.String(), suffix) {
			rt.Fatalf("%q is not the name of %s", m.Name, m.ID)
		}
		names[m.ID.String()] = plain
		if suffix == "" {
			names[m.ID.String()] += " (first)"
		}
		compareMember(rt, m, want)
	}
	if diff := cmp.Diff(want.names(), names); diff != "" {
		rt.Fatalf("names (-twin +authority):\n%s", diff)
	}
	if a.Mark() != want.mark() {
		rt.Fatalf("mark %x, the twin's is %x", a.Mark(), want.mark())
	}
}

// compareMember compares what a member says of its lineage and its ban.
func compareMember(rt *rapid.T, m fleet.Member, want twin) {
	var before, after merge.InstanceID
	for _, s := range want.before(m.ID) {
		before = s.issuer
	}
	for _, s := range want.after(m.ID) {
		after = s.grant.Member
	}
	if m.Predecessor != before || m.Successor != after {
		rt.Fatalf("%s follows %q and is followed by %q, the twin says %q and %q", m.ID, m.Predecessor, m.Successor, before, after)
	}
	var from *hlc.Timestamp
	for _, b := range want.bansOn(m.ID, false) {
		if b.ban.To.IsZero() && (from == nil || b.ban.From.Before(*from)) {
			from = &b.ban.From
		}
	}
	if (m.Ban == nil) != (from == nil) || from != nil && m.Ban.From != *from {
		rt.Fatalf("the ban of %s is %+v, the twin's begins at %v", m.ID, m.Ban, from)
	}
}
