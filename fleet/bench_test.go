package fleet_test

import (
	crand "crypto/rand"
	"fmt"
	"testing"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// BenchmarkVerify measures signatures of ten writers over records of 1 KB, one
// by one and in batches.
func BenchmarkVerify(b *testing.B) {
	recs := signedRecords(b, 1024, 10)
	b.Run("single", func(b *testing.B) {
		for i := range b.N {
			if !fleet.VerifyOne(recs[i%len(recs)]) {
				b.Fatal("refused")
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sigs/s")
	})
	verifier := fleet.NewVerifier(crand.Reader)
	for _, size := range []int{1, 16, 64, 256, 1024} {
		b.Run(fmt.Sprintf("batch of %d", size), func(b *testing.B) {
			for range b.N {
				for _, ok := range verifier.Verify(recs[:size]) {
					if !ok {
						b.Fatal("refused")
					}
				}
			}
			b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "sigs/s")
		})
	}
}

// signedRecords returns n records of 1 KB by so many writers.
func signedRecords(tb testing.TB, n, writers int) []*merge.Record {
	tb.Helper()
	recs := make([]*merge.Record, n)
	for i := range recs {
		id := newIdentity(tb, byte(100+i%writers))
		stamp := at(int64(i))
		rec, err := merge.Seal(merge.Record{
			Fleet:    merge.FleetID{1},
			Key:      merge.Key{Kind: "memory", ID: merge.NewID(fmt.Sprintf("item-%d", i))},
			Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: id.ID(), UpdatedHLC: stamp, LastWriterID: id.ID()},
			Basis:    merge.Basis{}.With(id.ID(), stamp),
			Body:     make([]byte, 1024),
		}, merge.Ed25519, id.Sign)
		if err != nil {
			tb.Fatal(err)
		}
		recs[i] = &rec
	}
	return recs
}
