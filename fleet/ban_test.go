package fleet_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// ban seals a ban and fails the test when that is not possible.
func ban(tb testing.TB, f merge.FleetID, issuer fleet.Identity, b fleet.Ban, stamp hlc.Timestamp) *merge.Record {
	tb.Helper()
	rec, err := fleet.SealBan(f, issuer, b, stamp)
	if err != nil {
		tb.Fatal(err)
	}
	return &rec
}

// wantJudgement compares what an authority says of a record.
func wantJudgement(tb testing.TB, a *fleet.Authority, rec *merge.Record, want string, cause fleet.Cause) {
	tb.Helper()
	j := a.Judge(rec)
	if j.String() != want || j.Cause != cause {
		tb.Errorf("%s at %s: %s (cause %d), want %s (cause %d)", rec.Key, rec.Envelope.UpdatedHLC, j, j.Cause, want, cause)
	}
	if short, sure := a.JudgeVersion(rec.Key, rec.Version()); sure && short != j {
		tb.Errorf("%s without the record: %s, with it %s", rec.Key, short, j)
	}
}

func permutations[T any](all []T) [][]T {
	if len(all) <= 1 {
		return [][]T{all}
	}
	var orders [][]T
	for i := range all {
		rest := slices.Delete(slices.Clone(all), i, i+1)
		for _, p := range permutations(rest) {
			orders = append(orders, append([]T{all[i]}, p...))
		}
	}
	return orders
}

func TestBanComesBackAsItWasSealed(t *testing.T) {
	s := newSmall(t)
	x, y := s.adminGrant.Hash(), s.memberGrant.Hash()
	for what, want := range map[string]fleet.Ban{
		"a revocation":               {Writer: s.member.ID(), From: at(5)},
		"a ban of all that it wrote": {Writer: s.member.ID()},
		"a void":                     {Writer: s.member.ID(), From: at(5), To: at(9), Note: "poisoned: see ticket 7"},
		"a ban that lets stand":      {Writer: s.admin.ID(), From: at(5), Stands: []merge.Hash{y, x, y}},
		"a withdrawal":               {Kind: "skill", Digest: merge.Hash{1}, Content: [32]byte{2}, Note: "it deletes the database"},
	} {
		rec := ban(t, s.fleet, s.root, want, at(20))
		if err := fleet.Check(rec, s.fleet); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		got, err := fleet.BanOf(rec)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		want.Stands = slices.Compact(slices.SortedFunc(slices.Values(want.Stands), func(a, b merge.Hash) int {
			return strings.Compare(string(a[:]), string(b[:]))
		}))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", what, diff)
		}
	}
}

func TestTheLongestBanFits(t *testing.T) {
	s := newSmall(t)
	b := fleet.Ban{Writer: s.admin.ID(), From: at(5), To: at(1 << 40), Note: strings.Repeat("n", 256)}
	for i := range 1800 {
		b.Stands = append(b.Stands, merge.Hash{byte(i >> 8), byte(i), 1})
	}
	if got, err := fleet.BanOf(ban(t, s.fleet, s.root, b, at(20))); err != nil || len(got.Stands) != 1800 {
		t.Errorf("%d stand, %v", len(got.Stands), err)
	}
}

func TestSealBanRefuses(t *testing.T) {
	s := newSmall(t)
	stands := make([]merge.Hash, 1801)
	for i := range stands {
		stands[i] = merge.Hash{byte(i >> 8), byte(i), 1}
	}
	withdrawal := fleet.Ban{Kind: "skill", Digest: merge.Hash{1}}
	for what, change := range map[string]func(*fleet.Ban){
		"nothing":                         func(b *fleet.Ban) { *b = fleet.Ban{} },
		"a writer without a key":          func(b *fleet.Ban) { b.Writer = "local" },
		"the root":                        func(b *fleet.Ban) { b.Writer = s.root.ID() },
		"a writer and a digest":           func(b *fleet.Ban) { b.Kind, b.Digest = "skill", merge.Hash{1} },
		"a writer and a kind":             func(b *fleet.Ban) { b.Kind = "skill" },
		"a writer and a content":          func(b *fleet.Ban) { b.Content = [32]byte{1} },
		"an end at its beginning":         func(b *fleet.Ban) { b.To = b.From },
		"an end before its beginning":     func(b *fleet.Ban) { b.To = at(1) },
		"a beginning before 1970":         func(b *fleet.Ban) { b.From = hlc.Timestamp{Wall: -1} },
		"an end in the year 6430":         func(b *fleet.Ban) { b.To = hlc.Timestamp{Wall: 1 << 47} },
		"1,801 statements that stand":     func(b *fleet.Ban) { b.Stands = stands },
		"a note of 257 bytes":             func(b *fleet.Ban) { b.Note = strings.Repeat("n", 257) },
		"a note with an escape":           func(b *fleet.Ban) { b.Note = "\x1b[2J" },
		"a digest without a kind":         func(b *fleet.Ban) { *b = withdrawal; b.Kind = "" },
		"a kind without a digest":         func(b *fleet.Ban) { *b = withdrawal; b.Digest = merge.Hash{} },
		"a kind of statements":            func(b *fleet.Ban) { *b = withdrawal; b.Kind = "fleet.grant" },
		"a kind that cannot be":           func(b *fleet.Ban) { *b = withdrawal; b.Kind = "skill\n" },
		"a withdrawal for a while":        func(b *fleet.Ban) { *b = withdrawal; b.To = at(9) },
		"a withdrawal from a stamp on":    func(b *fleet.Ban) { *b = withdrawal; b.From = at(9) },
		"a withdrawal that lets stand":    func(b *fleet.Ban) { *b = withdrawal; b.Stands = stands[:1] },
		"a withdrawal with a loud escape": func(b *fleet.Ban) { *b = withdrawal; b.Note = "a\u202eb" },
	} {
		b := fleet.Ban{Writer: s.member.ID(), From: at(5)}
		change(&b)
		if _, err := fleet.SealBan(s.fleet, s.admin, b, at(10)); !errors.Is(err, fleet.ErrMalformed) {
			t.Errorf("%s: got %v, want ErrMalformed", what, err)
		}
	}
	for _, stamp := range []hlc.Timestamp{{}, {Wall: -1}, {Wall: 1 << 47}} {
		if _, err := fleet.SealBan(s.fleet, s.admin, withdrawal, stamp); !errors.Is(err, fleet.ErrMalformed) {
			t.Errorf("stamped %s: got %v, want ErrMalformed", stamp, err)
		}
	}
}

// TestBannedMemberWritesOn is the row of that name in the table of threats.
func TestBannedMemberWritesOn(t *testing.T) {
	s := newSmall(t)
	key := merge.Key{Kind: "skill", ID: "x"}
	revoked := ban(t, s.fleet, s.admin, fleet.Ban{Writer: s.member.ID(), From: at(50)}, at(60))
	learn(t, s.authority, revoked)
	wantJudgement(t, s.authority, write(t, s.fleet, s.member, key, at(49)), "admitted", 0)
	for _, ms := range []int64{50, 51, 1 << 40} {
		wantJudgement(t, s.authority, write(t, s.fleet, s.member, key, at(ms)), "not admitted: writer banned from 1790000000050.0 on", fleet.CauseBanned)
	}
	// A grant does not lift it, whoever issues it.
	learn(t, s.authority,
		grant(t, s.fleet, s.admin, fleet.Grant{Member: s.member.ID(), Name: "laptop", Role: fleet.RoleMember, Capabilities: []string{"*"}}, at(70)),
		grant(t, s.fleet, s.root, fleet.Grant{Member: s.member.ID(), Name: "laptop", Role: fleet.RoleMember, Capabilities: []string{"*"}}, at(71)))
	wantJudgement(t, s.authority, write(t, s.fleet, s.member, key, at(80)), "not admitted: writer banned from 1790000000050.0 on", fleet.CauseBanned)
	m, _ := s.authority.Member(s.member.ID())
	if m.Ban == nil || m.Ban.From != at(50) || !m.ActiveAt(at(49)) || m.ActiveAt(at(50)) {
		t.Errorf("the banned member is %+v", m)
	}
	if diff := cmp.Diff([]fleet.Imposed{{Ban: *m.Ban, Issuer: s.admin.ID(), Stamp: at(60)}}, s.authority.Bans()); diff != "" {
		t.Errorf("bans (-want +got):\n%s", diff)
	}

	// A void is for a range, and connections stay welcome.
	learn(t, s.authority, ban(t, s.fleet, s.root, fleet.Ban{Writer: s.admin.ID(), From: at(20), To: at(30)}, at(61)))
	wantJudgement(t, s.authority, write(t, s.fleet, s.admin, key, at(19)), "admitted", 0)
	wantJudgement(t, s.authority, write(t, s.fleet, s.admin, key, at(20)), "not admitted: writer banned from 1790000000020.0 to 1790000000030.0", fleet.CauseBanned)
	wantJudgement(t, s.authority, write(t, s.fleet, s.admin, key, at(30)), "admitted", 0)
	if m, _ := s.authority.Member(s.admin.ID()); m.Ban != nil || !m.ActiveAt(at(25)) {
		t.Errorf("the admin of which a range is void is %+v", m)
	}
}

func TestOnlyRootBansAnAdmin(t *testing.T) {
	s := newSmall(t)
	second := newIdentity(t, 5)
	learn(t, s.authority, grant(t, s.fleet, s.root, fleet.Grant{Member: second.ID(), Name: "rack", Role: fleet.RoleAdmin}, at(1)))
	banAdmin := fleet.Ban{Writer: s.admin.ID(), From: at(50)}
	wantJudgement(t, s.authority, ban(t, s.fleet, second, banAdmin, at(60)), "not admitted: only root bans admins", fleet.CauseAuthority)
	wantJudgement(t, s.authority, ban(t, s.fleet, s.member, fleet.Ban{Writer: second.ID()}, at(60)), "not admitted: issuer is not an admin", fleet.CauseAuthority)
	wantJudgement(t, s.authority, ban(t, s.fleet, s.root, banAdmin, at(60)), "admitted", 0)

	// Root lifts an admin's ban of a member when it makes that one an admin.
	learn(t, s.authority, ban(t, s.fleet, s.admin, fleet.Ban{Writer: s.member.ID(), From: at(50)}, at(60)))
	skill := write(t, s.fleet, s.member, merge.Key{Kind: "skill", ID: "x"}, at(70))
	mark := s.authority.Mark()
	if s.authority.Judge(skill).Admitted || mark == [32]byte{} {
		t.Fatal("the admin's ban has no effect")
	}
	learn(t, s.authority, grant(t, s.fleet, s.root, fleet.Grant{Member: s.member.ID(), Name: "laptop", Role: fleet.RoleAdmin}, at(65)))
	if j := s.authority.Judge(skill); !j.Admitted || s.authority.Mark() != [32]byte{} {
		t.Errorf("after root made it an admin: %s, mark %x", j, s.authority.Mark())
	}
}

// TestAdminBannedWhilePartitioned is the pure part of the row of that name: the
// ban lists what root held of the admin, and what the admin goes on to state on
// its side of the partition, back-dated or not, ends nowhere in force, in
// whatever order it meets the ban.
func TestAdminBannedWhilePartitioned(t *testing.T) {
	s := newSmall(t)
	late, dated := newIdentity(t, 5), newIdentity(t, 6)
	revoked := ban(t, s.fleet, s.root, fleet.Ban{Writer: s.admin.ID(), From: at(50), Stands: s.authority.InForce(s.admin.ID())}, at(60))
	statements := []*merge.Record{
		s.adminGrant, s.memberGrant, revoked,
		grant(t, s.fleet, s.admin, fleet.Grant{Member: late.ID(), Name: "late", Role: fleet.RoleMember, Capabilities: []string{"*"}}, at(70)),
		grant(t, s.fleet, s.admin, fleet.Grant{Member: dated.ID(), Name: "dated", Role: fleet.RoleMember, Capabilities: []string{"*"}}, at(11)),
		ban(t, s.fleet, s.admin, fleet.Ban{Writer: s.member.ID()}, at(12)),
	}
	skill := func(writer fleet.Identity, ms int64) *merge.Record {
		return write(t, s.fleet, writer, merge.Key{Kind: "skill", ID: "x"}, at(ms))
	}
	for _, order := range permutations(statements) {
		a := fleet.NewAuthority(s.fleet)
		learnParking(t, a, order)
		if diff := cmp.Diff(hashesOf([]*merge.Record{s.adminGrant, s.memberGrant, revoked}), hashesOf(a.Statements())); diff != "" {
			t.Fatalf("in force (-want +got):\n%s", diff)
		}
		for _, st := range statements[3:] {
			wantJudgement(t, a, st, "not admitted: its issuer is banned, and the ban does not let it stand", fleet.CauseBanned)
		}
		wantJudgement(t, a, skill(s.member, 80), "admitted", 0)
		wantJudgement(t, a, skill(late, 80), "not admitted: no grant for this writer", fleet.CauseAuthority)
		wantJudgement(t, a, skill(dated, 80), "not admitted: no grant for this writer", fleet.CauseAuthority)
		wantJudgement(t, a, skill(s.admin, 49), "admitted", 0)
		wantJudgement(t, a, skill(s.admin, 50), "not admitted: writer banned from 1790000000050.0 on", fleet.CauseBanned)
	}
}

func TestAVoidOfAnAdminTakesStatementsWithinItAlone(t *testing.T) {
	s := newSmall(t)
	member := func(n byte, ms int64) *merge.Record {
		return grant(t, s.fleet, s.admin, fleet.Grant{Member: newIdentity(t, n).ID(), Name: newIdentity(t, n).String()[40:], Role: fleet.RoleMember}, at(ms))
	}
	before, listed, within, after := member(5, 19), member(6, 20), member(7, 29), member(8, 30)
	learn(t, s.authority, before, listed, within, after)
	learn(t, s.authority, ban(t, s.fleet, s.root, fleet.Ban{
		Writer: s.admin.ID(), From: at(20), To: at(30), Stands: []merge.Hash{listed.Hash()},
	}, at(60)))
	for _, rec := range []*merge.Record{before, listed, after} {
		wantJudgement(t, s.authority, rec, "admitted", 0)
	}
	wantJudgement(t, s.authority, within, "not admitted: its issuer is banned, and the ban does not let it stand", fleet.CauseBanned)
}

// TestWithdrawnVersionIsRefusedForEver is the row of that name.
func TestWithdrawnVersionIsRefusedForEver(t *testing.T) {
	s := newSmall(t)
	version := func(writer fleet.Identity, kind, body string, ms int64, blobs ...merge.BlobRef) *merge.Record {
		rec, err := merge.Seal(merge.Record{
			Fleet: s.fleet, Key: merge.Key{Kind: kind, ID: "deploy"},
			Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: writer.ID(), UpdatedHLC: at(ms), LastWriterID: writer.ID()},
			Basis:    merge.Basis{}.With(writer.ID(), at(ms)), Body: []byte(body), Blobs: blobs,
		}, merge.Ed25519, writer.Sign)
		if err != nil {
			t.Fatal(err)
		}
		return &rec
	}
	bad := version(s.member, "skill", "bad", 20)
	withdrawal := fleet.Ban{Kind: "skill", Digest: fleet.Digest(bad), Content: [32]byte{7}, Note: "leaks keys"}
	learn(t, s.authority, ban(t, s.fleet, s.admin, withdrawal, at(30)))
	const withdrawn = "not admitted: version withdrawn"
	wantJudgement(t, s.authority, bad, withdrawn, fleet.CauseWithdrawn)
	wantJudgement(t, s.authority, version(s.member, "skill", "bad", 90), withdrawn, fleet.CauseWithdrawn)
	wantJudgement(t, s.authority, version(s.admin, "skill", "bad", 91), withdrawn, fleet.CauseWithdrawn)
	wantJudgement(t, s.authority, version(s.member, "skill", "good", 20), "admitted", 0)
	wantJudgement(t, s.authority, version(s.member, "memory", "bad", 20), "admitted", 0)
	wantJudgement(t, s.authority, version(s.member, "skill", "bad", 20, merge.BlobRef{Hash: [32]byte{1}, Size: 1}), "admitted", 0)
	if _, sure := s.authority.JudgeVersion(bad.Key, bad.Version()); sure {
		t.Error("a version of a kind with withdrawals was judged by its key alone")
	}
	if _, sure := s.authority.JudgeVersion(merge.Key{Kind: "memory", ID: "x"}, bad.Version()); !sure {
		t.Error("another kind was not")
	}
	if _, sure := s.authority.JudgeVersion(s.memberGrant.Key, s.memberGrant.Version()); sure {
		t.Error("a statement was judged by its key alone")
	}
	want := []fleet.Withdrawal{{Kind: "skill", Digest: withdrawal.Digest, Content: [32]byte{7}, Note: "leaks keys", Issuer: s.admin.ID(), Stamp: at(30)}}
	if diff := cmp.Diff(want, s.authority.Withdrawals()); diff != "" {
		t.Errorf("withdrawals (-want +got):\n%s", diff)
	}
	if !s.authority.WithdrawnContent("skill", [32]byte{7}) || s.authority.WithdrawnContent("skill", [32]byte{8}) ||
		s.authority.WithdrawnContent("memory", [32]byte{7}) || s.authority.WithdrawnContent("skill", [32]byte{}) {
		t.Error("the withdrawn content is not that of the withdrawal")
	}
	if len(s.authority.Bans()) != 0 {
		t.Error("a withdrawal bans a writer")
	}
}

// TestRevokedKeyIsNotGrantedAgain joins by a good ticket, with a key that was
// banned before.
func TestRevokedKeyIsNotGrantedAgain(t *testing.T) {
	s := newSmall(t)
	successor := newIdentity(t, 7)
	handedOver := succession(t, s.fleet, s.member, successor, at(40))
	learn(t, s.authority, handedOver, ban(t, s.fleet, s.admin, fleet.Ban{
		Writer: s.member.ID(), From: at(50), Stands: []merge.Hash{handedOver.Hash()},
	}, at(60)))
	for what, key := range map[string]fleet.Identity{"the key": s.member, "its successor": successor} {
		if b, ok := s.authority.Banned(key.ID()); !ok || b.From != at(50) {
			t.Errorf("%s: banned %v, %+v", what, ok, b)
		}
		inv := invite(t, fleet.InvitationConfig{})
		r := s.redemption(t, &inv, key.ID(), "again")
		r.Banned = func(id merge.InstanceID) bool { _, ok := s.authority.Banned(id); return ok }
		_, err := inv.Redeem(r)
		if !errors.Is(err, fleet.ErrBanned) || len(inv.Redeemed) != 0 {
			t.Errorf("%s: got %v, want ErrBanned and the ticket unspent", what, err)
		}
		reply := fleet.Refuse(err)
		if reply.Status != fleet.JoinBanned || !errors.Is(reply.Err(), fleet.ErrBanned) {
			t.Errorf("%s: the joiner is told %v", what, reply.Err())
		}
	}
	if _, ok := s.authority.Banned(s.admin.ID()); ok {
		t.Error("the admin is banned")
	}
	// A key is known as banned before it is a member.
	stranger := newIdentity(t, 9)
	learn(t, s.authority, ban(t, s.fleet, s.admin, fleet.Ban{Writer: stranger.ID()}, at(61)))
	if _, ok := s.authority.Banned(stranger.ID()); !ok {
		t.Error("a banned stranger is not banned")
	}
	if _, ok := s.authority.Member(stranger.ID()); ok {
		t.Error("a banned stranger is a member")
	}
	wantJudgement(t, s.authority, write(t, s.fleet, stranger, merge.Key{Kind: "skill", ID: "x"}, at(70)), "not admitted: writer banned from 0.0 on", fleet.CauseBanned)
	learn(t, s.authority, ban(t, s.fleet, s.admin, fleet.Ban{Writer: newIdentity(t, 10).ID(), From: at(1), To: at(2)}, at(62)))
	if _, ok := s.authority.Banned(newIdentity(t, 10).ID()); ok {
		t.Error("a void bans for ever")
	}
}
