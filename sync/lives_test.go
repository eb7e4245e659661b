package sync_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// TestALateHeartbeatMovesNoCursor holds I2 across lives of a peer (seed
// 435193959189 of an earlier plan): a heartbeat of the peer's former life that
// comes after the greeting of the new one, and happens to equal the own state,
// must not become a place in the new life's feed.
func TestALateHeartbeatMovesNoCursor(t *testing.T) {
	m := newMesh(t, false)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	for _, id := range []string{"one", "two", "three"} {
		m.write(a, id, "text")
	}
	m.connect("a", "b")
	m.settle(2)
	m.isolate(a)
	backup := store.NewMemory() // a comes back with nothing, under the same id
	late := heartbeatOf(t, a)
	a.disk = backup
	m.reopen(a)
	m.lose = func(d delivery) bool { return d.to == "a" } // it greets, and gets nothing
	m.connect("a", "b")
	m.drain()
	b.engine.Receive("a", late)
	m.drain()
	section := merge.Section{Family: "memory"}
	err := b.store.View(func(r *store.Reader) error {
		at, err := r.Cursor("a", section)
		if err == nil && at.Incarnation == a.store.Incarnation() && at.Seq > a.store.State(section).Head {
			t.Errorf("b stands at %d of a feed that ends at %d", at.Seq, a.store.State(section).Head)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// heartbeatOf returns a heartbeat that a node sends.
func heartbeatOf(t *testing.T, n *node) *fleetsync.Heartbeat {
	t.Helper()
	n.engine.Connected("c")
	n.engine.Receive("c", &fleetsync.Hello{
		Fleet: make([]byte, 32), Store: make([]byte, 16), Incarnation: 1, Heads: fleetsync.Heads{Salt: salt},
	})
	n.engine.Drain()
	n.engine.Probe()
	for _, s := range n.engine.Drain().Send {
		if beat, ok := s.Message.(*fleetsync.Heartbeat); ok {
			return beat
		}
	}
	t.Fatal("no heartbeat was sent")
	return nil
}

// TestAPageOfAnotherLifeMovesNoCursor: of a machine that was copied and ran
// twice, one opening of the store had greeted and the other one answered. Its
// position passed for one in the feed of the former, whose entries up to there
// were never asked for.
func TestAPageOfAnotherLifeMovesNoCursor(t *testing.T) {
	for _, opened := range []uint64{1, 2} { // 1 has greeted
		engine, _ := newPuller(t, store.NewMemory())
		var asked *fleetsync.Changes
		for _, s := range engine.Drain().Send {
			if changes, ok := s.Message.(*fleetsync.Changes); ok {
				asked = changes
			}
		}
		if asked == nil {
			t.Fatal("nothing was asked for")
		}
		engine.Tick(time.UnixMilli(1_790_000_000_000).Add(fleetsync.RequestTimeoutDefault / 2))
		engine.Receive("b", &fleetsync.ChangesPage{ID: asked.ID, Next: 2, Done: true, Incarnation: opened})
		moved, greeted := false, false
		out := engine.Drain()
		for _, b := range out.Apply {
			moved = moved || b.Batch.Cursor != nil
		}
		for _, s := range out.Send {
			_, hello := s.Message.(*fleetsync.Hello)
			greeted = greeted || hello
		}
		if same := opened == 1; moved != same || greeted == same {
			t.Errorf("a page of opening %d: the cursor moves %t, greeted again %t", opened, moved, greeted)
		}
	}
}
