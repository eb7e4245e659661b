package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/store"
)

// notice is what first tells that a row is gone.
type notice string

const (
	byOpen    notice = "Open"                    // it fails
	bySuspect notice = "SectionState.Suspect"    // the section is marked
	byRead    notice = "whoever reads the key"   // and gets ErrCorrupt
	byVerify  notice = "Verify"                  // nothing else
	byNobody  notice = "nobody"                  // the store has no second evidence
	byChance  notice = "Verify, of a head alone" // of others nobody
)

// notices says of each kind of row what first tells that one is gone. What
// nobody notices is lost, or is made again: doc.go of package store says which.
func notices() map[string]notice {
	return map[string]notice{
		"m/format": byOpen, "m/store": byOpen, "m/tail": byOpen, "m/section/": byOpen,
		"v/": bySuspect, "r/": byRead,
		"s/": byVerify, "h/": byVerify, "i/\x01": byVerify, "i/\x03": byVerify, "e/": byChance,
		"b/c": byRead, "b/s": byRead, "b/r": byVerify, "b/w": byRead,
		"c/": byNobody, "q/": byNobody, "i/\x02": byNobody,
		"m/incarnation/": byNobody, "m/index": byNobody, "m/judged": byNobody, "m/local/": byNobody,
	}
}

// testLostRows removes each row of a store that has rows of every kind. No
// answer is ever a wrong one; and what is missing is noticed as notices says,
// no sooner and no later.
func testLostRows(t *testing.T, open Opener) {
	t.Helper()
	engine, clean, rows := openEveryKind(t, open)
	seen := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		kind, want := noticeOf(key)
		seen[kind] = true
		damage := maps.Clone(rows)
		delete(damage, key)
		writeRows(t, engine, damage)
		got, err := firstNotice(t, engine, clean)
		if want == byChance && (got == byVerify || got == byNobody) {
			got = byChance
		}
		if got != want || err != nil {
			t.Errorf("without row %q of kind %q: noticed by %s, want %s (%v)", key, kind, got, want, err)
		}
	}
	for kind := range notices() {
		if !seen[kind] {
			t.Errorf("the store has no row of kind %q to remove", kind)
		}
	}
}

func noticeOf(key string) (kind string, w notice) {
	for kind, w := range notices() {
		if strings.HasPrefix(key, kind) {
			return kind, w
		}
	}
	return "", ""
}

// firstNotice opens a store that lacks a row, asks it everything, and verifies
// it. The error is an answer that is not what it was.
func firstNotice(t *testing.T, engine store.Engine, clean map[string]string) (notice, error) {
	t.Helper()
	cfg := Config(100)
	cfg.Indexer = wordIndexer{version: 1}
	s, err := store.Open(engine, cfg)
	if err != nil {
		if !errors.Is(err, store.ErrCorrupt) {
			return byOpen, err
		}
		return byOpen, nil
	}
	first := byNobody
	if err := s.Verify(t.Context()); errors.Is(err, store.ErrCorrupt) {
		first = byVerify
	}
	d := dumper{said: map[string]string{}, store: s}
	if err := s.View(d.everything); errors.Is(err, store.ErrCorrupt) {
		first = byRead
	}
	for _, state := range s.Sections() {
		if state.Suspect {
			first = bySuspect
		}
	}
	for question, answer := range d.said {
		if answer != clean[question] && (first != bySuspect || !strings.Contains(question, "section")) {
			return first, fmt.Errorf("%s gives %q, want %q", question, answer, clean[question])
		}
	}
	return first, nil
}

// testLostRowsInUse removes each row under an open store, lets an update end in
// doubt, so that the memory of the store is read back, and does what is done
// every day. It works, or says that the store is damaged.
func testLostRowsInUse(t *testing.T, open Opener) {
	t.Helper()
	engine, _, rows := openEveryKind(t, open)
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		writeRows(t, engine, rows)
		armed := false
		faulty := &Faulty{Engine: engine, Plan: func(int) Fault {
			if armed {
				return FaultAfter
			}
			return FaultNone
		}}
		cfg := Config(100)
		cfg.Indexer = wordIndexer{version: 1}
		s, err := store.Open(faulty, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.Update(func(tx store.Txn) error { return tx.Delete([]byte(key)) }); err != nil {
			t.Fatal(err)
		}
		armed = true
		if err := s.SetLocal(t.Context(), "name", []byte("doubtful")); !errors.Is(err, ErrInjected) {
			t.Errorf("without row %q, an update in doubt: %v", key, err)
		}
		armed = false
		for _, a := range faultyActions(t, s, NewAuthor("anna", at(3_600_000)), Key("memory", "", "k")) {
			if err := a.do(); err != nil && !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("without row %q, %s: %v, want none or ErrCorrupt", key, a.name, err)
			}
		}
	}
}
