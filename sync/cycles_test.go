package sync_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// TestCase8PutAndDelete: a key is written and deleted a thousand times, by one
// writer or by two in turns, beside a node that hears of it at once or only now and
// then. All hold one version then, at most one a writer; what comes late is sent
// once; and no disk holds more for the key than after the first hundred.
func TestCase8PutAndDelete(t *testing.T) {
	for _, writers := range []int{1, 2} {
		for _, every := range []int{1, 50} { // cycles between two meetings
			t.Run(fmt.Sprintf("%d writers that meet every %d cycles", writers, every), func(t *testing.T) {
				t.Parallel()
				m := newMesh(t, every == 1)
				a, b := m.add("a", openly{}), m.add("b", openly{})
				c := cycles{mesh: m, writers: []*node{a, b}[:writers], readers: []*node{a, b}}
				if every == 1 {
					m.connect("a", "b")
				}
				for i := range 1000 {
					c.run(i)
					if every > 1 && i%every == every-1 {
						c.meet()
					}
				}
				c.settled()
				if c.late.rows > c.early.rows || c.late.bytes > c.early.bytes+8*c.early.rows { // numbers get longer
					t.Errorf("a disk holds up to %+v after 900 cycles, and %+v before 100", c.late, c.early)
				}
				fresh := m.add("c", openly{}) // one who joins gets no history
				sent := 0
				m.lose = m.shipped(&sent)
				m.connect("a", "c")
				m.settle(3)
				if held := heldOf(t, fresh, cycled); sent != 1 || held != 1 {
					t.Errorf("who joins is sent %d records, and holds %d", sent, held)
				}
			})
		}
	}
}

var cycled = memoryKeyOf("item")

// cycles are writes and deletes of one key.
type cycles struct {
	*mesh
	writers, readers []*node
	early, late      diskSize // peaks of the first hundred cycles and of the last
}

// run is one cycle of each writer.
func (c *cycles) run(i int) {
	for _, deleted := range []bool{false, true} {
		for _, n := range c.writers {
			c.now = c.now.Add(time.Second)
			c.writeVersion(n, cycled, fmt.Sprint("text ", i), deleted)
			n.engine.Tick(c.now)
			c.drain()
			c.measure(i)
		}
	}
}

func (c *cycles) measure(i int) {
	c.t.Helper()
	for _, n := range c.readers {
		if held := heldOf(c.t, n, cycled); held > len(c.writers) {
			c.t.Fatalf("after %d cycles %s holds %d versions by %d writers", i+1, n.id, held, len(c.writers))
		}
		switch size := sizeOf(c.t, n.disk); {
		case i < 100:
			c.early = c.early.peak(size)
		case i >= 900:
			c.late = c.late.peak(size)
		}
	}
}

// meet connects the two until they are equal: what either has written since is one
// version.
func (c *cycles) meet() {
	c.t.Helper()
	sent := 0
	c.lose = c.shipped(&sent)
	c.connect("a", "b")
	c.settle(3)
	if sent > len(c.writers) {
		c.t.Errorf("%d records are sent of %d writers' key", sent, len(c.writers))
	}
	c.isolate(c.readers[0])
	c.lose = nil
}

// settled ends the cycles with a delete that has seen all.
func (c *cycles) settled() {
	c.t.Helper()
	c.connect("a", "b")
	c.settle(3)
	c.writeVersion(c.writers[0], cycled, "", true)
	c.settle(3)
	c.wantEqual(1)
}

func heldOf(t *testing.T, n *node, key merge.Key) int {
	t.Helper()
	var held []store.Held
	err := n.store.View(func(r *store.Reader) (err error) {
		held, err = r.Held(key)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(held)
}

// diskSize is what a disk holds.
type diskSize struct{ rows, bytes int }

func (s diskSize) peak(other diskSize) diskSize {
	return diskSize{max(s.rows, other.rows), max(s.bytes, other.bytes)}
}

func sizeOf(t *testing.T, disk *store.Memory) (s diskSize) {
	t.Helper()
	err := disk.View(func(tx store.Txn) error {
		return tx.Scan(nil, nil, false, func(key, value []byte) (bool, error) {
			s.rows, s.bytes = s.rows+1, s.bytes+len(key)+len(value)
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
