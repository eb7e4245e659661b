package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// testBatches holds Merge to one result whatever the shape of a batch.
func testBatches(t *testing.T, open Opener) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, Opener)
	}{
		{"two versions of one key by one writer", testSameWriter},
		{"versions of one key by many writers", testManyWriters},
		{"a batch that covers its own records", testSelfCover},
		{"a batch of several transactions moves the cursor last", testSplitBatch},
		{"many records of which some are known", testManyKeys},
		{"records too large for the engine are halved", testHalving},
		{"a write that is too large writes nothing", testLargeWrite},
		{"a write that is covered writes nothing", testCoveredWrite},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
}

func mustMerge(t *testing.T, s *store.Store, want store.Result, records ...merge.Record) {
	t.Helper()
	got, err := s.Merge(t.Context(), store.Batch{Path: store.PathFeed, Records: records})
	if err != nil {
		t.Fatalf("merge: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merge (-want +got):\n%s", diff)
	}
	mustVerify(t, s)
}

// bodies returns the bodies that a key holds, ascending.
func bodies(t *testing.T, s *store.Store, k merge.Key) []string {
	t.Helper()
	var got []string
	err := s.View(func(r *store.Reader) error {
		held, err := r.Held(k)
		for _, h := range held {
			rec, err := r.Load(k, h)
			if err != nil {
				return err
			}
			got = append(got, string(rec.Body))
		}
		return err
	})
	if err != nil {
		t.Fatalf("read %s: %v", k, err)
	}
	return got
}

func wantBodies(t *testing.T, s *store.Store, k merge.Key, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, bodies(t, s, k)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", k, diff)
	}
}

// testManyKeys merges as many records as have their span looked at in one walk,
// where there is nothing, at its ends, within it, and what came just before.
func testManyKeys(t *testing.T, open Opener) {
	t.Helper()
	const n = 100
	a, s := NewAuthor("anna", at(0)), mustOpen(t, open, t.TempDir(), Config(1))
	defer mustClose(t, s)
	var old, first, second []merge.Record
	for i := range n {
		old = append(old, a.Write(manyKey(i), "old", 1))
	}
	for i := range n {
		first = append(first, a.Write(manyKey(i), "first", 1))
		second = append(second, a.Write(manyKey(n+i), "second", 1))
	}
	slices.Reverse(second)
	mustMerge(t, s, store.Result{Applied: 1}, second[0])
	mustMerge(t, s, store.Result{Applied: n, Known: 1}, append(first, first[n/2])...)
	mustMerge(t, s, store.Result{Covered: n}, old...)
	mustMerge(t, s, store.Result{Applied: n - 1, Known: 1}, second...)
	mustMerge(t, s, store.Result{Known: n}, second...)
	if _, err := Put(t.Context(), s, "self", manyKey(n+n/2), "third"); err != nil {
		t.Fatal(err)
	}
	wantBodies(t, s, manyKey(n/2), "first")
	wantBodies(t, s, manyKey(n+n/2), "third")
}

func manyKey(i int) merge.Key { return Key("memory", "", fmt.Sprintf("%04d", i)) }

func testSameWriter(t *testing.T, open Opener) {
	t.Helper()
	k, a := Key("skill", "", "k"), NewAuthor("anna", at(0))
	first, second := a.Write(k, "first", 1), a.Write(k, "second", 1)
	s := mustOpen(t, open, t.TempDir(), Config(1))
	mustMerge(t, s, store.Result{Applied: 2, Known: 1}, first, second, second)
	wantBodies(t, s, k, "second")
	s = mustOpen(t, open, t.TempDir(), Config(2))
	mustMerge(t, s, store.Result{Applied: 1, Covered: 1}, second, first)
	wantBodies(t, s, k, "second")
}

func testManyWriters(t *testing.T, open Opener) {
	t.Helper()
	k := Key("skill", "", "k")
	var records []merge.Record
	var want []string
	for i := range 20 {
		body := fmt.Sprintf("by %02d", i)
		a := NewAuthor(merge.InstanceID(fmt.Sprintf("writer %02d", i)), at(int64(i)))
		records = append([]merge.Record{a.Write(k, body, 1)}, records...)
		want = append(want, body)
	}
	s := mustOpen(t, open, t.TempDir(), Config(1))
	mustMerge(t, s, store.Result{Applied: 20}, records...)
	wantBodies(t, s, k, want...)
	last := NewAuthor("settler", at(0))
	last.Learn(records...)
	settled := last.Write(k, "settled", 1)
	mustMerge(t, s, store.Result{Applied: 1}, settled)
	// An ordinary write covers only the head: the other conflicts stay.
	wantBodies(t, s, k, append(want[:19:19], "settled")...)
}

func testSelfCover(t *testing.T, open Opener) {
	t.Helper()
	k := Key("skill", "", "k")
	a, b, c := NewAuthor("anna", at(0)), NewAuthor("ben", at(0)), NewAuthor("carl", at(0))
	one := a.Write(k, "one", 1)
	other := c.Write(k, "other", 2)
	b.Learn(one)
	two := b.Write(k, "two", 5)
	a.Learn(two)
	three := a.Write(k, "three", 5)
	s := mustOpen(t, open, t.TempDir(), Config(1))
	mustMerge(t, s, store.Result{Applied: 4, Known: 1}, one, other, two, three, three)
	wantBodies(t, s, k, "other", "three")
	state := s.State(k.Section())
	if state.Count != 2 || state.Head != 4 {
		t.Errorf("state %+v, want count 2 and head 4", state)
	}
}

func testSplitBatch(t *testing.T, open Opener) {
	t.Helper()
	faulty := &Faulty{Engine: open(t, t.TempDir())}
	s, err := store.Open(faulty, Config(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustClose(t, s) })
	const n = 2_300
	a := NewAuthor("anna", at(0))
	b := store.Batch{Path: store.PathReconcile, Cursor: &store.CursorMove{
		Peer: "peer", Section: merge.Section{Family: "memory"}, Cursor: store.Cursor{Seq: 9},
	}}
	for i := range n {
		b.Records = append(b.Records, a.Write(Key("memory", "", strconv.Itoa(i)), "text", 0))
	}
	begun := faulty.Updates()
	faulty.Plan = func(n int) Fault {
		if n == begun+3 {
			return FaultCommit
		}
		return FaultNone
	}
	result, err := s.Merge(t.Context(), b)
	if !errors.Is(err, ErrInjected) || result.Applied != 2_048 {
		t.Errorf("the third part fails with %v after %+v, want 2,048 applied", err, result)
	}
	wantCursor(t, s, b.Cursor.Section, store.Cursor{}, store.ErrNotFound)
	result, err = s.Merge(t.Context(), b)
	if want := (store.Result{Applied: n - 2_048, Known: 2_048}); err != nil || result != want {
		t.Errorf("again: %+v, %v, want %+v", result, err, want)
	}
	wantCursor(t, s, b.Cursor.Section, b.Cursor.Cursor, nil)
	mustVerify(t, s)
}

// wantCursor compares the cursor of the peer "peer".
func wantCursor(t *testing.T, s *store.Store, sec merge.Section, want store.Cursor, wantErr error) {
	t.Helper()
	err := s.View(func(r *store.Reader) error {
		got, err := r.Cursor("peer", sec)
		if got != want {
			t.Errorf("cursor is %+v, want %+v", got, want)
		}
		return err
	})
	if !errors.Is(err, wantErr) {
		t.Errorf("cursor: %v, want %v", err, wantErr)
	}
}

func testHalving(t *testing.T, open Opener) {
	t.Helper()
	faulty := &Faulty{Engine: open(t, t.TempDir()), TxnBytesMax: 40_000}
	s, err := store.Open(faulty, Config(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustClose(t, s) })
	a := NewAuthor("anna", at(0))
	var records []merge.Record
	for i := range 64 {
		records = append(records, a.Write(Key("memory", "", strconv.Itoa(i)), strings.Repeat("x", 5_000), 0))
	}
	b := store.Batch{Path: store.PathFeed, Records: records[:63]}
	for i := range 40 {
		p := NewAuthor(merge.InstanceID(fmt.Sprint("p", i)), at(0)).Write(records[0].Key, strings.Repeat("y", 5_000), 0)
		b.Park = append(b.Park, store.Parked{Record: p, Reason: store.ReasonAuthority})
	}
	b.Cursor = &store.CursorMove{Peer: "peer", Section: merge.Section{Family: "memory"}, Cursor: store.Cursor{Seq: 3}}
	got, err := s.Merge(t.Context(), b)
	if want := (store.Result{Applied: 63, Parked: 40}); err != nil || got != want {
		t.Errorf("merge gives %+v, %v, want %+v", got, err, want)
	}
	wantCursor(t, s, b.Cursor.Section, b.Cursor.Cursor, nil)
	got, err = s.Reconsider(t.Context(), Judging(admitAll))
	if want := (store.Result{Applied: 40}); err != nil || got != want {
		t.Errorf("reconsider gives %+v, %v, want %+v", got, err, want)
	}
	mustVerify(t, s)
	faulty.TxnBytesMax = 1_000
	_, err = s.Merge(t.Context(), store.Batch{Path: store.PathFeed, Records: records})
	if !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("a record that cannot fit gives %v, want ErrTooLarge", err)
	}
	mustVerify(t, s)
}

func testLargeWrite(t *testing.T, open Opener) {
	t.Helper()
	s := mustOpen(t, open, t.TempDir(), Config(1))
	write := func(n, size int) error {
		return s.Write(t.Context(), "lock", func(r *store.Reader) ([]merge.Record, error) {
			var records []merge.Record
			for i := range n {
				rec, err := Draft(s, r, "self", Key("memory", "", strconv.Itoa(i)), strings.Repeat("x", size), false)
				if err != nil {
					return nil, err
				}
				records = append(records, rec)
			}
			return records, nil
		})
	}
	for _, c := range []struct {
		name    string
		n, size int
		want    error
	}{
		{"513 records", 513, 1, store.ErrTooLarge},
		{"more than 1 MiB", 20, 60_000, store.ErrTooLarge},
		{"512 records", 512, 1, nil},
		{"nearly 1 MiB", 16, 64_000, nil},
	} {
		before := s.State(merge.Section{Family: "memory"})
		if err := write(c.n, c.size); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if after := s.State(merge.Section{Family: "memory"}); c.want != nil && after != before {
			t.Errorf("%s: state went from %+v to %+v", c.name, before, after)
		}
	}
	mustVerify(t, s)
}

func testCoveredWrite(t *testing.T, open Opener) {
	t.Helper()
	s := mustOpen(t, open, t.TempDir(), Config(1))
	k, other := Key("memory", "", "k"), Key("memory", "", "other")
	old, err := Put(t.Context(), s, "self", k, "old")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Put(t.Context(), s, "self", k, "new"); err != nil {
		t.Fatal(err)
	}
	err = s.Write(t.Context(), "lock", func(r *store.Reader) ([]merge.Record, error) {
		rec, err := Draft(s, r, "self", other, "beside", false)
		return []merge.Record{rec, old}, err
	})
	if !errors.Is(err, store.ErrCovered) {
		t.Errorf("a covered write gives %v, want ErrCovered", err)
	}
	wantBodies(t, s, k, "new")
	wantBodies(t, s, other)
	mustVerify(t, s)
}
