package sync_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// joining is a node with many versions and one that has none of them.
func joining(t *testing.T, d difference) (m *mesh, a, b *node, total int64) {
	t.Helper()
	m = newMesh(t, false)
	m.pageBytes = d.pageBytes
	a, b = m.add("a", openly{}), m.add("b", openly{})
	return m, a, b, d.fill(t, a, b)
}

// TestTwoGapsAtATime: whoever has answers of full size is asked for the next
// page while one travels, and never for more than that.
func TestTwoGapsAtATime(t *testing.T) {
	m, _, _, total := joining(t, difference{onlyA: 4000, pageBytes: 4096})
	awaited, most := map[uint64]bool{}, 0
	m.lose = func(d delivery) bool {
		switch msg := d.message.(type) {
		case *fleetsync.PageReq:
			awaited[msg.ID] = true
			most = max(most, len(awaited))
		case *fleetsync.Page:
			delete(awaited, msg.ID)
		}
		return false
	}
	m.connect("a", "b")
	m.settle(2)
	m.wantEqual(total)
	if most != 2 {
		t.Errorf("up to %d pages were asked for at a time, want 2", most)
	}
}

// TestALostPageIsMissed: one of two pages that are asked for does not come; the
// exchange ends after the timeout though the other gap goes on.
func TestALostPageIsMissed(t *testing.T) {
	m, _, _, total := joining(t, difference{onlyA: 4000, pageBytes: 4096})
	pages := 0
	m.lose = func(d delivery) bool {
		if _, ok := d.message.(*fleetsync.Page); ok {
			pages++
			return pages == 20
		}
		return false
	}
	m.connect("a", "b")
	m.settle(4)
	m.wantEqual(total)
}

// TestWhoFetchesIsNotPulled: a member that fetches a section from here is not
// asked for what it was just given.
func TestWhoFetchesIsNotPulled(t *testing.T) {
	m, a, b, total := joining(t, difference{onlyA: 4000, pageBytes: 4096})
	pages := 0
	m.lose = func(d delivery) bool {
		switch d.message.(type) {
		case *fleetsync.Page:
			if pages++; pages%10 == 0 {
				a.engine.Probe()
			}
		case *fleetsync.Changes, *fleetsync.Recon:
			if d.to == b.id {
				t.Errorf("after %d pages the member that fetches them is sent a %T", pages, d.message)
			}
		}
		return false
	}
	m.connect("a", "b")
	m.settle(2)
	m.wantEqual(total)
	if pages < 20 {
		t.Errorf("the section came in %d pages", pages)
	}
}

// TestAPageThatIsDroppedIsAskedForAgain: a peer is busy while a page waits
// behind records that are still to be fetched. The page is dropped, and no
// cursor passes what it held.
func TestAPageThatIsDroppedIsAskedForAgain(t *testing.T) {
	m, a, b, total := joining(t, difference{onlyA: 1500, common: 500, newerA: 20, clustered: true, pageBytes: 4096})
	var got *fleetsync.Get
	refused := false
	m.lose = func(d delivery) bool {
		switch msg := d.message.(type) {
		case *fleetsync.Get:
			if got == nil {
				got = msg
				return true
			}
		case *fleetsync.Page:
			if got != nil && !refused {
				refused = true
				m.queue = append(m.queue, delivery{from: a.id, to: b.id, message: &fleetsync.Busy{ID: got.ID, Retry: 1}})
			}
		}
		return false
	}
	m.connect("a", "b")
	section := merge.Section{Family: "memory"}
	for range 400 {
		m.drain()
		err := b.store.View(func(r *store.Reader) error {
			if at, err := r.Cursor(a.id, section); err == nil && at.Seq > 0 && b.store.State(section).Count < total {
				return fmt.Errorf("the cursor is at %d, and %d of %d versions are here", at.Seq, b.store.State(section).Count, total)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		m.now = m.now.Add(250 * time.Millisecond)
		a.engine.Tick(m.now)
		b.engine.Tick(m.now)
	}
	m.wantEqual(total)
	if !refused {
		t.Error("no page came before the records of a GET")
	}
}
