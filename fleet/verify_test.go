package fleet_test

import (
	"bytes"
	"crypto/ed25519"
	crand "crypto/rand"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oasisprotocol/curve25519-voi/curve"
	"github.com/oasisprotocol/curve25519-voi/curve/scalar"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// smallOrderPoints are the encodings of the eight points of small order: the
// canonical ones, then the others that decode.
var smallOrderPoints = []string{
	"0100000000000000000000000000000000000000000000000000000000000000",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0000000000000000000000000000000000000000000000000000000000000080",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
	"0100000000000000000000000000000000000000000000000000000000000080",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
}

func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// crafted seals a record of a writer with a signature made by sign.
func crafted(tb testing.TB, key ed25519.PublicKey, n int, sign func(message []byte) []byte) *merge.Record {
	tb.Helper()
	writer, stamp := merge.InstanceOf(key), at(int64(n))
	rec, err := merge.Seal(merge.Record{
		Fleet:    merge.FleetID{1},
		Key:      merge.Key{Kind: "memory", ID: merge.NewID(fmt.Sprintf("crafted-%d", n))},
		Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: writer, UpdatedHLC: stamp, LastWriterID: writer},
		Basis:    merge.Basis{}.With(writer, stamp),
	}, merge.Ed25519, func(m []byte) ([]byte, error) { return sign(m), nil })
	if err != nil {
		tb.Fatal(err)
	}
	return &rec
}

// smallOrderSignatures are valid for any message under ZIP-215: a key and an R
// of small order, and S = 0.
func smallOrderSignatures(tb testing.TB) []*merge.Record {
	tb.Helper()
	var recs []*merge.Record
	for _, key := range smallOrderPoints {
		for _, r := range smallOrderPoints {
			sig := append(unhex(tb, r), make([]byte, 32)...)
			recs = append(recs, crafted(tb, unhex(tb, key), len(recs), func([]byte) []byte { return sig }))
		}
	}
	return recs
}

// mixedOrderSignatures are by ordinary keys, with a point of small order added
// to R, to the key, or to both: the cofactor removes it.
func mixedOrderSignatures(tb testing.TB) []*merge.Record {
	tb.Helper()
	var recs []*merge.Record
	for i, encoded := range smallOrderPoints[:8] {
		torsion := decodePoint(tb, unhex(tb, encoded))
		for _, where := range []struct{ onKey, onR bool }{{true, false}, {false, true}, {true, true}} {
			secret := scalar.NewFromUint64(uint64(1_000_003 + i))
			nonce := scalar.NewFromUint64(uint64(7_000_003 + i))
			key, r := multiple(secret), multiple(nonce)
			if where.onKey {
				key.Add(key, torsion)
			}
			if where.onR {
				r.Add(r, torsion)
			}
			keyBytes, rBytes := encodePoint(tb, key), encodePoint(tb, r)
			recs = append(recs, crafted(tb, keyBytes, 1000+len(recs), func(m []byte) []byte {
				digest := sha512.Sum512(slices.Concat(rBytes, keyBytes, m))
				s, err := scalar.NewFromBytesModOrderWide(digest[:])
				if err != nil {
					tb.Fatal(err)
				}
				s.Mul(s, secret).Add(s, nonce)
				var sBytes [32]byte
				if err := s.ToBytes(sBytes[:]); err != nil {
					tb.Fatal(err)
				}
				return slices.Concat(rBytes, sBytes[:])
			}))
		}
	}
	return recs
}

func multiple(s *scalar.Scalar) *curve.EdwardsPoint {
	return curve.NewEdwardsPoint().Mul(curve.ED25519_BASEPOINT_POINT, s)
}

func decodePoint(tb testing.TB, b []byte) *curve.EdwardsPoint {
	tb.Helper()
	p := curve.NewEdwardsPoint()
	if err := p.UnmarshalBinary(b); err != nil {
		tb.Fatal(err)
	}
	return p
}

func encodePoint(tb testing.TB, p *curve.EdwardsPoint) []byte {
	tb.Helper()
	b, err := p.MarshalBinary()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// badSignatures are refused under every rule.
func badSignatures(tb testing.TB) []*merge.Record {
	tb.Helper()
	honest := newIdentity(tb, 50)
	noPoint := unhex(tb, "0200000000000000000000000000000000000000000000000000000000000000")
	order := unhex(tb, "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
	sign := func(m []byte) []byte {
		sig, _ := honest.Sign(m)
		return sig
	}
	return []*merge.Record{
		crafted(tb, honest.Public(), 1, func([]byte) []byte { return make([]byte, 64) }),
		crafted(tb, honest.Public(), 2, func(m []byte) []byte { return sign(append(m, 0)) }),
		crafted(tb, honest.Public(), 3, func(m []byte) []byte { // S + L: a second form of the same S
			sig, carry := sign(m), 0
			for i := range order {
				sum := int(sig[32+i]) + int(order[i]) + carry
				sig[32+i], carry = byte(sum), sum>>8
			}
			return sig
		}),
		crafted(tb, honest.Public(), 4, func(m []byte) []byte { return append(noPoint, sign(m)[32:]...) }),
		crafted(tb, noPoint, 5, sign),
		crafted(tb, newIdentity(tb, 51).Public(), 6, sign),
		crafted(tb, unhex(tb, smallOrderPoints[4]), 7, func([]byte) []byte { // R is the base point
			return append(encodePoint(tb, curve.ED25519_BASEPOINT_POINT), make([]byte, 32)...)
		}),
		unsigned(tb),
	}
}

func unsigned(tb testing.TB) *merge.Record {
	tb.Helper()
	stamp := at(8)
	rec, err := merge.Seal(merge.Record{
		Key:      merge.Key{Kind: "memory", ID: "unsigned"},
		Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: "local", UpdatedHLC: stamp, LastWriterID: "local"},
		Basis:    merge.Basis{}.With("local", stamp),
	}, merge.Unsigned, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return &rec
}

func TestSingleAndBatchAgreeOnEverythingThatZIP215Admits(t *testing.T) {
	verifier := fleet.NewVerifier(crand.Reader)
	stdlibRefuses := 0
	recs := append(smallOrderSignatures(t), mixedOrderSignatures(t)...)
	for i, ok := range verifier.Verify(recs) {
		rec := recs[i]
		if !ok || !fleet.VerifyOne(rec) {
			t.Errorf("record %d, key %x, signature %x: batch %v, single %v", i, rec.Envelope.LastWriterID, rec.Signature, ok, fleet.VerifyOne(rec))
		}
		if key, _ := rec.Envelope.LastWriterID.PublicKey(); !ed25519.Verify(key, rec.SignedBytes(), rec.Signature) {
			stdlibRefuses++
		}
		// Alone in a batch with a bad one, the fallback decides.
		pair := verifier.Verify([]*merge.Record{rec, badSignatures(t)[0]})
		if diff := cmp.Diff([]bool{true, false}, pair); diff != "" {
			t.Errorf("record %d in a failing batch (-want +got):\n%s", i, diff)
		}
	}
	// The vectors are worth nothing if every rule admits them.
	if stdlibRefuses < len(recs)/2 {
		t.Errorf("the standard library refuses only %d of %d", stdlibRefuses, len(recs))
	}
}

func TestBadSignaturesAreRefusedAloneAndInEveryBatch(t *testing.T) {
	verifier := fleet.NewVerifier(crand.Reader)
	good := signedRecords(t, 100, 3)
	for i, rec := range badSignatures(t) {
		if fleet.VerifyOne(rec) {
			t.Errorf("bad signature %d verifies alone", i)
		}
		for _, size := range []int{1, 2, 90, 100} { // below and above the library's change of algorithm
			batch := slices.Insert(slices.Clone(good[:size-1]), (size-1)/2, rec)
			for n, ok := range verifier.Verify(batch) {
				if ok == (batch[n] == rec) {
					t.Errorf("bad signature %d, batch of %d: member %d judged %v", i, size, n, ok)
				}
			}
		}
	}
	if got := verifier.Verify(nil); len(got) != 0 {
		t.Errorf("empty batch: %v", got)
	}
}

// TestBatchesEqualSingles mixes good, crafted and bad signatures at random.
func TestBatchesEqualSingles(t *testing.T) {
	pool := slices.Concat(signedRecords(t, 20, 4), smallOrderSignatures(t)[:40], mixedOrderSignatures(t))
	bad := badSignatures(t)
	rapid.Check(t, func(rt *rapid.T) {
		recs := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 120).Draw(rt, "records")
		for range rapid.IntRange(0, 3).Draw(rt, "bad ones") {
			at := rapid.IntRange(0, len(recs)).Draw(rt, "at")
			recs = slices.Insert(recs, at, rapid.SampledFrom(bad).Draw(rt, "bad"))
		}
		seed := rapid.Byte().Draw(rt, "seed")
		got := fleet.NewVerifier(source(seed)).Verify(recs)
		want := make([]bool, len(recs))
		for i, rec := range recs {
			want[i] = fleet.VerifyOne(rec)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("batch differs from singles (-want +got):\n%s", diff)
		}
	})
}

// TestRelayAltersReScopesOrReplaysIntoAnotherFleet is the row of that name in
// the table of threats: a valid record of which one byte was changed, in one
// bit or in all, is refused, and so is its beginning alone.
func TestRelayAltersReScopesOrReplaysIntoAnotherFleet(t *testing.T) {
	root, admin, member := newIdentity(t, 1), newIdentity(t, 2), newIdentity(t, 3)
	f := fleet.FleetIDOf(root.Public())
	stamp := at(5)
	skill, err := merge.Seal(merge.Record{
		Fleet:    f,
		Key:      merge.Key{Kind: "skill", Scope: merge.Scope{Project: "web", Workspace: "blue"}, ID: merge.NewID("deploy")},
		Envelope: merge.Envelope{SyncVersion: 3, OriginInstanceID: admin.ID(), UpdatedHLC: stamp, LastWriterID: member.ID()},
		Basis:    merge.Basis{}.With(admin.ID(), at(4)).With(member.ID(), stamp),
		Body:     []byte{0xa1, 0x01, 0x63, 'a', 'b', 'c'},
		Blobs:    []merge.BlobRef{{Hash: [32]byte{1, 2, 3}, Size: 40_000, Manifest: true}},
	}, merge.Ed25519, member.Sign)
	if err != nil {
		t.Fatal(err)
	}
	statement := grant(t, f, admin, fleet.Grant{
		Member: member.ID(), Name: "laptop", Role: fleet.RoleMember, Capabilities: []string{"skill"},
		Scopes: []merge.Scope{{Project: "web"}}, Expires: at(1000),
	}, at(2))
	for name, rec := range map[string]*merge.Record{
		"skill": &skill, "grant": statement,
		"ban":        ban(t, f, root, fleet.Ban{Writer: admin.ID(), From: at(7), To: at(9), Stands: []merge.Hash{statement.Hash()}, Note: "n"}, at(9)),
		"withdrawal": ban(t, f, admin, fleet.Ban{Kind: "skill", Digest: fleet.Digest(&skill), Content: [32]byte{1}}, at(9)),
		"floor":      floor(t, f, admin, fleet.Floor{Section: skill.Key.Section(), Entries: entries(2, at(5))}, at(month+5)),
		"succession": succession(t, f, member, newIdentity(t, 4), at(9)),
	} {
		encoded := rec.Encode()
		if err := admissible(encoded, f); err != nil {
			t.Fatalf("%s as it is: %v", name, err)
		}
		if err := admissible(encoded, merge.FleetID{9}); err == nil {
			t.Errorf("%s passes in another fleet", name)
		}
		for i := range encoded {
			for _, x := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255} {
				altered := bytes.Clone(encoded)
				altered[i] ^= x
				if admissible(altered, f) == nil {
					t.Errorf("%s: byte %d changed from %#x to %#x passes", name, i, encoded[i], altered[i])
				}
			}
		}
		for cut := range encoded {
			if admissible(encoded[:cut], f) == nil {
				t.Errorf("%s: the first %d bytes pass", name, cut)
			}
		}
	}
}

// admissible is what every path does with bytes from elsewhere.
func admissible(encoded []byte, f merge.FleetID) error {
	rec, err := merge.Decode(encoded)
	if err != nil {
		return err
	}
	if err := fleet.Check(&rec, f); err != nil {
		return err
	}
	if !fleet.VerifyOne(&rec) {
		return fmt.Errorf("signature of %s", rec.Key)
	}
	return nil
}
