package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// testHistory holds the bound of a key's history and what is kept first.
func testHistory(t *testing.T, open Opener) {
	t.Helper()
	dir := t.TempDir()
	now := Epoch().Add(-30 * 24 * time.Hour)
	cfg := Config(1)
	cfg.Now = func() time.Time { return now }
	cfg.HistoryMax = 8
	s := mustOpen(t, open, dir, cfg)
	k := Key("skill", "", "k")
	guest := NewAuthor("guest", at(-30*24*3_600_000))
	if _, err := s.Merge(t.Context(), store.Batch{Path: store.PathFeed, Records: []merge.Record{guest.Write(k, "guest", 0)}}); err != nil {
		t.Fatal(err)
	}
	longest := 0
	for i := range 100 {
		switch i {
		case 60:
			now = now.Add(20 * 24 * time.Hour)
		case 70:
			now = Epoch().Add(-3 * 24 * time.Hour)
		case 80:
			now = Epoch()
		}
		if _, err := Put(t.Context(), s, "self", k, strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, len(historyBodies(t, s, k)))
	}
	mustVerify(t, s)
	if longest > 8+16 {
		t.Errorf("history grew to %d versions, want at most 24", longest)
	}
	// One prune more, so that only what is kept first and the newest are left.
	for i := range 17 {
		if _, err := Put(t.Context(), s, "self", k, fmt.Sprint("last ", i)); err != nil {
			t.Fatal(err)
		}
		if n := len(historyBodies(t, s, k)); n == 8 {
			break
		}
	}
	got := historyBodies(t, s, k)
	for _, want := range []string{"guest", "69", "79"} {
		if !got[want] {
			t.Errorf("history %v lacks %q: the newest of a writer and the newest older than a week and a day stay", got, want)
		}
	}
	wantCompacted(t, s, k)
	mustVerify(t, s)
}

func historyBodies(t *testing.T, s *store.Store, k merge.Key) map[string]bool {
	t.Helper()
	got := map[string]bool{}
	err := s.View(func(r *store.Reader) error {
		past, err := r.History(k)
		for _, p := range past {
			rec, err := r.Image(store.Ref{Key: k, Writer: p.Writer, Hash: p.Hash})
			if err != nil {
				return err
			}
			got[string(rec.Body)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wantCompacted checks that every event that is left shows an image that is
// left, that the newest is among them, and that a dropped image says so.
func wantCompacted(t *testing.T, s *store.Store, k merge.Key) {
	t.Helper()
	err := s.View(func(r *store.Reader) error {
		last, count := uint64(0), 0
		var failed error
		err := r.Events(0, func(e store.Event) bool {
			last = e.Seq
			count++
			_, failed = r.Image(e.Ref)
			return failed == nil
		})
		newest, errHead := r.EventHead()
		if last != newest || count > 8+16+1 {
			t.Errorf("%d events up to %d, the newest is %d", count, last, newest)
		}
		_, errImage := r.Image(store.Ref{Key: k, Writer: "self", Hash: merge.Hash{1}})
		if !errors.Is(errImage, store.ErrNotFound) {
			t.Errorf("an image that is not there: %v, want ErrNotFound", errImage)
		}
		return errors.Join(failed, err, errHead)
	})
	if err != nil {
		t.Fatal(err)
	}
}
