package merge_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/merge/mergetest"
)

// typical returns a record as fleets write most of them, of about 700 bytes:
// three writers in the basis, another one's origin, a body of 250 bytes.
func typical(b *testing.B) merge.Record {
	b.Helper()
	r, err := merge.Seal(typicalDraft(), merge.Ed25519, noSignature)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func typicalDraft() merge.Record {
	d := draft()
	d.Key = merge.Key{Kind: "memory", Scope: merge.Scope{Project: "web"}, ID: "0197f3a0-7c1e-7b2d-9a3e-2f6d5b8c1e4a"}
	d.Envelope.OriginInstanceID = other.ID
	d.Body = bytes.Repeat([]byte{0x61}, 250)
	for i := range 2 {
		stamp := hlc.Timestamp{Wall: d.Envelope.UpdatedHLC.Wall - int64(i+1)*1000}
		d.Basis = d.Basis.With(mergetest.NewIdentity(byte(2+i)).ID, stamp)
	}
	return d
}

func noSignature([]byte) ([]byte, error) { return make([]byte, 64), nil }

func BenchmarkDecode(b *testing.B) {
	r := typical(b)
	wire := r.Encode()
	b.SetBytes(int64(len(wire)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := merge.Decode(wire); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	r := typical(b)
	b.SetBytes(int64(len(r.Encode())))
	b.ReportAllocs()
	for b.Loop() {
		r.Encode()
	}
}

func BenchmarkSealWithoutSigning(b *testing.B) {
	d := typicalDraft()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := merge.Seal(d, merge.Ed25519, noSignature); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckCanonical(b *testing.B) {
	r := typical(b)
	b.SetBytes(int64(len(r.Header())))
	b.ReportAllocs()
	for b.Loop() {
		if err := merge.CheckCanonical(r.Header()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInsert inserts a version that covers the head, with so many
// conflicts beside it.
func BenchmarkInsert(b *testing.B) {
	for _, conflicts := range []int{0, 3, 63} {
		b.Run(fmt.Sprintf("conflicts=%d", conflicts), func(b *testing.B) {
			held := manyWriters(conflicts + 1)
			basis, _ := merge.Supersede(held, nil, "me", counted(1000))
			v := merge.Version{Writer: "me", Stamp: counted(1000), Basis: basis}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, added := merge.Insert(held, v); !added {
					b.Fatal("not added")
				}
			}
		})
	}
}

func BenchmarkSupersede(b *testing.B) {
	d := typicalDraft()
	held := []merge.Version{{Writer: d.Envelope.LastWriterID, Stamp: d.Envelope.UpdatedHLC, Basis: d.Basis}}
	at := hlc.Timestamp{Wall: d.Envelope.UpdatedHLC.Wall + 1}
	b.ReportAllocs()
	for b.Loop() {
		merge.Supersede(held, nil, other.ID, at)
	}
}
