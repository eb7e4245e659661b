package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// testCorruption flips one bit in, or cuts, or exchanges, each stored value of
// a store that has rows of every kind. Whatever is asked then, the answer is
// the right one or ErrCorrupt; and nothing that is missing is missing in
// silence.
func testCorruption(t *testing.T, open Opener) {
	t.Helper()
	engine, clean, rows := openEveryKind(t, open)
	kinds := map[string]int{}
	for key := range rows {
		kinds[strings.SplitAfter(key, "/")[0]]++
	}
	for _, kind := range []string{"r/", "v/", "s/", "h/", "e/", "i/", "c/", "q/", "b/", "m/"} {
		if kinds[kind] == 0 {
			t.Errorf("the store has no row of kind %s to damage", kind)
		}
	}
	keys := slices.Sorted(maps.Keys(rows))
	for i, key := range keys {
		value := rows[key]
		other := rows[keys[(i+1)%len(keys)]]
		flipped := []byte(value)
		flipped[i*7%len(flipped)] ^= 1 << (i % 8)
		for name, damaged := range map[string]string{
			"flipped": string(flipped), "cut": value[:len(value)-1], "exchanged": other, "empty": "",
		} {
			damage := maps.Clone(rows)
			damage[key] = damaged
			writeRows(t, engine, damage)
			if err := wantLoud(engine, clean); err != nil {
				t.Errorf("%s row %q: %v", name, key, err)
			}
		}
	}
	writeRows(t, engine, rows)
	if said := reopened(t, engine); !maps.Equal(clean, said) {
		t.Errorf("the damage was not undone by the test itself")
	}
}

// openEveryKind opens an engine that lasts as long as the test and has rows of
// every kind, and returns what the store says of them, and the rows.
func openEveryKind(t *testing.T, open Opener) (engine lasting, clean, rows map[string]string) {
	t.Helper()
	engine = lasting{open(t, t.TempDir())}
	t.Cleanup(func() {
		if err := engine.Engine.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	clean = fillEveryKind(t, engine)
	return engine, clean, readRows(t, engine)
}

// fillEveryKind makes rows of every kind and returns what the store says.
func fillEveryKind(t *testing.T, engine store.Engine) map[string]string {
	t.Helper()
	cfg := Config(1)
	cfg.Indexer = wordIndexer{version: 1}
	s, err := store.Open(engine, cfg)
	if err != nil {
		t.Fatal(err)
	}
	anna, ben := NewAuthor("anna", at(0)), NewAuthor("ben", at(0))
	whole, release, err := s.PutBlob(t.Context(), []byte("whole"))
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	absent := blobOf([]byte("absent"))
	k := Key("memory", "", "k")
	sec := k.Section()
	b := store.Batch{
		Path:    store.PathFeed,
		Records: []merge.Record{anna.Write(k, "one", 1), anna.Refer(k, "two", 1, whole, absent), ben.Write(k, "lost", 1), ben.Write(Key("skill", "web", "s"), "x y", 1)},
		Park:    []store.Parked{{Record: NewAuthor("carl", at(0)).Write(k, "waiting", 1), Reason: store.ReasonAuthority}},
		Cursor:  &store.CursorMove{Peer: "peer", Section: sec, Cursor: store.Cursor{Store: store.ID{1}, Incarnation: 2, Seq: 3}},
	}
	if _, err := s.Merge(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := s.SetLocal(t.Context(), "name", []byte("value")); err != nil {
		t.Fatal(err)
	}
	mustMerge(t, s, store.Result{Applied: 2}, ben.Write(Key("memory", "", "gone"), "poison", 1), anna.Write(Key("memory", "", "gone"), "kept", 1))
	poisoned := JudgingAs(1, func(rec *merge.Record) store.Reason {
		switch {
		case string(rec.Body) == "poison":
			return store.ReasonWithdrawn
		case rec.Envelope.LastWriterID == "carl":
			return store.ReasonAuthority
		}
		return 0
	})
	if got, err := s.Reconsider(t.Context(), poisoned); err != nil || got.Retracted != 1 {
		t.Fatalf("a withdrawal gives %+v, %v", got, err)
	}
	mustVerify(t, s)
	return dump(t, s)
}

func reopened(t *testing.T, engine store.Engine) map[string]string {
	t.Helper()
	cfg := Config(200)
	cfg.Indexer = wordIndexer{version: 1}
	s, err := store.Open(engine, cfg)
	if err != nil {
		t.Fatal(err)
	}
	mustVerify(t, s)
	return dump(t, s)
}

// wantLoud opens the damaged store and asks it everything.
func wantLoud(engine store.Engine, clean map[string]string) error {
	cfg := Config(100)
	cfg.Indexer = wordIndexer{version: 1}
	s, err := store.Open(engine, cfg)
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrFormat) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	d := dumper{said: map[string]string{}, store: s}
	err = s.View(d.everything)
	suspect := false
	for _, state := range s.Sections() {
		suspect = suspect || state.Suspect
	}
	for question, answer := range d.said {
		if answer != clean[question] && (!suspect || !strings.Contains(question, "section")) {
			return fmt.Errorf("%s gives %q, want %q", question, answer, clean[question])
		}
	}
	if err != nil && !errors.Is(err, store.ErrCorrupt) {
		return err
	}
	if err == nil && !suspect && len(d.said) != len(clean) {
		return fmt.Errorf("%d answers instead of %d, and no error", len(d.said), len(clean))
	}
	return nil
}

func readRows(t *testing.T, engine store.Engine) map[string]string {
	t.Helper()
	rows := map[string]string{}
	err := engine.View(func(tx store.Txn) error {
		return tx.Scan(nil, nil, false, func(key, value []byte) (bool, error) {
			rows[string(key)] = string(value)
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// writeRows makes rows all that the engine holds.
func writeRows(t *testing.T, engine store.Engine, rows map[string]string) {
	t.Helper()
	err := engine.Update(func(tx store.Txn) error {
		var surplus [][]byte
		err := tx.Scan(nil, nil, false, func(key, _ []byte) (bool, error) {
			if _, known := rows[string(key)]; !known {
				surplus = append(surplus, bytes.Clone(key))
			}
			return true, nil
		})
		for _, key := range surplus {
			err = errors.Join(err, tx.Delete(key))
		}
		for key, value := range rows {
			err = errors.Join(err, tx.Set([]byte(key), []byte(value)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
