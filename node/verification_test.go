package node_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// damage changes the row of versions of a memory item in the store of a member
// that has stopped.
func (m *member) damage(id string, change func(tx store.Txn, key, value []byte) error) {
	m.fixture.t.Helper()
	disk, err := store.OpenBadger(filepath.Join(m.dir, "store"), store.BadgerOptions{})
	if err != nil {
		m.fixture.t.Fatal(err)
	}
	err = disk.Update(func(tx store.Txn) error {
		var key, value []byte
		err := tx.Scan([]byte("v"), []byte("w"), false, func(k, v []byte) (bool, error) {
			if bytes.Contains(k, []byte(id)) {
				key, value = slices.Clone(k), slices.Clone(v)
			}
			return key == nil, nil
		})
		return errors.Join(err, change(tx, key, value))
	})
	if err := errors.Join(err, disk.Close()); err != nil {
		m.fixture.t.Fatal(err)
	}
}

// compare returns how one member finds another.
func (m *member) compare(name string) node.Compared {
	m.fixture.t.Helper()
	list, err := m.Compare(m.fixture.t.Context(), []string{name})
	if err != nil || len(list) != 1 {
		m.fixture.t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

// memoryOf returns how the memory of two members compares.
func memoryOf(c node.Compared) fleetsync.CheckedSection {
	for _, s := range c.Sections {
		if s.Section == (merge.Section{Family: "memory"}) {
			return s
		}
	}
	return fleetsync.CheckedSection{}
}

// hasRead reports whether a member has stored that it has all of the feed of
// another.
func (m *member) hasRead(of *member, sec merge.Section) bool {
	m.fixture.t.Helper()
	var at store.Cursor
	err := m.Store().View(func(r *store.Reader) (err error) {
		at, err = r.Cursor(of.ID(), sec)
		return err
	})
	return err == nil && at.Seq >= of.Store().State(sec).Head
}

// TestACompareSeesWhatADiskDid holds that what two nodes say of each other comes
// from the rows on their disks: a damaged one is never taken for equal, and what
// is repaired is counted.
func TestACompareSeesWhatADiskDid(t *testing.T) {
	heartbeat := time.Hour // nothing repairs itself meanwhile
	f := newFixture(t, func(c *node.Config) { c.HeartbeatEvery = heartbeat })
	a := f.found("a")
	b := f.join(a, "b")
	item := a.remember("text")
	f.converge(a, b)
	if got := a.compare("b"); !got.IsEqual() || memoryOf(got).Here != 1 {
		t.Errorf("undamaged: %+v", got)
	}
	// Else the feed of a is read again, and brings what b loses.
	f.eventually("b knows where it stands", []*member{a, b}, func() bool { return b.hasRead(a, merge.Section{Family: "memory"}) })

	b.stop()
	b.damage(item.ID, func(tx store.Txn, key, value []byte) error {
		value[len(value)/2] ^= 1
		return tx.Set(key, value)
	})
	b = f.start(b.dir)
	f.eventually("they meet", []*member{a, b}, func() bool { return a.compare("b").Unfinished == "" })
	if got := memoryOf(a.compare("b")).Outcome; got != fleetsync.OutcomeDamagedThere {
		t.Errorf("a finds a flipped bit of b %q", got)
	}
	if got := memoryOf(b.compare("a")).Outcome; got != fleetsync.OutcomeDamagedHere {
		t.Errorf("b finds its own flipped bit %q", got)
	}
	if v, err := b.Verify(t.Context()); err != nil || len(v.Faults) == 0 {
		t.Errorf("b proves its store: %+v, %v", v, err)
	}

	b.stop()
	b.damage(item.ID, func(tx store.Txn, key, _ []byte) error { return tx.Delete(key) })
	b = f.start(b.dir)
	f.eventually("they meet again", []*member{a, b}, func() bool { return a.compare("b").Unfinished == "" })
	got := memoryOf(a.compare("b"))
	if got.Outcome != fleetsync.OutcomeDiffers || got.First == nil || len(got.First.OnlyHere) != 1 || got.First.OnlyHere[0].Writer != a.ID() {
		t.Errorf("a finds the row that b lost: %+v", got)
	}

	b.stop()
	heartbeat = 100 * time.Millisecond
	b = f.start(b.dir)
	f.converge(a, b)
	status, err := b.Status(t.Context())
	if err != nil || status.Counters.Sync.Repaired != 1 || !b.knows(item.ID) {
		t.Errorf("b has repaired %d, %v", status.Counters.Sync.Repaired, err)
	}
	if got := a.compare("b"); !got.IsEqual() {
		t.Errorf("repaired: %+v", got)
	}
}

func TestCompareRefusesWhoIsNoOtherMember(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	for _, name := range []string{"a", "nobody", a.ID().String()} {
		if _, err := a.Compare(t.Context(), []string{name}); !errors.Is(err, node.ErrNoMember) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, err := a.Compare(t.Context(), nil); err != nil || len(list) != 0 {
		t.Errorf("a fleet of one: %+v, %v", list, err)
	}
	a.stop()
	if _, err := a.Compare(t.Context(), nil); !errors.Is(err, node.ErrNotRunning) {
		t.Errorf("of a node that ended: %v", err)
	}
}
