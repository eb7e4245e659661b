package simulation

import (
	"time"

	"github.com/fleetsync/fleetd/hlc"
)

// A machine has two clocks, as Go sees them: one tells the time of day, which
// stamps, ids and admission go by, and can be set, stand still or be wrong by
// decades; the other tells how much time has passed within a process, which
// engines go by, and never goes back.

// honestSkewMax is by how much the clock of a replica may be ahead that counts
// as honest.
const honestSkewMax = 10 * time.Second

// Now returns what the replica's own clock shows.
func (r *Replica) Now() time.Time {
	if !r.frozen.IsZero() {
		return r.frozen
	}
	return r.cluster.clock.Now().Add(r.skew)
}

// steady returns the time within a process, from what the clock showed at its
// start on. It stands still while the machine sleeps.
func (r *Replica) steady(p *process) time.Time {
	return p.began.Add(r.cluster.clock.Now().Sub(p.since) - p.asleep)
}

// shift sets the error of a replica's clock, and restarts the machine if it is
// put back.
func (c *Cluster) shift(r *Replica, skew time.Duration) {
	c.cover.fault(FaultSkew)
	back := skew < r.skew
	r.set(skew)
	if back && r.process != nil {
		r.kill(0)
		r.launch()
	}
}

// step sets the error of a replica's clock while its process goes on.
func (c *Cluster) step(r *Replica, skew time.Duration) {
	if r.process == nil {
		return
	}
	switch {
	case skew > r.skew:
		c.cover.fault(FaultStepForward)
	case skew < r.skew:
		c.cover.fault(FaultStepBack)
	}
	r.set(skew)
}

func (r *Replica) set(skew time.Duration) {
	if skew > hlc.DriftMax {
		r.cluster.cover.fault(FaultDrift)
	}
	r.skew = skew
	r.strayed = r.strayed || skew > honestSkewMax
}

// freeze lets a replica's clock stand still for a while.
func (c *Cluster) freeze(r *Replica, s Step) {
	if r.process == nil || !r.frozen.IsZero() {
		return
	}
	r.frozen = r.Now()
	c.clock.After(s.For, r.thaw)
}

func (r *Replica) thaw() { r.frozen, r.stuck = time.Time{}, 0 }

// stamps counts the writes of a clock that stands still: many must have one
// wall time, and differ all the same.
func (r *Replica) stamps() {
	if r.frozen.IsZero() {
		return
	}
	if r.stuck++; r.stuck == 1 {
		r.cluster.cover.fault(FaultFrozen)
	}
}

// jump lets time pass while everybody sleeps.
func (c *Cluster) jump(d time.Duration) {
	c.clock.Jump(d)
	c.watch.emit(Event{Kind: EventJump, Replica: Nobody, Peer: Nobody, Since: c.clock.Elapsed() - d})
}

// pass lets time pass. Everybody sleeps through most of it when it is long.
func (c *Cluster) pass(d time.Duration) {
	const awake = 10 * time.Minute
	if d > awake {
		c.jump(d - awake/10)
		d = awake / 10
	}
	c.RunFor(d)
}

// forgetTime restarts a machine whose clock has lost its battery: it begins
// in 1970, and is set while the process runs.
func (c *Cluster) forgetTime(r *Replica, s Step) {
	if r.process == nil {
		return
	}
	c.cover.fault(FaultEpoch)
	r.kill(c.dice.duration(0, 10*time.Second))
	r.thaw()
	r.skew = time.Unix(0, 0).Sub(c.clock.Now())
	r.launch()
	c.clock.After(s.For, func() { r.skew = 0 })
}

// mendClock sets a clock right. Some machines are restarted for that, in others
// the process goes on.
func (r *Replica) mendClock() {
	wrong := r.skew != 0
	r.skew = 0
	r.thaw()
	if wrong && r.number%2 == 0 {
		r.kill(0)
	}
}

// keepsTime holds that an honest clock stays within DriftMax of true time,
// whatever stamps come its way.
func (m *model) keepsTime(r *Replica) {
	if r.process == nil || r.strayed {
		return
	}
	limit := m.cluster.clock.Now().Add(hlc.DriftMax + honestSkewMax)
	if last := r.process.store.Clock().Last(); last.Wall > limit.UnixMilli() {
		m.cluster.fail(InvariantClockDefence, "replica %d, whose clock was never far ahead, has come to %s, beyond %d", r.number, last, limit.UnixMilli())
	}
}
