package store_test

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	"github.com/fleetsync/fleetd/store/storetest"
)

var errRefused = errors.New("refused by the indexer")

// countIndexer counts heads in one row that every write reads and replaces, and
// refuses a certain body.
type countIndexer struct{}

func (countIndexer) Version() uint32               { return 1 }
func (countIndexer) EventType(string, bool) string { return "changed" }

func (countIndexer) Index(old, rec *merge.Record, read func(store.IndexName) []byte) ([]store.IndexRow, error) {
	if string(rec.Body) == "refuse" {
		return nil, errRefused
	}
	n, _ := strconv.Atoi(string(read("count"))) // no row yet is 0
	if old == nil {
		n++
	}
	return []store.IndexRow{{Name: "count", Value: []byte(strconv.Itoa(n))}}, nil
}

// TestFailedMemberIsUndone puts batches into one group of which one fails after
// it has changed keys, rows, sections and the parked: those behind it must find
// everything as it was.
func TestFailedMemberIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := storetest.Config(1)
		cfg.Indexer = countIndexer{}
		h := openHeld(t, cfg)
		anna, ben := storetest.NewAuthor("anna", stampNow(t, h.store)), storetest.NewAuthor("ben", stampNow(t, h.store))
		shared, gone := storetest.Key("memory", "", "shared"), storetest.Key("memory", "lost", "gone")
		first, second := anna.Write(shared, "first", 1), anna.Write(shared, "second", 1)
		waiting := ben.Write(shared, "waiting", 1)
		h.pass(t, store.Batch{
			Path: store.PathFeed, Records: []merge.Record{first},
			Park: []store.Parked{{Record: waiting, Reason: store.ReasonAuthority}},
		})

		failing := store.Batch{Path: store.PathFeed, Records: []merge.Record{
			second, waiting, anna.Write(gone, "gone", 1), anna.Write(storetest.Key("memory", "", "bad"), "refuse", 1),
		}}
		good := []store.Batch{
			{Path: store.PathFeed, Records: []merge.Record{anna.Write(storetest.Key("memory", "", "x"), "x", 1)}},
			failing,
			{Path: store.PathFeed, Records: []merge.Record{second}},
			{Path: store.PathFeed, Records: []merge.Record{ben.Write(storetest.Key("memory", "new", "y"), "y", 1)}},
		}
		var group sync.WaitGroup
		for i, b := range good {
			group.Go(func() {
				_, err := h.store.Merge(t.Context(), b)
				if want := i == 1; errors.Is(err, errRefused) != want {
					t.Errorf("batch %d: %v", i, err)
				}
			})
			synctest.Wait() // in this order
		}
		before := h.engine.Updates()
		h.release <- struct{}{}
		synctest.Wait()
		h.release <- struct{}{}
		group.Wait()
		if got := h.engine.Updates() - before; got != 1 {
			t.Fatalf("the batches behind the first took %d updates, want one", got)
		}
		wantAfterUndo(t, h.store, shared, gone)
	})
}

func wantAfterUndo(t *testing.T, s *store.Store, shared, gone merge.Key) {
	t.Helper()
	if err := s.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	err := s.View(func(r *store.Reader) error {
		held, err := r.Held(shared)
		if len(held) != 1 {
			t.Errorf("the shared key holds %d versions, want anna's second alone", len(held))
		}
		past, errPast := r.History(shared)
		if len(past) != 1 {
			t.Errorf("its history has %d versions, want 1", len(past))
		}
		if lost, err := r.Held(gone); len(lost) != 0 || err != nil {
			t.Errorf("a version of the failed batch is held: %v, %v", lost, err)
		}
		count, errCount := r.Index("count")
		if string(count) != "3" {
			t.Errorf("the indexer counted %s heads, want 3", count)
		}
		var events []uint64
		errEvents := r.Events(1, func(e store.Event) bool {
			events = append(events, e.Seq)
			return true
		})
		if !slices.Equal(events, []uint64{1, 2, 3, 4}) {
			t.Errorf("events are numbered %v, want 1 to 4", events)
		}
		parked := 0
		errParked := r.Parked(func(store.Parked) bool {
			parked++
			return true
		})
		if parked != 1 {
			t.Errorf("%d versions are parked, want 1", parked)
		}
		return errors.Join(err, errPast, errCount, errEvents, errParked)
	})
	if err != nil {
		t.Fatal(err)
	}
}
