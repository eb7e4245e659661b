package store_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	"github.com/fleetsync/fleetd/store/storetest"
)

// held is a store over a memory engine in which each update waits for a value
// from release. It must be used within a synctest bubble.
type held struct {
	store   *store.Store
	engine  *storetest.Faulty
	opened  int // updates that opening took
	release chan struct{}
}

func openHeld(t *testing.T, cfg store.Config) held {
	t.Helper()
	h := held{release: make(chan struct{})}
	arm := false
	h.engine = &storetest.Faulty{Engine: store.NewMemory(), Plan: func(int) storetest.Fault {
		if arm {
			<-h.release
		}
		return storetest.FaultNone
	}}
	s, err := store.Open(h.engine, cfg)
	if err != nil {
		t.Fatal(err)
	}
	h.store, h.opened = s, h.engine.Updates()
	arm = true
	return h
}

// pass merges one batch and lets it through.
func (h *held) pass(t *testing.T, b store.Batch) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := h.store.Merge(t.Context(), b)
		done <- err
	}()
	h.release <- struct{}{}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// stampNow returns a stamp of the store's clock.
func stampNow(t *testing.T, s *store.Store) hlc.Timestamp {
	t.Helper()
	stamp, err := s.Clock().Now()
	if err != nil {
		t.Fatal(err)
	}
	return stamp
}

func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openHeld(t, storetest.Config(1))
		const writers = 64
		var group sync.WaitGroup
		failures := make(chan error, writers)
		for i := range writers {
			group.Go(func() {
				_, err := storetest.Put(t.Context(), h.store, "self", storetest.Key("memory", "", strconv.Itoa(i)), "text")
				failures <- err
			})
		}
		synctest.Wait() // one writer is in the engine, the others wait for it
		close(h.release)
		group.Wait()
		close(failures)
		for err := range failures {
			if err != nil {
				t.Error(err)
			}
		}
		if got := h.engine.Updates() - h.opened; got != 2 {
			t.Errorf("%d writers took %d updates, want 2: one for the first, one for all who came meanwhile", writers, got)
		}
		if state := h.store.State(merge.Section{Family: "memory"}); state.Count != writers || state.Head != writers {
			t.Errorf("state %+v, want %d versions", state, writers)
		}
	})
}

// TestGroupMemberFails queues writers of one key behind each other: those whose
// reading is stale are built again, and one that refuses touches nobody.
func TestGroupMemberFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openHeld(t, storetest.Config(1))
		k := storetest.Key("memory", "", "k")
		refused := errors.New("refused")
		var group sync.WaitGroup
		failures := make(chan error, 8)
		for i := range 8 {
			group.Go(func() {
				runs := 0
				failures <- h.store.Write(t.Context(), strconv.Itoa(i), func(r *store.Reader) ([]merge.Record, error) {
					rec, err := storetest.Draft(h.store, r, "self", k, strconv.Itoa(i), false)
					if runs++; runs == 2 && i == 3 {
						err = refused
					}
					return []merge.Record{rec}, err
				})
			})
		}
		synctest.Wait()
		close(h.release)
		group.Wait()
		close(failures)
		failed := 0
		for err := range failures {
			switch {
			case errors.Is(err, refused):
				failed++
			case err != nil:
				t.Error(err)
			}
		}
		err := h.store.View(func(r *store.Reader) error {
			head, err := r.Head(k)
			if want := int64(8 - failed); head.Envelope.SyncVersion != want {
				t.Errorf("the key has version %d, want %d", head.Envelope.SyncVersion, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.store.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestCancelledWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openHeld(t, storetest.Config(1))
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		first := make(chan error, 1)
		group.Go(func() {
			_, err := storetest.Put(ctx, h.store, "self", storetest.Key("memory", "", "first"), "text")
			first <- err
		})
		synctest.Wait()
		waiting := make(chan error, 3)
		for _, id := range []string{"second", "third"} {
			group.Go(func() {
				_, err := storetest.Put(ctx, h.store, "self", storetest.Key("memory", "", id), "text")
				waiting <- err
			})
		}
		group.Go(func() { waiting <- h.store.SetLocal(t.Context(), "name", []byte("value")) })
		synctest.Wait()
		cancel()
		synctest.Wait()
		for range 2 {
			if err := <-waiting; !errors.Is(err, context.Canceled) {
				t.Errorf("a waiting writer returns %v, want context.Canceled", err)
			}
		}
		close(h.release)
		group.Wait()
		if err := <-first; err != nil {
			t.Errorf("the writer in the engine returns %v: it can no longer be called back", err)
		}
		if err := <-waiting; err != nil {
			t.Errorf("a writer that was not cancelled returns %v", err)
		}
		if err := h.store.Write(ctx, "lock", func(*store.Reader) ([]merge.Record, error) {
			t.Error("build runs although the context has ended")
			return nil, nil
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("a late writer returns %v, want context.Canceled", err)
		}
		if state := h.store.State(merge.Section{Family: "memory"}); state.Count != 1 {
			t.Errorf("state %+v, want one version", state)
		}
	})
}

// TestStaleRows changes each kind of row under a writer that has read it by
// name: the writer must be built again, and what it did not read by name must
// not matter.
func TestStaleRows(t *testing.T) {
	k, other := storetest.Key("memory", "", "k"), storetest.Key("memory", "", "other")
	for _, c := range []struct {
		name string
		read func(r *store.Reader) error
		runs int
	}{
		{"the held versions of a key", func(r *store.Reader) error { _, err := r.Held(other); return err }, 2},
		{"the head of a key", func(r *store.Reader) error { _, err := r.Head(other); return err }, 2},
		{"the history of a key", func(r *store.Reader) error { _, err := r.History(other); return err }, 2},
		{"a local value", func(r *store.Reader) error { _, err := r.Local("name"); return err }, 2},
		{"an index row", func(r *store.Reader) error { _, err := r.Index("count"); return err }, 2},
		{"a scan", func(r *store.Reader) error {
			return r.Range(other.Section(), "", func(merge.Key, []store.Held) bool { return true })
		}, 1},
		{"nothing", func(*store.Reader) error { return nil }, 1},
	} {
		cfg := storetest.Config(1)
		cfg.Indexer = countIndexer{}
		s, err := store.Open(store.NewMemory(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		anna := storetest.NewAuthor("anna", stampNow(t, s))
		runs := 0
		err = s.Write(t.Context(), "lock", func(r *store.Reader) ([]merge.Record, error) {
			if err := c.read(r); err != nil && !errors.Is(err, store.ErrNotFound) {
				return nil, err
			}
			rec, err := storetest.Draft(s, r, "self", k, "mine", false)
			if runs++; runs > 1 {
				return []merge.Record{rec}, err
			}
			_, errMerge := s.Merge(t.Context(), store.Batch{Path: store.PathGossip, Records: []merge.Record{anna.Write(other, "x", 1)}})
			return []merge.Record{rec}, errors.Join(err, errMerge, s.SetLocal(t.Context(), "name", []byte("value")))
		})
		if err != nil || runs != c.runs {
			t.Errorf("%s: the build ran %d times, %v, want %d", c.name, runs, err, c.runs)
		}
	}
}

// TestStarvedWriter changes a key under its writer at every attempt: in the end
// the writer is let alone.
func TestStarvedWriter(t *testing.T) {
	s, err := store.Open(store.NewMemory(), storetest.Config(1))
	if err != nil {
		t.Fatal(err)
	}
	k := storetest.Key("memory", "", "k")
	anna := storetest.NewAuthor("anna", s.Clock().Last())
	var group sync.WaitGroup
	runs := 0
	err = s.Write(t.Context(), "lock", func(r *store.Reader) ([]merge.Record, error) {
		rec, err := storetest.Draft(s, r, "self", k, "mine", false)
		runs++
		anna.Learn(rec)
		other := store.Batch{Path: store.PathGossip, Records: []merge.Record{anna.Write(k, strconv.Itoa(runs), 0)}}
		merged := make(chan struct{})
		group.Go(func() {
			if _, err := s.Merge(t.Context(), other); err != nil {
				t.Error(err)
			}
			close(merged)
		})
		if runs <= 4 {
			<-merged
		}
		return []merge.Record{rec}, err
	})
	group.Wait()
	if err != nil || runs != 5 {
		t.Errorf("write returns %v after %d runs, want nil after 5", err, runs)
	}
	if err := s.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestPanicInBuildLeavesTheStoreUsable(t *testing.T) {
	s, err := store.Open(store.NewMemory(), storetest.Config(1))
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = s.Write(t.Context(), "lock", func(*store.Reader) ([]merge.Record, error) { panic("build") })
	}()
	if _, err := storetest.Put(t.Context(), s, "self", storetest.Key("memory", "", "k"), "text"); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
