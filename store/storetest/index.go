package storetest

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// wordIndexer is an Indexer for tests: a row for each word of a live head, and
// a count of the live heads of each kind.
type wordIndexer struct{ version uint32 }

func (x wordIndexer) Version() uint32 { return x.version }

func (x wordIndexer) EventType(kind string, deleted bool) string {
	if deleted {
		return kind + ".deleted"
	}
	return kind + ".written"
}

func (x wordIndexer) Index(old, new *merge.Record, read func(store.IndexName) []byte) ([]store.IndexRow, error) {
	if new != nil && string(new.Body) == "refuse" {
		return nil, errRefused
	}
	kind := ""
	if new != nil {
		kind = new.Key.Kind
	} else {
		kind = old.Key.Kind
	}
	var rows []store.IndexRow
	count := store.NewIndexName("count", kind)
	n := uint64(0)
	if value := read(count); value != nil {
		n = binary.BigEndian.Uint64(value)
	}
	for _, side := range []struct {
		rec   *merge.Record
		value []byte
	}{{old, nil}, {new, []byte{byte(x.version)}}} {
		if side.rec == nil || side.rec.Envelope.Deleted {
			continue
		}
		for _, word := range strings.Fields(string(side.rec.Body)) {
			rows = append(rows, store.IndexRow{Name: wordName(word, side.rec.Key), Value: side.value})
		}
		if side.value == nil {
			n--
		} else {
			n++
		}
	}
	if n == 0 {
		return append(rows, store.IndexRow{Name: count}), nil
	}
	return append(rows, store.IndexRow{Name: count, Value: binary.BigEndian.AppendUint64(nil, n)}), nil
}

func wordName(word string, k merge.Key) store.IndexName {
	return store.NewIndexName("word", word, k.Kind, k.Scope.Project, strings.Join(k.ID.Components(), "/"))
}

// testIndex holds the rows of an indexer to the heads, and makes them anew when
// its version changes.
func testIndex(t *testing.T, open Opener) {
	t.Helper()
	dir := t.TempDir()
	cfg := Config(1)
	cfg.Indexer = wordIndexer{version: 1}
	s := mustOpen(t, open, dir, cfg)
	a, b := Key("memory", "", "a"), Key("memory", "web", "b")
	anna := NewAuthor("anna", at(0))
	first := anna.Write(a, "red green", 1)
	mustMerge(t, s, store.Result{Applied: 3}, first, anna.Write(a, "red blue", 1), anna.Write(b, "red", 1))
	wantIndex(t, s, 2, "blue memory  a", "red memory  a", "red memory web b")
	if _, err := Put(t.Context(), s, "self", a, ""); err != nil {
		t.Fatal(err)
	}
	wantIndex(t, s, 1, "red memory web b")
	loser := NewAuthor("zoe", at(-5)).Write(b, "lost", 1)
	mustMerge(t, s, store.Result{Applied: 1}, loser)
	wantIndex(t, s, 1, "red memory web b")

	_, err := s.Merge(t.Context(), store.Batch{Path: store.PathFeed, Records: []merge.Record{
		anna.Write(Key("memory", "", "c"), "fine", 1), anna.Write(Key("memory", "new", "d"), "refuse", 1),
	}})
	if !errors.Is(err, errRefused) {
		t.Errorf("the indexer's error comes back as %v", err)
	}
	wantIndex(t, s, 1, "red memory web b")
	mustVerify(t, s)
	wantEventTypes(t, s, "memory.written", "memory.written", "memory.written", "memory.deleted")

	for _, version := range []uint32{1, 2, 0} {
		mustClose(t, s)
		cfg := Config(10 + byte(version))
		cfg.Indexer = wordIndexer{version: version}
		s = mustOpen(t, open, dir, cfg)
		wantIndex(t, s, 1, "red memory web b")
		wantValue(t, s, byte(version))
		mustVerify(t, s)
	}
	mustClose(t, s)
	s = mustOpen(t, open, dir, Config(50))
	err = s.View(func(r *store.Reader) error {
		return r.IndexScan("", func(name store.IndexName, _ []byte) bool {
			t.Errorf("without an indexer there is still a row %q", name)
			return true
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantIndex compares the word rows, scanned both ways, and the count.
func wantIndex(t *testing.T, s *store.Store, count uint64, want ...string) {
	t.Helper()
	err := s.View(func(r *store.Reader) error {
		var up, down []string
		add := func(to *[]string) func(store.IndexName, []byte) bool {
			return func(name store.IndexName, _ []byte) bool {
				*to = append(*to, strings.Join(name.Components()[1:], " "))
				return true
			}
		}
		err := errors.Join(r.IndexScan("word", add(&up)), r.IndexScanDown("word", add(&down)))
		if diff := cmp.Diff(want, up); diff != "" {
			t.Errorf("index ascending (-want +got):\n%s", diff)
		}
		for i := range down {
			if down[i] != up[len(up)-1-i] {
				t.Errorf("descending %q is not the reverse of %q", down, up)
			}
		}
		for i, word := range up {
			var above, below []string
			place := store.NewIndexName(append([]string{"word"}, strings.Split(word, " ")...)...)
			err = errors.Join(err, r.IndexScanAfter("word", place, add(&above)), r.IndexScanDownAfter("word", place, add(&below)))
			slices.Reverse(below)
			if diff := cmp.Diff(up, slices.Concat(below, up[i:i+1], above)); diff != "" {
				t.Errorf("the index before and after %q (-want +got):\n%s", word, diff)
			}
		}
		value, errCount := r.Index("count", "memory")
		if errCount == nil && binary.BigEndian.Uint64(value) != count {
			t.Errorf("count is %x, want %d", value, count)
		}
		return errors.Join(err, errCount)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wantValue(t *testing.T, s *store.Store, want byte) {
	t.Helper()
	err := s.View(func(r *store.Reader) error {
		value, err := r.Index("word", "red", "memory", "web", "b")
		if len(value) != 1 || value[0] != want {
			t.Errorf("row was written by version %x, want %d", value, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wantEventTypes(t *testing.T, s *store.Store, want ...string) {
	t.Helper()
	err := s.View(func(r *store.Reader) error {
		var got []string
		err := r.Events(1, func(e store.Event) bool {
			got = append(got, e.Type)
			return true
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event types (-want +got):\n%s", diff)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
