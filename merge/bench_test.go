package merge_test

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// typicalDraft returns a record as a fleet writes most of them: a body of 400
// bytes, three writers in the basis.
func typicalDraft() merge.Record {
	stamp := hlc.Timestamp{Wall: 1_790_000_000_000, Counter: 3}
	var writers [3]merge.InstanceID
	for i := range writers {
		key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i + 1)}, ed25519.SeedSize))
		writers[i] = merge.InstanceOf(key.Public().(ed25519.PublicKey))
	}
	draft := merge.Record{
		Fleet:    merge.FleetID{1},
		Key:      merge.Key{Kind: "memory", Scope: merge.Scope{Project: "web"}, ID: merge.NewID("0197f3a0-7c1e-7b2d-9a3e-2f6d5b8c1e4a")},
		Envelope: merge.Envelope{SyncVersion: 4, OriginInstanceID: writers[1], UpdatedHLC: stamp, LastWriterID: writers[0]},
		Body:     bytes.Repeat([]byte{0x61}, 250),
	}
	for i, w := range writers {
		draft.Basis = draft.Basis.With(w, hlc.Timestamp{Wall: stamp.Wall - int64(i)*1000, Counter: 3})
	}
	return draft
}

func noSignature([]byte) ([]byte, error) { return make([]byte, 64), nil }

func BenchmarkDecode(b *testing.B) {
	r, err := merge.Seal(typicalDraft(), merge.Ed25519, noSignature)
	if err != nil {
		b.Fatal(err)
	}
	encoded := r.Encode()
	b.ReportMetric(float64(len(encoded)), "B/record")
	b.SetBytes(int64(len(encoded)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := merge.Decode(encoded); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	r, err := merge.Seal(typicalDraft(), merge.Ed25519, noSignature)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Encode()
	}
}

func BenchmarkSealWithoutSigning(b *testing.B) {
	draft := typicalDraft()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := merge.Seal(draft, merge.Ed25519, noSignature); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckCanonical(b *testing.B) {
	r, err := merge.Seal(typicalDraft(), merge.Ed25519, noSignature)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(r.Header())))
	for b.Loop() {
		if err := merge.CheckCanonical(r.Header()); err != nil {
			b.Fatal(err)
		}
	}
}
