package simulation

import (
	"context"
	"errors"
	"time"

	"github.com/fleetsync/fleetd/state"
)

// Work is what an agent does at its replica, in the cluster's goroutine and in
// no virtual time at all. It must not keep the agent, and must do the same for
// the same seed: what it draws, it draws from the seed.
type Work func(ctx context.Context, agent state.Replica) error

// After schedules do to happen once d has passed, 0 and less meaning at once.
// While everybody sleeps (ActJump) no time passes for it.
func (c *Cluster) After(d time.Duration, do func()) { c.clock.After(d, do) }

// Every schedules do again and again, the first time once d has passed, until
// the cluster heals. d must be above 0.
func (c *Cluster) Every(d time.Duration, do func()) {
	if d <= 0 {
		panic("simulation: Every needs a duration above 0")
	}
	c.After(d, func() {
		if c.healed {
			return
		}
		do()
		c.Every(d, do)
	})
}

// Agent lets the agent of a replica work once d has passed. When its process
// does not run then, or may not write, as after a disk came back from a backup,
// there is no agent and nothing happens; nor does it once the cluster has
// healed, since a fleet can become one only when nobody writes any more. What
// the work returns is noted in the trace. Of the errors, agents must live with
// those of a failing disk, of a clock that is too far off, of a record that is
// not there and of one that changed in between: the run goes on. Every other
// fails the run, as InvariantOwn, so work may hold invariants of its own.
func (c *Cluster) Agent(replica int, d time.Duration, work Work) {
	c.After(d, func() {
		r := c.replicas[replica]
		if r.busy() || c.healed {
			return
		}
		err := work(context.Background(), r.State())
		if err == nil {
			return
		}
		if !tolerable(err) && !r.tells(err) && !errors.Is(err, state.ErrConflict) {
			c.Fail("the agent of replica %d: %w", replica, err)
		}
		r.note("did not finish: %v", err)
	})
}
