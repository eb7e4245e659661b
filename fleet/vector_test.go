package fleet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// vectorStatements are the statements of testdata/vectors, grants aside, as they
// are sealed.
func vectorStatements(tb testing.TB) map[string]*merge.Record {
	tb.Helper()
	root, admin, member := newIdentity(tb, 1), newIdentity(tb, 2), newIdentity(tb, 3)
	f := fleet.FleetIDOf(root.Public())
	return map[string]*merge.Record{
		"ban-writer.txt": ban(tb, f, root, fleet.Ban{
			Writer: admin.ID(), From: at(50), To: hlc.Timestamp{Wall: begin + 90, Counter: 7},
			Stands: []merge.Hash{{1, 2, 3}, {4, 5, 6}}, Note: "Büro 2: poisoned",
		}, at(100)),
		"ban-withdrawal.txt": ban(tb, f, admin, fleet.Ban{
			Digest: merge.Hash{7, 8, 9}, Kind: "skill", Content: [32]byte{10, 11, 12}, Note: "leaks keys",
		}, at(100)),
		"floor.txt": floor(tb, f, admin, fleet.Floor{
			Section: merge.Section{Family: "memory", Scope: merge.Scope{Project: "web", Workspace: "blue"}},
			Entries: []fleet.FloorEntry{
				{Key: fleet.FloorKeyHash(merge.Key{Kind: "memory", ID: "x"}), Stamp: at(-month)},
				{Key: fleet.KeyHash{1}, Stamp: hlc.Timestamp{Wall: begin - month, Counter: 3}},
			},
		}, at(100)),
		"succession.txt": succession(tb, f, member, newIdentity(tb, 4), at(100)),
	}
}

// TestStatementVectors holds the format of bans, floors and successions: what
// these bytes say can never change.
func TestStatementVectors(t *testing.T) {
	f := fleet.FleetIDOf(newIdentity(t, 1).Public())
	for file, sealed := range vectorStatements(t) {
		t.Run(file, func(t *testing.T) {
			vector := readGolden(t, file)
			encoded := vector.hex(t, "record")
			if err := admissible(encoded, f); err != nil {
				t.Fatal(err)
			}
			rec, err := merge.Decode(encoded)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(vector.hex(t, "body"), rec.Body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(encoded, sealed.Encode()); diff != "" {
				t.Errorf("sealed anew it has other bytes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDigestVector holds how versions are named by a withdrawal.
func TestDigestVector(t *testing.T) {
	rec := merge.Record{Body: []byte("body"), Blobs: []merge.BlobRef{{Hash: [32]byte{1}, Size: 2}, {Hash: [32]byte{3}, Size: 4, Manifest: true}}}
	digest := fleet.Digest(&rec)
	if diff := cmp.Diff(readGolden(t, "digest.txt").hex(t, "digest"), digest[:]); diff != "" {
		t.Errorf("digest (-want +got):\n%s", diff)
	}
	hash := fleet.FloorKeyHash(merge.Key{Kind: "memory", ID: merge.NewID("a", "b"), Scope: merge.Scope{Project: "web"}})
	if diff := cmp.Diff(readGolden(t, "digest.txt").hex(t, "key"), hash[:]); diff != "" {
		t.Errorf("hash of a key (-want +got):\n%s", diff)
	}
}

// framed returns a record with a body, as far as the decoders look at it.
func framed(kind string, body []byte) *merge.Record {
	return &merge.Record{
		Fleet: merge.FleetID{1}, Key: merge.Key{Kind: kind, ID: "x"}, Body: body,
		Envelope: merge.Envelope{UpdatedHLC: at(100)},
	}
}

func FuzzBanOf(f *testing.F) {
	for _, file := range []string{"ban-writer.txt", "ban-withdrawal.txt"} {
		f.Add(readGolden(f, file).hex(f, "body"))
	}
	f.Add([]byte{0xa1, 0x09, 0x9a, 0x00, 0x0f, 0x42, 0x40})
	issuer := newIdentity(f, 1)
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := fleet.BanOf(framed("fleet.ban", b))
		if err != nil {
			return
		}
		rec, err := fleet.SealBan(merge.FleetID{1}, issuer, got, at(100))
		if err != nil {
			t.Fatal(err)
		}
		again, err := fleet.BanOf(&rec)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the ban comes back changed (-want +got):\n%s", diff)
		}
	})
}

func FuzzFloorOf(f *testing.F) {
	f.Add(readGolden(f, "floor.txt").hex(f, "body"))
	f.Add([]byte{0xa1, 0x05, 0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	issuer := newIdentity(f, 1)
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := fleet.FloorOf(framed("fleet.floor", b))
		if err != nil {
			return
		}
		rec, err := fleet.SealFloor(merge.FleetID{1}, issuer, got, at(100))
		if err != nil {
			t.Fatal(err)
		}
		again, err := fleet.FloorOf(&rec)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("the floor comes back changed (-want +got):\n%s", diff)
		}
	})
}
