package storetest

import (
	"fmt"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// testCursors holds what a store says of positions in its own feed, over
// reopening, a lost tail and a restored backup.
func testCursors(t *testing.T, open Opener) {
	t.Helper()
	t.Run("positions over incarnations", func(t *testing.T) { testIncarnations(t, open) })
	t.Run("a lost tail and a restored backup show", func(t *testing.T) { testLostTail(t) })
}

type position struct {
	name   string
	cursor store.Cursor
	state  store.CursorState
	end    uint64
}

func wantPositions(t *testing.T, s *store.Store, positions ...position) {
	t.Helper()
	err := s.View(func(r *store.Reader) error {
		for _, p := range positions {
			state, end, err := r.CheckCursor(p.cursor)
			if err != nil {
				return err
			}
			if state != p.state || end != p.end {
				t.Errorf("%s: state %d, end %d, want %d, %d", p.name, state, end, p.state, p.end)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// writeSome writes n new keys.
func writeSome(t *testing.T, s *store.Store, prefix string, n int) {
	t.Helper()
	for i := range n {
		if _, err := Put(t.Context(), s, "self", Key("memory", "", fmt.Sprint(prefix, i)), "text"); err != nil {
			t.Fatal(err)
		}
	}
}

func cursorOf(s *store.Store, seq uint64) store.Cursor {
	return store.Cursor{Store: s.ID(), Incarnation: s.Incarnation(), Seq: seq}
}

func testIncarnations(t *testing.T, open Opener) {
	t.Helper()
	dir := t.TempDir()
	first := mustOpen(t, open, dir, Config(1))
	writeSome(t, first, "a", 3)
	old := cursorOf(first, 0)
	wantPositions(t, first,
		position{"the beginning", cursorOf(first, 0), store.CursorValid, 3},
		position{"the end", cursorOf(first, 3), store.CursorValid, 3},
		position{"beyond the end", cursorOf(first, 4), store.CursorBeyond, 3},
		position{"another store", store.Cursor{Store: store.ID{9}, Incarnation: old.Incarnation}, store.CursorUnknown, 0},
		position{"another opening", store.Cursor{Store: old.Store, Incarnation: 77}, store.CursorUnknown, 0},
	)
	mustClose(t, first)
	second := mustOpen(t, open, dir, Config(100))
	if second.ID() != first.ID() || second.Incarnation() == first.Incarnation() {
		t.Fatalf("opened again: store %x incarnation %d, was %x, %d", second.ID(), second.Incarnation(), first.ID(), first.Incarnation())
	}
	writeSome(t, second, "b", 2)
	old.Seq = 3
	beyond := old
	beyond.Seq = 4
	wantPositions(t, second,
		position{"the end of the first opening", old, store.CursorValid, 3},
		position{"beyond the end of the first opening", beyond, store.CursorBeyond, 3},
		position{"a place of the first opening, read in the second", cursorOf(second, 1), store.CursorValid, 5},
	)
	var seqs []uint64
	err := second.View(func(r *store.Reader) error {
		return r.Feed(merge.Section{Family: "memory"}, 3, func(e store.FeedEntry) bool {
			seqs = append(seqs, e.Seq)
			return true
		})
	})
	if err != nil || fmt.Sprint(seqs) != "[4 5]" {
		t.Errorf("the feed after 3 has %v, %v, want 4 and 5", seqs, err)
	}
}

// testLostTail goes back to an older disk, which only the memory engine can
// do here; the logic above it is the same.
func testLostTail(t *testing.T) {
	t.Helper()
	disk := store.NewMemory()
	s, err := store.Open(disk, Config(1))
	if err != nil {
		t.Fatal(err)
	}
	writeSome(t, s, "a", 3)
	backup := disk.Clone()
	writeSome(t, s, "b", 2)
	end := cursorOf(s, 5)
	if _, err := store.Open(disk.Clone(), Config(50)); err != nil {
		t.Fatal(err)
	}
	restored, err := store.Open(backup, Config(100))
	if err != nil {
		t.Fatal(err)
	}
	inBackup := end
	inBackup.Seq = 3
	wantPositions(t, restored,
		position{"what was written after the backup", end, store.CursorBeyond, 3},
		position{"what was written before it", inBackup, store.CursorValid, 3},
	)
	writeSome(t, restored, "c", 4)
	wantPositions(t, restored, position{"places that were given again", end, store.CursorBeyond, 3})

	reopened, err := store.Open(disk.Clone(), Config(150))
	if err != nil {
		t.Fatal(err)
	}
	later := cursorOf(reopened, 5)
	wantPositions(t, restored, position{"an opening after the backup", later, store.CursorUnknown, 0})
}
