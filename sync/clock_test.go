package sync_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
)

// TestCase17EveryPathObservesTheStamp holds public case 17: whichever way a
// version came, what is written afterwards is stamped after it, although the
// writer's clock is four minutes ahead.
func TestCase17EveryPathObservesTheStamp(t *testing.T) {
	for name, c := range map[string]struct {
		gossip bool
		writes int
		joined bool // b was connected before a wrote
	}{
		"by gossip": {gossip: true, writes: 1, joined: true},
		"by feed":   {writes: 1, joined: true},
		"by pages":  {writes: 500},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMesh(t, c.gossip)
			a, b := m.add("a", openly{}), m.add("b", openly{})
			m.skew["a"] = hlc.DriftMax - time.Minute
			if c.joined {
				m.connect("a", "b")
				m.settle(1)
			}
			for i := range c.writes {
				m.write(a, fmt.Sprintf("item-%d", i), "text")
			}
			if !c.joined {
				m.connect("a", "b")
			}
			m.settle(2)
			m.wantEqual(int64(c.writes))
			next, err := b.store.Clock().Now()
			if err != nil {
				t.Fatal(err)
			}
			if last := a.store.Clock().Last(); !next.After(last) {
				t.Errorf("b stamps %s after it applied %s", next, last)
			}
		})
	}
}
