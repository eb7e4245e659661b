package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// testFaults lets each kind of update fail in each way: the memory of the store
// must be as it was, and everything must work right after.
func testFaults(t *testing.T, open Opener) {
	t.Helper()
	for _, fault := range []struct {
		name  string
		fault Fault
	}{
		{"before the update", FaultBefore},
		{"at the first write", FaultWrite},
		{"at the commit, rolled back", FaultCommit},
		{"after the commit", FaultAfter},
	} {
		t.Run("a failure "+fault.name, func(t *testing.T) { testFault(t, open, fault.fault) })
	}
}

func testFault(t *testing.T, open Opener, fault Fault) {
	t.Helper()
	dir := t.TempDir()
	armed := false
	faulty := &Faulty{Engine: open(t, dir), Plan: func(int) Fault {
		if armed {
			return fault
		}
		return FaultNone
	}}
	cfg := Config(1)
	cfg.Indexer = wordIndexer{version: 1}
	var told int
	cfg.OnCommit = func(c store.Commit) { told += len(c.Records) }
	s, err := store.Open(faulty, cfg)
	if err != nil {
		t.Fatal(err)
	}
	anna := NewAuthor("anna", at(0))
	k, conflicted := Key("memory", "", "k"), Key("memory", "", "conflicted")
	mustMerge(t, s, store.Result{Applied: 3}, anna.Write(k, "one", 1), anna.Write(conflicted, "x", 1),
		NewAuthor("ben", at(0)).Write(conflicted, "y", 1))
	actions := faultyActions(t, s, anna, k)
	for _, a := range actions {
		before, toldBefore := dump(t, s), told
		armed = true
		if err := a.do(); !errors.Is(err, ErrInjected) {
			t.Errorf("%s: %v, want the injected error", a.name, err)
		}
		armed = false
		if told != toldBefore {
			t.Errorf("%s: OnCommit was told of %d records that were not acknowledged", a.name, told-toldBefore)
		}
		mustVerify(t, s)
		if diff := cmp.Diff(before, dump(t, s)); diff != "" && fault != FaultAfter {
			t.Errorf("%s: the failure left (-before +after):\n%s", a.name, diff)
		}
		// Once it has happened unseen, doing it again is refused or does nothing
		// new; otherwise it simply works now.
		if err := a.do(); err != nil {
			t.Errorf("%s, again: %v", a.name, err)
		}
		mustVerify(t, s)
	}
	after := dump(t, s)
	mustClose(t, s)
	s = mustOpen(t, open, dir, cfg)
	if diff := cmp.Diff(after, dump(t, s)); diff != "" {
		t.Errorf("opening anew changes (-before +after):\n%s", diff)
	}
	stamp, err := s.Clock().Now()
	if err != nil || !stamp.After(newestStamp(t, s)) {
		t.Errorf("the clock issues %s, %v, after %s was stored", stamp, err, newestStamp(t, s))
	}
}

type action struct {
	name string
	do   func() error
}

// faultyActions returns one writer of each kind.
func faultyActions(t *testing.T, s *store.Store, anna *Author, k merge.Key) []action {
	t.Helper()
	update := anna.Write(k, "two", 1)
	fresh := anna.Write(Key("skill", "a new section", "k"), "three", 1)
	waiting := store.Parked{Record: NewAuthor("carl", at(0)).Write(k, "parked", 1), Reason: store.ReasonAuthority}
	batch := store.Batch{
		Path: store.PathFeed, Records: []merge.Record{update, fresh}, Park: []store.Parked{waiting},
		Cursor: &store.CursorMove{Peer: "peer", Section: k.Section(), Cursor: store.Cursor{Seq: 7}},
	}
	return []action{
		{"merge", func() error { _, err := s.Merge(t.Context(), batch); return err }},
		{"write", func() error { _, err := Put(t.Context(), s, "self", k, "mine"); return err }},
		{"local", func() error { return s.SetLocal(t.Context(), "name", []byte("value")) }},
		{"reconsider", func() error {
			_, err := s.Reconsider(t.Context(), Judging(admitAll))
			return err
		}},
		{"retract", func() error {
			_, err := s.Reconsider(t.Context(), JudgingAs(1, bannedAnna))
			return err
		}},
	}
}

func newestStamp(t *testing.T, s *store.Store) (newest hlc.Timestamp) {
	t.Helper()
	err := s.View(func(r *store.Reader) error {
		for _, state := range s.Sections() {
			err := r.Feed(state.Section, 0, func(e store.FeedEntry) bool {
				if e.Stamp.After(newest) {
					newest = e.Stamp
				}
				return true
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return newest
}
