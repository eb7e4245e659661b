package simulation

import "time"

// Processes that stand still: their machine sleeps, or they were stopped.
// Messages wait for them, until whoever sent them gives their connections up.

const (
	// backlogMax bounds what waits for a process that is stopped, as the buffers
	// of a system do.
	backlogMax = 2048
	// backlogBurst is how much a process takes before it looks at the time.
	backlogBurst = 64
)

// turn lets something happen to a process: at once, or when it goes on, or never
// when it has ended.
func (r *Replica) turn(p *process, fn func()) {
	switch {
	case r.process != p:
	case !p.stopped:
		fn()
	case len(p.backlog) < backlogMax:
		p.backlog = append(p.backlog, fn)
	}
}

// busy reports whether nobody can work at a replica: it is down, or stopped, or
// may not write.
func (r *Replica) busy() bool { return r.process == nil || r.process.stopped || r.mute() }

// pause stops a process for a while, or lets its whole machine sleep: then its
// steady clock stands still too.
func (c *Cluster) pause(r *Replica, s Step) {
	p := r.process
	if p == nil || p.stopped {
		return
	}
	sleeps := s.Act == ActSuspend
	if sleeps {
		c.cover.fault(FaultSuspend)
	} else {
		c.cover.fault(FaultPause)
	}
	p.stopped = true
	began := c.clock.Now()
	c.clock.After(c.dice.duration(10*time.Second, time.Minute), func() {
		if r.process == p && p.stopped {
			c.network.silent(r.number)
		}
	})
	p.wake = func() {
		if sleeps {
			p.asleep += c.clock.Now().Sub(began)
		}
		r.resume()
	}
	c.clock.After(s.For, func() {
		if r.process == p && p.stopped {
			p.wake()
		}
	})
}

// resume lets a process go on: what waited for it comes at once, and only then
// does it look at the time.
func (r *Replica) resume() {
	p := r.process
	p.stopped = false
	r.note("goes on, %d things waited", len(p.backlog))
	for n := 0; len(p.backlog) > 0 && r.process == p; n++ {
		next := p.backlog[0]
		p.backlog = p.backlog[1:]
		next()
		if r.process == p && n%backlogBurst == backlogBurst-1 {
			p.engine.Tick(r.steady(p))
			r.drain()
		}
	}
}
