package simulation

import (
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// checkLoad holds an engine to the bounds of its queues and maps.
func (r *Replica) checkLoad(e *fleetsync.Engine) {
	for _, g := range e.Load() {
		if g.N > g.Max {
			r.cluster.fail(InvariantBounds, "replica %d holds %d %s, at most %d", r.number, g.N, g.Name, g.Max)
		}
	}
}

// checkParked holds the store of a replica to the bound of what it keeps parked.
func (c *Cluster) checkParked(r *Replica) error {
	if c.plan.ParkedMax == 0 {
		return nil // far above what a run writes
	}
	parked := 0
	err := r.read(func(s *store.Reader) error {
		return s.Parked(func(store.Parked) (more bool) {
			parked++
			return true
		})
	})
	if parked > c.plan.ParkedMax {
		c.fail(InvariantBounds, "replica %d keeps %d versions parked, at most %d", r.number, parked, c.plan.ParkedMax)
	}
	return err
}
