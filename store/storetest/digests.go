package storetest

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

func testDigests(t *testing.T, open Opener) {
	t.Helper()
	t.Run("spans", func(t *testing.T) { t.Parallel(); testSpans(t, open) })
	t.Run("background", func(t *testing.T) { t.Parallel(); testBackground(t, open) })
	t.Run("scrub", func(t *testing.T) { t.Parallel(); testScrub(t, open) })
}

// generator returns a source of randomness that is the same each time.
func generator(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test wants the same numbers each time
}

// randomKeys returns n keys of the section memory, some of which begin with
// others, in random order.
func randomKeys(rng *rand.Rand, n int) []merge.Key {
	keys := make([]merge.Key, n)
	for i := range keys {
		keys[i] = Key("memory", "", strconv.FormatUint(rng.Uint64()>>(4*rng.UintN(12)), 16), strconv.Itoa(i))
	}
	return keys
}

// testSpans compares digests, parts and items of random spans with the naive
// answer, while versions come and go in random order.
func testSpans(t *testing.T, open Opener) {
	t.Helper()
	s := mustOpen(t, open, t.TempDir(), Config(1))
	defer mustClose(t, s)
	rng := generator(7)
	keys := randomKeys(rng, 1500)
	authors := []*Author{NewAuthor("a", at(1)), NewAuthor("b", at(2)), NewAuthor("c", at(3))}
	for round := range 6 {
		var batch []merge.Record
		for range 400 {
			batch = append(batch, authors[rng.IntN(len(authors))].Write(keys[rng.IntN(len(keys))], "text", 1))
		}
		if _, err := s.Merge(t.Context(), store.Batch{Path: store.PathFeed, Records: batch}); err != nil {
			t.Fatal(err)
		}
		for range 15 {
			checkSpan(t, s, rng, keys)
		}
		if round%2 == 1 { // one writer has seen all: its versions cover many
			for _, a := range authors[1:] {
				authors[0].Learn(recordsOf(t, s, a.ID)...)
			}
		}
		mustVerify(t, s)
	}
}

// recordsOf returns the held versions of a writer.
func recordsOf(t *testing.T, s *store.Store, writer merge.InstanceID) (records []merge.Record) {
	t.Helper()
	err := s.View(func(r *store.Reader) error {
		var failed error
		err := r.Items(memorySection(), store.Span{}, func(item store.Item) bool {
			if item.Writer != writer {
				return true
			}
			rec, err := r.Load(item.Key, item.Held)
			records, failed = append(records, rec), err
			return err == nil
		})
		return errors.Join(failed, err)
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func memorySection() merge.Section { return Key("memory", "").Section() }

// randomPosition returns a place near a key: before it, within it or after it.
func randomPosition(rng *rand.Rand, keys []merge.Key) store.Position {
	p := store.NewPosition(keys[rng.IntN(len(keys))], []merge.InstanceID{"a", "b", "cc"}[rng.IntN(3)])
	switch rng.IntN(6) {
	case 0:
		return ""
	case 1, 2:
		return p[:1+rng.IntN(len(p))]
	}
	return p
}

func checkSpan(t *testing.T, s *store.Store, rng *rand.Rand, keys []merge.Key) {
	t.Helper()
	span := store.Span{After: randomPosition(rng, keys), UpTo: randomPosition(rng, keys)}
	n := 1 + rng.IntN(9)
	err := s.View(func(r *store.Reader) error {
		want, err := naive(r, span)
		if err != nil {
			return err
		}
		got, err := r.Digest(memorySection(), span)
		if err != nil {
			return err
		}
		if got != want {
			t.Errorf("digest of %+v = %+v, want %+v", span, got, want)
		}
		parts, err := r.Parts(memorySection(), span, n)
		if err != nil {
			return err
		}
		if len(parts) == 0 || len(parts) > n || parts[len(parts)-1].UpTo != span.UpTo || want.Count > 1 && n > 1 && len(parts) == 1 {
			t.Errorf("%d versions in %+v, divided by %d, are %+v", want.Count, span, n, parts)
		}
		return errors.Join(checkParts(t, r, span, parts), checkWalks(t, r, span))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkParts compares each part of a span with the naive answer.
func checkParts(t *testing.T, r *store.Reader, span store.Span, parts []store.Part) error {
	t.Helper()
	after := span.After
	for i, p := range parts {
		if i+1 < len(parts) && (p.UpTo <= after || span.UpTo != "" && p.UpTo >= span.UpTo) {
			t.Errorf("part %d of %+v ends at %q", i, span, p.UpTo)
		}
		want, err := naive(r, store.Span{After: after, UpTo: p.UpTo})
		if err != nil {
			return err
		}
		if p.Digest != want {
			t.Errorf("part %d of %+v is %+v, want %+v", i, span, p.Digest, want)
		}
		after = p.UpTo
	}
	return nil
}

// naive adds up a span by looking at every held version.
func naive(r *store.Reader, span store.Span) (d store.Digest, err error) {
	if span.IsEmpty() {
		return d, nil
	}
	err = r.Range(memorySection(), "", func(k merge.Key, held []store.Held) bool {
		for _, h := range held {
			if span.Contains(store.NewPosition(k, h.Writer)) {
				d = d.Add(h.Hash)
			}
		}
		return true
	})
	return d, err
}

// testBackground writes between the steps of the builder: at the end the
// digests are those of a store that built them at once.
func testBackground(t *testing.T, open Opener) {
	t.Helper()
	dir, rng := t.TempDir(), generator(9)
	keys := randomKeys(rng, 4000)
	anna := NewAuthor("anna", at(1))
	s := mustOpen(t, open, dir, Config(1))
	mergeAll(t, s, anna, keys[:3000])
	mustClose(t, s)

	var task func() error
	cfg := Config(2)
	cfg.Background = func(build func() error) { task = build }
	s = mustOpen(t, open, dir, cfg)
	defer mustClose(t, s)
	if s.Ready() {
		t.Error("a store is ready before its digests were built")
	}
	err := s.View(func(r *store.Reader) error {
		_, err := r.Digest(memorySection(), store.Span{})
		return err
	})
	if !errors.Is(err, store.ErrNotReady) {
		t.Errorf("the digest of a store that is not ready: %v", err)
	}
	mergeAll(t, s, anna, keys[2500:3500])
	done := make(chan error, 1)
	go func() { done <- task() }()
	mergeAll(t, s, anna, keys[2000:])
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !s.Ready() {
		t.Error("a store is not ready although its digests were built")
	}
	mergeAll(t, s, anna, keys[:100])
	mustVerify(t, s)
	err = s.View(func(r *store.Reader) error {
		want, err := naive(r, store.Span{})
		state := s.State(memorySection())
		if diff := cmp.Diff(want, store.Digest{Count: state.Count, Sum: state.Sum}); diff != "" || state.Suspect {
			t.Errorf("the section (suspect %v) is not its rows (-want +got):\n%s", state.Suspect, diff)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func mergeAll(t *testing.T, s *store.Store, a *Author, keys []merge.Key) {
	t.Helper()
	var batch []merge.Record
	for _, k := range keys {
		batch = append(batch, a.Write(k, "text", 1))
	}
	if _, err := s.Merge(context.Background(), store.Batch{Path: store.PathFeed, Records: batch}); err != nil {
		t.Fatal(err)
	}
}

// testScrub writes between the steps of a scrub, which finds nothing wrong; and
// takes away or changes a row of each kind, which it finds.
func testScrub(t *testing.T, open Opener) {
	t.Helper()
	dir, rng := t.TempDir(), generator(11)
	engine := lasting{open(t, dir)}
	s, err := store.Open(engine, Config(1))
	if err != nil {
		t.Fatal(err)
	}
	keys := randomKeys(rng, 900)
	anna := NewAuthor("anna", at(1))
	mergeAll(t, s, anna, keys)
	mergeAll(t, s, anna, keys[:100]) // so that there is history
	steps := 0
	err = s.Scrub(t.Context(), func(context.Context) error {
		steps++
		mergeAll(t, s, anna, keys[rng.IntN(500):][:20]) //nolint:contextcheck // the context of the test is as good
		return nil
	})
	if err != nil || steps < 8 {
		t.Errorf("a scrub beside writes, in %d steps: %v", steps, err)
	}
	mustClose(t, s)
	rows := readRows(t, engine)
	for _, prefix := range []string{"v/", "r/", "s/", "h/"} {
		damaged := maps.Clone(rows)
		for _, key := range slices.Sorted(maps.Keys(damaged)) {
			if strings.HasPrefix(key, prefix) {
				delete(damaged, key)
				break
			}
		}
		writeRows(t, engine, damaged)
		s, err := store.Open(engine, Config(2))
		if err != nil {
			t.Fatalf("without a row of %s: %v", prefix, err)
		}
		if err := s.Scrub(t.Context(), func(context.Context) error { return nil }); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("without a row of %s a scrub says %v", prefix, err)
		}
		mustClose(t, s)
	}
	stopped := errors.New("stopped")
	writeRows(t, engine, rows)
	if s, err = store.Open(engine, Config(3)); err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, s)
	if err := s.Scrub(t.Context(), func(context.Context) error { return stopped }); !errors.Is(err, stopped) {
		t.Errorf("a scrub whose pause fails says %v", err)
	}
}
