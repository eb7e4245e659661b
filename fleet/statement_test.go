package fleet_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// statement seals a body of any kind as its issuer would; change spoils it
// before it is signed.
func statement(tb testing.TB, f merge.FleetID, issuer fleet.Identity, kind string, body any, change func(*merge.Record)) *merge.Record {
	tb.Helper()
	b, err := merge.Marshal(body)
	if err != nil {
		tb.Fatal(err)
	}
	sum := sha256.Sum256(b)
	id, stamp := issuer.ID(), at(20)
	draft := merge.Record{
		Fleet:    f,
		Key:      merge.Key{Kind: kind, ID: merge.NewID(hex.EncodeToString(sum[:]))},
		Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: id, UpdatedHLC: stamp, LastWriterID: id},
		Basis:    merge.Basis{}.With(id, stamp),
		Body:     b,
	}
	if change != nil {
		change(&draft)
	}
	rec, err := merge.Seal(draft, merge.Ed25519, issuer.Sign)
	if err != nil {
		tb.Fatal(err)
	}
	return &rec
}

// body returns the beginning of every statement's body, and more.
func body(issuer fleet.Identity, more map[int]any) map[int]any {
	m := map[int]any{1: issuer.ID(), 2: at(20).Pack()}
	for k, v := range more {
		m[k] = v
	}
	return m
}

func TestCheckRefusesWhatNoAuthorityCouldMakeGood(t *testing.T) {
	s := newSmall(t)
	other := newIdentity(t, 4)
	valid := map[int]any{3: other.ID(), 4: "tablet", 5: 1, 6: []string{"skill"}}
	hash, noScope := bytes.Repeat([]byte{7}, 32), []string{"", "", ""}
	entry := at(-month).AppendBinary(make([]byte, 8))
	banned, floored := map[int]any{3: other.ID()}, map[int]any{3: "skill", 4: noScope, 5: entry}
	seal := func(kind string, b any, change func(*merge.Record)) *merge.Record {
		return statement(t, s.fleet, s.admin, kind, b, change)
	}
	later := func(r *merge.Record) {
		r.Envelope.UpdatedHLC = at(21)
		r.Basis = merge.Basis{}.With(s.admin.ID(), at(21))
	}
	with := func(k int, v any) map[int]any {
		m := body(s.admin, valid)
		m[k] = v
		return m
	}
	for what, rec := range map[string]*merge.Record{
		"a tombstone": seal("fleet.grant", body(s.admin, valid), func(r *merge.Record) { r.Envelope.Deleted = true }),
		"a tombstone of a kind of the future": seal("fleet.oath", body(s.admin, nil), func(r *merge.Record) {
			r.Envelope.Deleted = true
		}),
		"an id that is not the hash of the body": seal("fleet.grant", body(s.admin, valid), func(r *merge.Record) { r.Key.ID = "other" }),
		"an id of the hash and more":             seal("fleet.grant", body(s.admin, valid), func(r *merge.Record) { r.Key.ID += "\x00x" }),
		"a scope":                                seal("fleet.grant", body(s.admin, valid), func(r *merge.Record) { r.Key.Scope.Project = "web" }),
		"a second version":                       seal("fleet.grant", body(s.admin, valid), func(r *merge.Record) { r.Envelope.SyncVersion = 2 }),
		"a purge":                                seal("fleet.grant", body(s.admin, valid), func(r *merge.Record) { r.Purge = true }),
		"a blob":                                 seal("fleet.grant", body(s.admin, valid), func(r *merge.Record) { r.Blobs = []merge.BlobRef{{Size: 1}} }),
		"another origin":                         seal("fleet.grant", body(s.admin, valid), func(r *merge.Record) { r.Envelope.OriginInstanceID = other.ID() }),
		"a basis that has seen another version": seal("fleet.grant", body(s.admin, valid), func(r *merge.Record) {
			r.Basis = r.Basis.With(s.member.ID(), at(19))
		}),
		"the body of an earlier statement under a later stamp": seal("fleet.grant", body(s.admin, valid), later),
		"the body of another issuer":                           seal("fleet.grant", body(s.root, valid), nil),
		"the body of another issuer in a kind of the future":   seal("fleet.oath", body(s.root, nil), nil),
		"a kind of the future under a later stamp":             seal("fleet.oath", body(s.admin, nil), later),
		"a body without issuer and stamp":                      seal("fleet.oath", map[int]any{3: "x"}, nil),
		"a body that is no map":                                seal("fleet.grant", []int{1, 2}, nil),
		"a body that is null":                                  seal("fleet.oath", nil, nil),
		"a grant without a name":                               seal("fleet.grant", with(4, ""), nil),
		"a grant for text":                                     seal("fleet.grant", with(3, "local"), nil),
		"a grant without a role":                               seal("fleet.grant", with(5, 0), nil),
		"a grant of a role above 255":                          seal("fleet.grant", with(5, 256), nil),
		"capabilities out of order":                            seal("fleet.grant", with(6, []string{"skill", "memory"}), nil),
		"a capability twice":                                   seal("fleet.grant", with(6, []string{"skill", "skill"}), nil),
		"scopes out of order":                                  seal("fleet.grant", with(7, [][]string{{"", "b", ""}, {"", "a", ""}}), nil),
		"a scope of two fields":                                seal("fleet.grant", with(7, [][]string{{"", "b"}}), nil),
		"a beginning beyond the last millisecond":              seal("fleet.grant", with(8, uint64(1)<<63), nil),
		"an end beyond the last millisecond":                   seal("fleet.grant", with(9, uint64(1)<<63), nil),
		"an end before its beginning":                          seal("fleet.grant", with(9, at(19).Pack()), nil),
		"no signature":                                         unsigned(t),
		"a tombstone of a ban":                                 seal("fleet.ban", body(s.admin, banned), func(r *merge.Record) { r.Envelope.Deleted = true }),
		"a ban under another stamp":                            seal("fleet.ban", body(s.admin, banned), later),
		"the ban of another issuer":                            seal("fleet.ban", body(s.root, banned), nil),
		"a second version of a ban":                            seal("fleet.ban", body(s.admin, banned), func(r *merge.Record) { r.Envelope.SyncVersion = 2 }),
		"a ban of nothing":                                     seal("fleet.ban", body(s.admin, nil), nil),
		"a ban of text":                                        seal("fleet.ban", body(s.admin, map[int]any{3: "local"}), nil),
		"a ban of root":                                        seal("fleet.ban", body(s.admin, map[int]any{3: s.root.ID()}), nil),
		"a ban of both":                                        seal("fleet.ban", body(s.admin, map[int]any{3: other.ID(), 6: hash, 7: "skill"}), nil),
		"a ban until before it begins":                         seal("fleet.ban", body(s.admin, map[int]any{3: other.ID(), 4: 9, 5: 8}), nil),
		"a ban from beyond the last stamp":                     seal("fleet.ban", body(s.admin, map[int]any{3: other.ID(), 4: uint64(1) << 63}), nil),
		"a ban until beyond the last stamp":                    seal("fleet.ban", body(s.admin, map[int]any{3: other.ID(), 5: uint64(1) << 63}), nil),
		"a short digest":                                       seal("fleet.ban", body(s.admin, map[int]any{6: hash[1:], 7: "skill"}), nil),
		"an empty digest":                                      seal("fleet.ban", body(s.admin, map[int]any{6: []byte{}, 7: "skill"}), nil),
		"a long content":                                       seal("fleet.ban", body(s.admin, map[int]any{6: hash, 7: "skill", 8: make([]byte, 33)}), nil),
		"what stands out of order":                             seal("fleet.ban", body(s.admin, map[int]any{3: other.ID(), 9: [][]byte{hash, make([]byte, 32)}}), nil),
		"what stands twice":                                    seal("fleet.ban", body(s.admin, map[int]any{3: other.ID(), 9: [][]byte{hash, hash}}), nil),
		"what stands cut short":                                seal("fleet.ban", body(s.admin, map[int]any{3: other.ID(), 9: [][]byte{hash[1:]}}), nil),
		"what stands is null":                                  seal("fleet.ban", body(s.admin, map[int]any{3: other.ID(), 9: []any{nil}}), nil),
		"a tombstone of a floor":                               seal("fleet.floor", body(s.admin, floored), func(r *merge.Record) { r.Envelope.Deleted = true }),
		"a floor under another stamp":                          seal("fleet.floor", body(s.admin, floored), later),
		"the floor of another issuer":                          seal("fleet.floor", body(s.root, floored), nil),
		"a floor of nothing":                                   seal("fleet.floor", body(s.admin, nil), nil),
		"a floor of statements":                                seal("fleet.floor", body(s.admin, map[int]any{3: "fleet", 4: noScope, 5: entry}), nil),
		"a floor with half an entry":                           seal("fleet.floor", body(s.admin, map[int]any{3: "skill", 4: noScope, 5: append(entry, 1, 2, 3, 4, 5, 6, 7, 8)}), nil),
		"a floor with an entry twice":                          seal("fleet.floor", body(s.admin, map[int]any{3: "skill", 4: noScope, 5: append(entry, entry...)}), nil),
		"a floor at a stamp beyond the last":                   seal("fleet.floor", body(s.admin, map[int]any{3: "skill", 4: noScope, 5: bytes.Repeat([]byte{255}, 16)}), nil),
		"a floor at its own stamp":                             seal("fleet.floor", body(s.admin, map[int]any{3: "skill", 4: noScope, 5: at(20).AppendBinary(make([]byte, 8))}), nil),
		"a succession that lists capabilities":                 seal("fleet.grant", body(s.admin, map[int]any{3: other.ID(), 4: "x", 5: 3, 6: []string{"*"}}), nil),
		"a succession to its issuer":                           seal("fleet.grant", body(s.admin, map[int]any{3: s.admin.ID(), 4: "x", 5: 3}), nil),
		"a succession to root":                                 seal("fleet.grant", body(s.admin, map[int]any{3: s.root.ID(), 4: "x", 5: 3}), nil),
	} {
		t.Run(what, func(t *testing.T) {
			if err := fleet.Check(rec, s.fleet); !errors.Is(err, fleet.ErrMalformed) {
				t.Errorf("got %v, want ErrMalformed", err)
			}
			if changed, err := s.authority.Learn(rec); changed || err == nil {
				t.Errorf("learnt: %v, %v", changed, err)
			}
		})
	}
	if err := fleet.Check(s.memberGrant, merge.FleetID{1}); !errors.Is(err, fleet.ErrForeign) {
		t.Errorf("a record of another fleet: got %v, want ErrForeign", err)
	}
}

func TestCheckPassesWhatItDoesNotUnderstand(t *testing.T) {
	s := newSmall(t)
	stranger := newIdentity(t, 9)
	for what, rec := range map[string]*merge.Record{
		"a kind of the future":     statement(t, s.fleet, s.admin, "fleet.oath", body(s.admin, map[int]any{3: "anything", 4: []int{1}}), nil),
		"a kind of a stranger":     statement(t, s.fleet, stranger, "fleet.oath", body(stranger, map[int]any{3: 7}), nil),
		"a grant with a new field": statement(t, s.fleet, s.admin, "fleet.grant", body(s.admin, map[int]any{3: stranger.ID(), 4: "x", 5: 1, 99: "new"}), nil),
		"a grant of a new role":    statement(t, s.fleet, s.admin, "fleet.grant", body(s.admin, map[int]any{3: stranger.ID(), 4: "x", 5: 7}), nil),
		"a ban with a new field":   statement(t, s.fleet, s.admin, "fleet.ban", body(s.admin, map[int]any{3: stranger.ID(), 99: "new"}), nil),
		"a floor with a new field": statement(t, s.fleet, s.admin, "fleet.floor", body(s.admin, map[int]any{
			3: "skill", 4: []string{"", "", ""}, 5: at(-month).AppendBinary(make([]byte, 8)), 99: "new",
		}), nil),
		"a family that nobody knows":   write(t, s.fleet, stranger, merge.Key{Kind: "weather", ID: "x"}, at(1)),
		"a family that begins as ours": write(t, s.fleet, stranger, merge.Key{Kind: "fleetwood.x", ID: "x"}, at(1)),
	} {
		if err := fleet.Check(rec, s.fleet); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestAStatementCannotBeReplaced seals one body twice: the header follows from
// it, so both are the same version.
func TestAStatementCannotBeReplaced(t *testing.T) {
	s := newSmall(t)
	g, err := fleet.GrantOf(s.memberGrant)
	if err != nil {
		t.Fatal(err)
	}
	again := grant(t, s.fleet, s.admin, g, at(10))
	if again.Hash() != s.memberGrant.Hash() || again.Key != s.memberGrant.Key {
		t.Errorf("the same grant is %s, then %s", s.memberGrant.Key, again.Key)
	}
	byRoot := grant(t, s.fleet, s.root, g, at(10))
	later := grant(t, s.fleet, s.admin, g, at(11))
	if byRoot.Key == again.Key || later.Key == again.Key || later.Key == byRoot.Key {
		t.Error("grants of two issuers, or of two stamps, share a key")
	}
}
