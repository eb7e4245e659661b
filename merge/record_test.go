package merge_test

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

func TestSealedRecordDecodesToItself(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	writer := merge.InstanceOf(key.Public().(ed25519.PublicKey))
	stamp := hlc.Timestamp{Wall: 1_790_000_000_000, Counter: 3}
	draft := merge.Record{
		Fleet:    merge.FleetID{1},
		Key:      merge.Key{Kind: "skill", Scope: merge.Scope{Project: "web"}, ID: merge.NewID("deploy")},
		Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: "local", UpdatedHLC: stamp, LastWriterID: writer},
		Basis:    merge.Basis{}.With(writer, stamp),
		Body:     []byte{0xa0},
		Blobs:    []merge.BlobRef{{Hash: [32]byte{9}, Size: 40_000}},
	}
	sealed, err := merge.Seal(draft, merge.Ed25519, func(m []byte) ([]byte, error) { return ed25519.Sign(key, m), nil })
	if err != nil {
		t.Fatal(err)
	}
	got, err := merge.Decode(sealed.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sealed, got, cmp.AllowUnexported(merge.Record{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("decoded record differs (-want +got):\n%s", diff)
	}
	if !ed25519.Verify(key.Public().(ed25519.PublicKey), got.SignedBytes(), got.Signature) {
		t.Error("signature does not verify")
	}
}
