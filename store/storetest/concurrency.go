package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// testConcurrency lets many writers meet.
func testConcurrency(t *testing.T, open Opener) {
	t.Helper()
	t.Run("50 writers count over 10 keys and lose nothing", func(t *testing.T) { testCounters(t, open, false) })
	t.Run("50 writers without a common lock lose nothing", func(t *testing.T) { testCounters(t, open, true) })
	t.Run("local values are replaced in one step", func(t *testing.T) { testLocalCounter(t, open) })
}

// testCounters lets each write read the head of its key and write one more,
// while merges bring other keys and other versions of the same ones. Reading
// and writing in one step is what no increment lost proves.
func testCounters(t *testing.T, open Opener, ownLocks bool) {
	t.Helper()
	const writers, rounds, keys = 50, 6, 10
	told := witness{records: map[merge.Hash]bool{}}
	cfg := Config(1)
	cfg.OnCommit = told.see
	s := mustOpen(t, open, t.TempDir(), cfg)
	var group sync.WaitGroup
	failures := make(chan error, writers*rounds+rounds+1)
	for w := range writers {
		group.Go(func() {
			for range rounds {
				k := Key("memory", "", strconv.Itoa(w%keys))
				lock := k.String()
				if ownLocks {
					lock = fmt.Sprint("writer ", w)
				}
				failures <- increment(t, s, lock, k, &told)
			}
		})
	}
	group.Go(func() {
		anna := NewAuthor("anna", at(-1_000_000))
		for i := range rounds {
			_, err := s.Merge(t.Context(), store.Batch{Path: store.PathFeed, Records: []merge.Record{
				anna.Write(Key("memory", "", strconv.Itoa(i%keys)), "a loser", 0), anna.Write(Key("memory", "", fmt.Sprint("n", i)), "x", 0),
			}})
			failures <- err
		}
	})
	group.Wait()
	failures <- told.wrong
	close(failures)
	for err := range failures {
		if err != nil {
			t.Error(err)
		}
	}
	if total := counted(t, s, keys); total != writers*rounds {
		t.Errorf("the counters add up to %d, want %d", total, writers*rounds)
	}
	mustVerify(t, s)
}

// witness checks that commits are told in order.
type witness struct {
	mu         sync.Mutex // guards all following fields
	records    map[merge.Hash]bool
	seq, event uint64
	wrong      error
}

func (w *witness) see(c store.Commit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, rec := range c.Records {
		w.records[rec.Hash()] = true
	}
	for _, e := range c.Events {
		if w.event++; e.Seq != w.event {
			w.wrong = fmt.Errorf("a commit tells of event %d, want %d", e.Seq, w.event)
		}
	}
	if c.Seq < w.seq {
		w.wrong = fmt.Errorf("a commit at %d is told after one at %d", c.Seq, w.seq)
	}
	w.seq = c.Seq
}

func (w *witness) saw(rec merge.Record) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.records[rec.Hash()]
}

// counted adds up the heads of the counter keys.
func counted(t *testing.T, s *store.Store, keys int) int {
	t.Helper()
	total := 0
	for k := range keys {
		held := bodies(t, s, Key("memory", "", strconv.Itoa(k)))
		n, err := strconv.Atoi(held[len(held)-1])
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	return total
}

func increment(t *testing.T, s *store.Store, lock string, k merge.Key, told *witness) error {
	t.Helper()
	var rec merge.Record
	err := s.Write(t.Context(), lock, func(r *store.Reader) ([]merge.Record, error) {
		n := 0
		head, err := r.Head(k)
		switch {
		case err == nil && string(head.Body) != "a loser":
			if n, err = strconv.Atoi(string(head.Body)); err != nil {
				return nil, err
			}
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		rec, err = Draft(s, r, "self", k, strconv.Itoa(n+1), false)
		return []merge.Record{rec}, err
	})
	if err != nil {
		return err
	}
	if !told.saw(rec) {
		return errors.New("acknowledged before OnCommit was told")
	}
	return nil
}

func testLocalCounter(t *testing.T, open Opener) {
	t.Helper()
	s := mustOpen(t, open, t.TempDir(), Config(1))
	var group sync.WaitGroup
	const writers, rounds = 8, 10
	failures := make(chan error, writers*rounds)
	for range writers {
		group.Go(func() {
			for range rounds {
				failures <- s.UpdateLocal(t.Context(), "n", func(old []byte) ([]byte, error) {
					n, _ := strconv.Atoi(string(old)) // nothing yet is 0
					return []byte(strconv.Itoa(n + 1)), nil
				})
			}
		})
	}
	group.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			t.Error(err)
		}
	}
	err := s.View(func(r *store.Reader) error {
		value, err := r.Local("n")
		if string(value) != strconv.Itoa(writers*rounds) {
			t.Errorf("the counter is %s, want %d", value, writers*rounds)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
