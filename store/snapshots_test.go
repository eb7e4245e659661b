package store_test

import (
	"testing"

	"github.com/fleetsync/fleetd/store"
)

// TestSnapshots: what a view sees must not be dropped while it is open, and a
// transaction that is being synced is seen by none that begins meanwhile.
func TestSnapshots(t *testing.T) {
	s := store.NewSnapshots(7)
	early := s.Begin()
	if next := s.Next(); early != 7 || next != 8 {
		t.Fatalf("the first view sees up to %d, and %d is written; want 7 and 8", early, next)
	}
	if during := s.Begin(); during != 7 {
		t.Errorf("a view sees up to %d while 8 is synced, want 7", during)
	}
	if oldest := s.Advance(8); oldest != 7 {
		t.Errorf("%d may be dropped under two views of 7", oldest)
	}
	s.End(7)
	if oldest := s.Advance(9); oldest != 7 {
		t.Errorf("%d may be dropped under a view of 7", oldest)
	}
	s.End(early)
	if oldest := s.Advance(10); oldest != 10 {
		t.Errorf("only %d may be dropped, of 10 and no view", oldest)
	}
}
