package simulation

import "time"

// losePower lets the power go in one of the next updates of a replica.
func (c *Cluster) losePower(r *Replica, s Step, f fate) {
	if r.process == nil || r.disk.power != nil {
		return
	}
	r.disk.power = &powerLoss{in: max(s.Count, 1), fate: f, then: func() { r.goDark(s.For) }}
}

// goDark ends the process without any farewell, and starts the machine again.
func (r *Replica) goDark(down time.Duration) {
	r.kill(r.cluster.dice.duration(0, 30*time.Second))
	r.cluster.clock.After(down, r.launch)
}

// lie makes a disk acknowledge what it has not written. In a while the power
// goes, and takes some of that with it.
func (c *Cluster) lie(r *Replica, s Step) {
	if r.process == nil {
		return
	}
	r.disk.lie()
	c.clock.After(s.For, func() { c.revealLies(r, s.Count) })
}

func (c *Cluster) revealLies(r *Replica, count int) {
	if r.process == nil || r.disk.cache == nil || r.damaged {
		return
	}
	r.goDark(time.Second)
	lost, err := r.disk.cutPower(count)
	if lost > 0 && err == nil {
		c.cover.fault(FaultLyingDisk)
		r.note("loses %d acknowledged updates", lost)
		err = c.model.forgets(r)
	}
	c.mustRead(err)
}

// fill leaves no room on a disk for a while. What is there can be read all the
// same.
func (c *Cluster) fill(r *Replica, s Step) {
	if r.process == nil {
		return
	}
	r.disk.flaws.full = true
	c.clock.After(s.For/2, func() {
		if r.process == nil || r.disk.flaws.unreadable > 0 || r.damaged {
			return
		}
		if _, err := r.reading(scopes()); err != nil {
			c.fail(InvariantProgress, "replica %d cannot be read while its disk is full: %v", r.number, err)
		}
	})
	ended := c.watch.begin(Event{Fault: FaultDiskFull, Replica: r.number, Peer: Nobody})
	c.clock.After(s.For, func() {
		r.disk.flaws.full = false
		ended()
	})
}
