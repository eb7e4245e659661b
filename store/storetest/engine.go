package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/store"
)

var errRefused = errors.New("storetest: refused")

// testEngine holds the engine alone to the words of store.Engine.
func testEngine(t *testing.T, open Opener) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, Opener)
	}{
		{"a scan goes both ways between its bounds", testScan},
		{"a transaction sees its own writes in their places", testOwnWrites},
		{"a failed update leaves nothing", testFailedUpdate},
		{"a snapshot does not change", testSnapshot},
		{"a snapshot refuses writes", testReadOnly},
		{"a large transaction is whole after reopening", testLargeUpdate},
		{"a closed engine says so", testClosedEngine},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
}

func openEngine(t *testing.T, open Opener) store.Engine {
	t.Helper()
	e := open(t, t.TempDir())
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

func set(t *testing.T, e store.Engine, keys ...string) {
	t.Helper()
	err := e.Update(func(tx store.Txn) error {
		for _, k := range keys {
			if err := tx.Set([]byte(k), []byte("value of "+k)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("set: %v", err)
	}
}

func scanned(t *testing.T, tx store.Txn, from, to string, reverse bool, limit int) []string {
	t.Helper()
	var keys []string
	upper := []byte(to)
	if to == "" {
		upper = nil
	}
	err := tx.Scan([]byte(from), upper, reverse, func(key, value []byte) (bool, error) {
		if want := "value of " + string(key); string(value) != want {
			t.Errorf("scan gives %q for %q", value, key)
		}
		keys = append(keys, string(key))
		return len(keys) < limit, nil
	})
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	return keys
}

func testScan(t *testing.T, open Opener) {
	t.Helper()
	e := openEngine(t, open)
	set(t, e, "a", "b", "b\x00", "ba", "c", "\xff", "\xff\xff")
	for _, c := range []struct {
		from, to string
		reverse  bool
		limit    int
		want     []string
	}{
		{from: "", to: "", limit: 99, want: []string{"a", "b", "b\x00", "ba", "c", "\xff", "\xff\xff"}},
		{from: "b", to: "c", limit: 99, want: []string{"b", "b\x00", "ba"}},
		{from: "b", to: "c", reverse: true, limit: 99, want: []string{"ba", "b\x00", "b"}},
		{from: "", to: "", reverse: true, limit: 2, want: []string{"\xff\xff", "\xff"}},
		{from: "bb", to: "", limit: 1, want: []string{"c"}},
		{from: "b", to: "b", limit: 99},
		{from: "b", to: "b\x00", reverse: true, limit: 99, want: []string{"b"}},
		{from: "d", to: "e", limit: 99},
		{from: "d", to: "e", reverse: true, limit: 99},
		{from: "\xff", to: "", reverse: true, limit: 99, want: []string{"\xff\xff", "\xff"}},
	} {
		err := e.View(func(tx store.Txn) error {
			got := scanned(t, tx, c.from, c.to, c.reverse, c.limit)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("scan %q to %q, reverse %v (-want +got):\n%s", c.from, c.to, c.reverse, diff)
			}
			return tx.Scan(nil, nil, false, func(_, _ []byte) (bool, error) { return true, errRefused })
		})
		if !errors.Is(err, errRefused) {
			t.Errorf("the scan returns %v, want the error of its function", err)
		}
	}
}

func testOwnWrites(t *testing.T, open Opener) {
	t.Helper()
	e := openEngine(t, open)
	set(t, e, "a", "c", "e")
	err := e.Update(func(tx store.Txn) error {
		for _, k := range []string{"b", "f"} {
			if err := tx.Set([]byte(k), []byte("value of "+k)); err != nil {
				return err
			}
		}
		if err := tx.Delete([]byte("c")); err != nil {
			return err
		}
		if err := tx.Delete([]byte("not there")); err != nil {
			return err
		}
		if diff := cmp.Diff([]string{"a", "b", "e", "f"}, scanned(t, tx, "", "", false, 99)); diff != "" {
			t.Errorf("ascending (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"f", "e", "b", "a"}, scanned(t, tx, "", "", true, 99)); diff != "" {
			t.Errorf("descending (-want +got):\n%s", diff)
		}
		if _, err := tx.Get([]byte("c")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a deleted key gives %v, want ErrNotFound", err)
		}
		value, err := tx.Get([]byte("b"))
		if string(value) != "value of b" {
			t.Errorf("own write reads %q", value)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testFailedUpdate(t *testing.T, open Opener) {
	t.Helper()
	e := openEngine(t, open)
	set(t, e, "a", "b")
	err := e.Update(func(tx store.Txn) error {
		return errors.Join(tx.Set([]byte("c"), []byte("x")), tx.Delete([]byte("a")), errRefused)
	})
	if !errors.Is(err, errRefused) {
		t.Errorf("update returns %v, want the error of its function", err)
	}
	err = e.View(func(tx store.Txn) error {
		if diff := cmp.Diff([]string{"a", "b"}, scanned(t, tx, "", "", false, 99)); diff != "" {
			t.Errorf("after the failure (-want +got):\n%s", diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testSnapshot(t *testing.T, open Opener) {
	t.Helper()
	e := openEngine(t, open)
	set(t, e, "a", "b")
	err := e.View(func(tx store.Txn) error {
		set(t, e, "aa", "c")
		if err := e.Update(func(tx store.Txn) error { return tx.Delete([]byte("b")) }); err != nil {
			return err
		}
		if diff := cmp.Diff([]string{"a", "b"}, scanned(t, tx, "", "", false, 99)); diff != "" {
			t.Errorf("old snapshot (-want +got):\n%s", diff)
		}
		_, err := tx.Get([]byte("b"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = e.View(func(tx store.Txn) error {
		if diff := cmp.Diff([]string{"a", "aa", "c"}, scanned(t, tx, "", "", false, 99)); diff != "" {
			t.Errorf("new snapshot (-want +got):\n%s", diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testReadOnly(t *testing.T, open Opener) {
	t.Helper()
	e := openEngine(t, open)
	err := e.View(func(tx store.Txn) error {
		if err := tx.Set([]byte("a"), []byte("x")); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("set returns %v, want ErrReadOnly", err)
		}
		if err := tx.Delete([]byte("a")); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("delete returns %v, want ErrReadOnly", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// testLargeUpdate writes what the store's largest transactions have: 2 MiB in
// thousands of keys, empty values among them.
func testLargeUpdate(t *testing.T, open Opener) {
	t.Helper()
	dir := t.TempDir()
	e := open(t, dir)
	key := func(i int) []byte { return fmt.Appendf(nil, "key %05d", i) }
	value := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, i%1021) }
	const n = 4_000
	err := e.Update(func(tx store.Txn) error {
		for i := range n {
			if err := tx.Set(key(i), value(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, dir)
	err = e.View(func(tx store.Txn) error {
		for i := range n {
			got, err := tx.Get(key(i))
			if err != nil || !bytes.Equal(got, value(i)) {
				return fmt.Errorf("key %d reads %d bytes, %w", i, len(got), err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func testClosedEngine(t *testing.T, open Opener) {
	t.Helper()
	e := open(t, t.TempDir())
	for range 2 {
		if err := e.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
	if err := e.View(func(store.Txn) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("view returns %v, want ErrClosed", err)
	}
	if err := e.Update(func(store.Txn) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("update returns %v, want ErrClosed", err)
	}
}
