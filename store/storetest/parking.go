package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// testParking holds the bounds of q/ and what a version from the future may
// do.
func testParking(t *testing.T, open Opener) {
	t.Helper()
	t.Run("the room is bounded for each writer and in all", func(t *testing.T) { testParkedRoom(t, open) })
	t.Run("writers that a peer makes up leave room for others", func(t *testing.T) { testParkedOfAPeer(t, open) })
	t.Run("a refusal in any part of a batch holds the cursor", func(t *testing.T) { testRefusedPart(t, open) })
	t.Run("what is released and covered goes to history", func(t *testing.T) { testParkedCovered(t, open) })
	t.Run("many parked versions are released in several transactions", func(t *testing.T) { testParkedMany(t, open) })
	t.Run("a stamp from the future waits and moves no clock", func(t *testing.T) { testFuture(t, open) })
}

func testParkedRoom(t *testing.T, open Opener) {
	t.Helper()
	dir := t.TempDir()
	cfg := Config(1)
	cfg.ParkedMax, cfg.ParkedPerWriterMax = 5, 3
	s := mustOpen(t, open, dir, cfg)
	anna, ben := NewAuthor("anna", at(0)), NewAuthor("ben", at(0))
	b := store.Batch{Path: store.PathFeed, Cursor: &store.CursorMove{
		Peer: "peer", Section: merge.Section{Family: "memory"}, Cursor: store.Cursor{Seq: 1},
	}}
	for _, a := range []*Author{anna, ben} {
		for i := range 4 {
			rec := a.Write(Key("memory", "", strconv.Itoa(i)), "text", 1)
			b.Park = append(b.Park, store.Parked{Record: rec, Reason: store.ReasonAuthority})
		}
	}
	got, err := s.Merge(t.Context(), b)
	if want := (store.Result{Parked: 5, Refused: 3}); err != nil || got != want {
		t.Errorf("merge gives %+v, %v, want %+v", got, err, want)
	}
	wantCursor(t, s, b.Cursor.Section, store.Cursor{}, store.ErrNotFound)
	mustClose(t, s)

	cfg = Config(2)
	cfg.ParkedMax, cfg.ParkedPerWriterMax = 5, 3
	s = mustOpen(t, open, dir, cfg)
	mustVerify(t, s)
	got, err = s.Merge(t.Context(), b)
	if want := (store.Result{Parked: 5, Refused: 3}); err != nil || got != want {
		t.Errorf("again, after opening anew, merge gives %+v, %v, want %+v", got, err, want)
	}
	got, err = s.Reconsider(t.Context(), Judging(func(rec *merge.Record) store.Reason {
		if rec.Envelope.LastWriterID == "anna" {
			return 0
		}
		return store.ReasonAuthority
	}))
	if want := (store.Result{Applied: 3, Parked: 2}); err != nil || got != want {
		t.Errorf("reconsider gives %+v, %v, want %+v", got, err, want)
	}
	got, err = s.Merge(t.Context(), store.Batch{Path: store.PathFeed, Park: b.Park[3:4], Cursor: b.Cursor})
	if want := (store.Result{Parked: 1}); err != nil || got != want {
		t.Errorf("with room again, merge gives %+v, %v, want %+v", got, err, want)
	}
	wantCursor(t, s, b.Cursor.Section, b.Cursor.Cursor, nil)
	mustVerify(t, s)
}

// testParkedOfAPeer has a peer that delivers ever new writers: the bound of each
// writer holds nothing back then.
func testParkedOfAPeer(t *testing.T, open Opener) {
	t.Helper()
	dir := t.TempDir()
	config := func(seed byte) store.Config {
		cfg := Config(seed)
		cfg.ParkedMax, cfg.ParkedPerPeerMax = 10, 4
		return cfg
	}
	deliver := func(s *store.Store, from merge.InstanceID, first, n int, want store.Result) {
		t.Helper()
		b := store.Batch{Path: store.PathFeed, From: from}
		for i := range n {
			name := strconv.Itoa(first + i)
			rec := NewAuthor(merge.InstanceID("writer-"+name), at(0)).Write(Key("memory", "", name), "text", 1)
			b.Park = append(b.Park, store.Parked{Record: rec, Reason: store.ReasonAuthority})
		}
		if got, err := s.Merge(t.Context(), b); err != nil || got != want {
			t.Errorf("%d of %q: merge gives %+v, %v, want %+v", n, from, got, err, want)
		}
		mustVerify(t, s)
	}
	s := mustOpen(t, open, dir, config(1))
	deliver(s, "liar", 0, 9, store.Result{Parked: 4, Refused: 5})
	deliver(s, "", 100, 9, store.Result{Parked: 4, Refused: 5})
	mustClose(t, s)
	s = mustOpen(t, open, dir, config(2))
	deliver(s, "liar", 4, 5, store.Result{Refused: 5})
	deliver(s, "honest", 200, 1, store.Result{Parked: 1})
	// Whoever delivers again what is there takes no room for it.
	deliver(s, "honest", 0, 4, store.Result{Parked: 4})
	deliver(s, "liar", 4, 1, store.Result{Refused: 1})
	if got, err := s.Reconsider(t.Context(), Judging(func(rec *merge.Record) store.Reason {
		if rec.Envelope.LastWriterID == "writer-0" {
			return 0
		}
		return store.ReasonAuthority
	})); err != nil || got != (store.Result{Applied: 1, Parked: 8}) {
		t.Errorf("reconsider gives %+v, %v", got, err)
	}
	deliver(s, "liar", 4, 2, store.Result{Parked: 1, Refused: 1})
}

// testRefusedPart has the version without room in the first part of a batch,
// once because it is long and once because the engine takes less at a time.
func testRefusedPart(t *testing.T, open Opener) {
	t.Helper()
	for _, c := range []struct {
		name    string
		records int
		limit   int
	}{
		{"a long batch", 600, 0},
		{"a small engine", 400, 20_000},
	} {
		cfg := Config(1)
		cfg.ParkedMax = 2
		faulty := &Faulty{Engine: open(t, t.TempDir()), TxnBytesMax: c.limit}
		s, err := store.Open(faulty, cfg)
		if err != nil {
			t.Fatal(err)
		}
		far, now := NewAuthor("far", at(3_600_000)), NewAuthor("now", at(0))
		b := store.Batch{Path: store.PathFeed, Cursor: &store.CursorMove{
			Peer: "peer", Section: merge.Section{Family: "memory"}, Cursor: store.Cursor{Seq: 1},
		}}
		for i := range c.records {
			a := now
			if i < 3 {
				a = far
			}
			b.Records = append(b.Records, a.Write(Key("memory", "", strconv.Itoa(i)), "text", 1))
		}
		mustMerge(t, s, store.Result{Parked: 2}, b.Records[1:3]...)
		got, err := s.Merge(t.Context(), b)
		if want := (store.Result{Applied: c.records - 3, Parked: 2, Refused: 1}); err != nil || got != want {
			t.Errorf("%s: merge gives %+v, %v, want %+v", c.name, got, err, want)
		}
		wantCursor(t, s, b.Cursor.Section, store.Cursor{}, store.ErrNotFound)
		mustVerify(t, s)
		mustClose(t, s)
	}
}

func testParkedCovered(t *testing.T, open Opener) {
	t.Helper()
	s := mustOpen(t, open, t.TempDir(), Config(1))
	k, a := Key("memory", "", "k"), NewAuthor("anna", at(0))
	one, two, three := a.Write(k, "one", 1), a.Write(k, "two", 1), a.Write(k, "three", 1)
	parks := []store.Parked{{Record: one, Reason: store.ReasonAuthority}, {Record: two, Reason: store.ReasonAuthority}}
	if _, err := s.Merge(t.Context(), store.Batch{Path: store.PathFeed, Park: parks}); err != nil {
		t.Fatal(err)
	}
	mustMerge(t, s, store.Result{Applied: 1}, three)
	mustMerge(t, s, store.Result{Covered: 1}, one)
	got, err := s.Reconsider(t.Context(), Judging(admitAll))
	if want := (store.Result{Covered: 1}); err != nil || got != want {
		t.Errorf("reconsider gives %+v, %v, want %+v", got, err, want)
	}
	if past := historyBodies(t, s, k); !past["one"] || !past["two"] || len(past) != 2 {
		t.Errorf("history has %v, want one and two", past)
	}
	mustMerge(t, s, store.Result{Covered: 2}, one, two)
}

func testParkedMany(t *testing.T, open Opener) {
	t.Helper()
	s := mustOpen(t, open, t.TempDir(), Config(1))
	a := NewAuthor("anna", at(0))
	const n = 1_200
	parks := make([]store.Parked, n)
	for i := range parks {
		parks[i] = store.Parked{Record: a.Write(Key("memory", "", strconv.Itoa(i)), "text", 0), Reason: store.ReasonAuthority}
	}
	for i, path := range []store.Path{store.PathFeed, store.PathGossip} {
		half := parks[i*n/2 : (i+1)*n/2]
		if got, err := s.Merge(t.Context(), store.Batch{Path: path, Park: half}); err != nil || got.Parked != n/2 {
			t.Fatalf("merge gives %+v, %v", got, err)
		}
	}
	calls := 0
	got, err := s.Reconsider(t.Context(), Judging(func(*merge.Record) store.Reason {
		if calls++; calls%3 == 0 {
			return store.ReasonAuthority
		}
		return 0
	}))
	if want := (store.Result{Applied: 800, Parked: 400}); err != nil || got != want {
		t.Errorf("reconsider gives %+v, %v, want %+v", got, err, want)
	}
	if calls != n {
		t.Errorf("%d judgements of %d versions", calls, n)
	}
	paths := map[store.Path]int{}
	err = s.View(func(r *store.Reader) error {
		return r.Events(0, func(e store.Event) bool {
			paths[e.Path]++
			return true
		})
	})
	if err != nil || paths[store.PathFeed]+paths[store.PathGossip] != 800 || len(paths) != 2 {
		t.Errorf("events by path %v, %v, want feed and gossip", paths, err)
	}
	mustVerify(t, s)
}

func testFuture(t *testing.T, open Opener) {
	t.Helper()
	dir := t.TempDir()
	now := Epoch()
	cfg := Config(1)
	cfg.Now = func() time.Time { return now }
	s := mustOpen(t, open, dir, cfg)
	k := Key("skill", "", "k")
	far := NewAuthor("far", at(3_600_000)).Write(k, "from the future", 0)
	near := NewAuthor("near", at(240_000)).Write(k, "within the drift", 0)
	mustMerge(t, s, store.Result{Applied: 1, Parked: 1}, far, near)
	wantBodies(t, s, k, "within the drift")
	admit := Judging(admitAll)
	if got, err := s.Reconsider(t.Context(), admit); err != nil || got != (store.Result{Parked: 1}) {
		t.Errorf("before its time: %+v, %v, want it parked", got, err)
	}
	mine, err := Put(t.Context(), s, "self", k, "mine")
	if err != nil {
		t.Fatal(err)
	}
	if stamp := mine.Envelope.UpdatedHLC; !stamp.After(near.Envelope.UpdatedHLC) || stamp.Wall > near.Envelope.UpdatedHLC.Wall {
		t.Errorf("own stamp %s does not directly follow %s", stamp, near.Envelope.UpdatedHLC)
	}
	mustClose(t, s)
	now = now.Add(time.Hour)
	cfg = Config(2)
	cfg.Now = func() time.Time { return now }
	s = mustOpen(t, open, dir, cfg)
	if got, err := s.Reconsider(t.Context(), admit); err != nil || got != (store.Result{Applied: 1}) {
		t.Errorf("at its time: %+v, %v, want it applied", got, err)
	}
	wantBodies(t, s, k, "mine", "from the future")
	mustVerify(t, s)
}
