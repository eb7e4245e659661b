package store_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/fleetsync/fleetd/store"
	"github.com/fleetsync/fleetd/store/storetest"
)

func TestLockedDirectory(t *testing.T) {
	dir := t.TempDir()
	e := openBadger(t, dir)
	if _, err := store.OpenBadger(dir, store.BadgerOptions{}); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a second opening gives %v, want ErrLocked", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openBadger(t, dir)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFullDisk asks for more free space than any disk has: writes stop with a
// clear error, reads go on.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(openBadger(t, dir), storetest.Config(1))
	if err != nil {
		t.Fatal(err)
	}
	k := storetest.Key("memory", "", "k")
	if _, err := storetest.Put(t.Context(), s, "self", k, "text"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	full, err := store.OpenBadger(dir, store.BadgerOptions{FreeBytesMin: math.MaxUint64})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := full.Close(); err != nil {
			t.Error(err)
		}
	})
	err = full.Update(func(store.Txn) error { return nil })
	if !errors.Is(err, store.ErrFull) {
		t.Errorf("a write gives %v, want ErrFull", err)
	}
	rows := 0
	err = full.View(func(tx store.Txn) error {
		return tx.Scan(nil, nil, false, func(_, _ []byte) (bool, error) {
			rows++
			return true, nil
		})
	})
	if err != nil || rows < 5 {
		t.Errorf("reading finds %d rows, %v", rows, err)
	}
}

// TestEmptyFilesOfAKilledProcess leaves the empty files that a kill can leave:
// badger's own first opening fails on them.
func TestEmptyFilesOfAKilledProcess(t *testing.T) {
	for _, name := range []string{"00077.mem", "000077.vlog"} {
		dir := t.TempDir()
		s, err := store.Open(openBadger(t, dir), storetest.Config(1))
		if err != nil {
			t.Fatal(err)
		}
		k := storetest.Key("memory", "", "k")
		if _, err := storetest.Put(t.Context(), s, "self", k, "text"); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err = store.Open(openBadger(t, dir), storetest.Config(2))
		if err != nil {
			t.Fatal(err)
		}
		if state := s.State(k.Section()); state.Count != 1 {
			t.Errorf("with an empty %s: %+v, want one version", name, state)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
