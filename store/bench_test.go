package store_test

import (
	"crypto/ed25519"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	"github.com/fleetsync/fleetd/store/storetest"
)

// signer seals records as an instance of a fleet does.
type signer struct {
	key ed25519.PrivateKey
	id  merge.InstanceID
}

func newSigner(seed byte) signer {
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+seed%26)), ed25519.SeedSize)))
	return signer{key, merge.InstanceOf(key.Public().(ed25519.PublicKey))}
}

func (s signer) seal(k merge.Key, stamp hlc.Timestamp, basis merge.Basis, version int64, body []byte) (merge.Record, error) {
	return merge.Seal(merge.Record{
		Fleet: merge.FleetID{1}, Key: k, Basis: basis, Body: body,
		Envelope: merge.Envelope{SyncVersion: version, OriginInstanceID: s.id, UpdatedHLC: stamp, LastWriterID: s.id},
	}, merge.Ed25519, func(m []byte) ([]byte, error) { return ed25519.Sign(s.key, m), nil })
}

// spread runs do b.N times on a number of goroutines and reports the rate.
func spread(b *testing.B, goroutines int, do func(i int) error) {
	b.Helper()
	var next atomic.Int64
	var group sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range goroutines {
		group.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := do(int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

func benchStore(b *testing.B, e store.Engine) *store.Store {
	b.Helper()
	s, err := store.Open(e, crashConfig())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

// BenchmarkWrite: signed, synced, acknowledged local writes of new keys.
func BenchmarkWrite(b *testing.B) {
	body := []byte(strings.Repeat("x", 300))
	for _, writers := range []int{1, 16, 64} {
		b.Run("writers="+strconv.Itoa(writers), func(b *testing.B) {
			s, me := benchStore(b, openBadger(b, b.TempDir())), newSigner(1)
			spread(b, writers, func(i int) error {
				k := storetest.Key("memory", "", strconv.Itoa(i))
				return s.Write(b.Context(), k.String(), func(r *store.Reader) ([]merge.Record, error) {
					held, err := r.Held(k)
					if err != nil {
						return nil, err
					}
					stamp, err := s.Clock().Now()
					if err != nil {
						return nil, err
					}
					basis, version := merge.Supersede(store.Versions(held), nil, me.id, stamp)
					rec, err := me.seal(k, stamp, basis, version, body)
					return []merge.Record{rec}, err
				})
			})
		})
	}
}

// BenchmarkRawBadger is the floor beside BenchmarkWrite: the same disk without
// a store.
func BenchmarkRawBadger(b *testing.B) {
	for _, c := range []struct{ goroutines, keys, bytes int }{{1, 1, 300}, {64, 1, 300}, {1, 100, 1024}} {
		value := []byte(strings.Repeat("x", c.bytes))
		b.Run(fmt.Sprintf("goroutines=%d/keys=%d/bytes=%d", c.goroutines, c.keys, c.bytes), func(b *testing.B) {
			opts := badger.DefaultOptions(b.TempDir()).WithSyncWrites(true).WithLogger(nil).WithMemTableSize(16 << 20).
				WithNumMemtables(2).WithNumCompactors(2).WithValueLogFileSize(16 << 20).WithDetectConflicts(false)
			db, err := badger.Open(opts)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				if err := db.Close(); err != nil {
					b.Error(err)
				}
			})
			spread(b, c.goroutines, func(i int) error {
				return db.Update(func(txn *badger.Txn) error {
					for j := range c.keys {
						if err := txn.Set(fmt.Appendf(nil, "%d-%d", i, j), value); err != nil {
							return err
						}
					}
					return nil
				})
			})
			b.ReportMetric(float64(b.N*c.keys)/b.Elapsed().Seconds(), "puts/s")
		})
	}
}

// BenchmarkMerge: new signed records of 1 KB from elsewhere, in batches.
func BenchmarkMerge(b *testing.B) {
	for _, engine := range []struct {
		name string
		open func(b *testing.B) store.Engine
	}{
		{"badger", func(b *testing.B) store.Engine { b.Helper(); return openBadger(b, b.TempDir()) }},
		{"memory", func(*testing.B) store.Engine { return store.NewMemory() }},
	} {
		for _, size := range []int{256, 512} {
			b.Run(fmt.Sprintf("%s/batch=%d", engine.name, size), func(b *testing.B) {
				s := benchStore(b, engine.open(b))
				records := benchRecords(b, b.N*size)
				spread(b, 1, func(i int) error {
					result, err := s.Merge(b.Context(), store.Batch{Path: store.PathFeed, Records: records[(i-1)*size : i*size]})
					if err == nil && result.Applied != size {
						err = fmt.Errorf("result %+v", result)
					}
					return err
				})
				b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}

// benchRecords makes records as ten signers write them, without the cost of a
// signature each.
func benchRecords(b *testing.B, n int) []merge.Record {
	b.Helper()
	body := []byte(strings.Repeat("some text of a memory item; ", 38))[:1024]
	signers := make([]signer, 10)
	for i := range signers {
		signers[i] = newSigner(byte(i))
	}
	records := make([]merge.Record, n)
	now := storetest.Epoch().UnixMilli()
	for i := range records {
		me := signers[i%10]
		stamp := hlc.Timestamp{Wall: now + int64(i/1000), Counter: uint16(i)}
		rec, err := merge.Seal(merge.Record{
			Fleet: merge.FleetID{1}, Key: storetest.Key("memory", "", fmt.Sprintf("0197-%x-%d", i*2654435761%1000003, i)),
			Basis: merge.Basis{}.With(me.id, stamp), Body: body,
			Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: me.id, UpdatedHLC: stamp, LastWriterID: me.id},
		}, merge.Ed25519, func([]byte) ([]byte, error) { return make([]byte, ed25519.SignatureSize), nil })
		if err != nil {
			b.Fatal(err)
		}
		records[i] = rec
	}
	return records
}

// BenchmarkOpen opens a store of 100,000 versions.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s, err := store.Open(openBadger(b, dir), crashConfig())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Merge(b.Context(), store.Batch{Path: store.PathFeed, Records: benchRecords(b, 100_000)}); err != nil {
		b.Fatal(err)
	}
	for {
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		if !b.Loop() {
			return
		}
		if s, err = store.Open(openBadger(b, dir), crashConfig()); err != nil {
			b.Fatal(err)
		}
	}
}
