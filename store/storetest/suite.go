package storetest

import (
	"bytes"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/store"
)

// Opener opens an engine over a directory: a new one in an empty directory,
// else with what an engine that was closed, or whose process was lost, left
// there. It fails the test itself.
type Opener func(t testing.TB, dir string) store.Engine

// RunSuite holds an engine, and the store above it, to the contract. Its parts
// run in parallel, since most of the time goes into waiting for the disk.
func RunSuite(t *testing.T, open Opener) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, Opener)
	}{
		{"Engine", testEngine},
		{"Model", testModel},
		{"Concurrency", testConcurrency},
		{"Batches", testBatches},
		{"Digests", testDigests},
		{"Parking", testParking},
		{"Retracting", testRetracting},
		{"Retraction", testRetraction},
		{"Cursors", testCursors},
		{"History", testHistory},
		{"Index", testIndex},
		{"Blobs", testBlobs},
		{"BlobFaults", testBlobFaults},
		{"BlobDamage", testBlobDamage},
		{"Faults", testFaults},
		{"Corruption", testCorruption},
		{"LostRows", testLostRows},
		{"LostRowsInUse", testLostRowsInUse},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open)
		})
	}
}

// Epoch is the physical time at which the tests begin.
func Epoch() time.Time { return time.UnixMilli(1_790_000_000_000).UTC() }

// Config returns a configuration whose time stands still at Epoch and whose
// randomness follows from a seed.
func Config(seed byte) store.Config {
	return store.Config{Now: Epoch, Rand: &seedReader{seed}}
}

// seedReader yields bytes that differ from read to read and seed to seed.
type seedReader struct{ next byte }

func (r *seedReader) Read(b []byte) (int, error) {
	copy(b, bytes.Repeat([]byte{r.next}, len(b)))
	r.next += 37
	return len(b), nil
}

// mustOpen opens a store over a directory and closes it with the test.
func mustOpen(tb testing.TB, open Opener, dir string, cfg store.Config) *store.Store {
	tb.Helper()
	s, err := store.Open(open(tb, dir), cfg)
	if err != nil {
		tb.Fatalf("open: %v", err)
	}
	tb.Cleanup(func() { mustClose(tb, s) })
	return s
}

func mustClose(tb testing.TB, s *store.Store) {
	tb.Helper()
	if err := s.Close(); err != nil {
		tb.Errorf("close: %v", err)
	}
}

func mustVerify(tb testing.TB, s *store.Store) {
	tb.Helper()
	if err := s.Verify(tb.Context()); err != nil {
		tb.Fatalf("verify: %v", err)
	}
}
