package simulation

import (
	"slices"
	"time"
)

// idleMax is how long a connection lasts on which nothing arrives.
const idleMax = 30 * time.Second

// doToNetwork carries out the steps that make lines worse.
func (c *Cluster) doToNetwork(s Step) (done bool) {
	switch s.Act {
	case ActPartition:
		c.partition(s)
	case ActAsymmetric:
		c.asymmetric(s)
	case ActCutLine:
		c.cutLine(s)
	case ActDisconnect:
		c.sever(s)
	case ActCorrupt, ActLossy, ActThrottle, ActHoard:
		c.worsen(s)
	case ActClog:
		c.clog(s)
	case ActFlap:
		c.flap(s)
	default:
		return false
	}
	return true
}

// within reports whether a replica belongs to the group of a step: Group has
// places for 64 replicas, and larger groups are the first Count.
func (s *Step) within(number int) bool {
	if s.Group == 0 {
		return number < s.Count
	}
	return s.Group>>number&1 != 0
}

// partition keeps a group and the others apart for a while.
func (c *Cluster) partition(s Step) {
	var between []*link
	for _, p := range c.network.pairs {
		if s.within(p.a) != s.within(p.b) {
			between = append(between, &p.links[0], &p.links[1])
		}
	}
	c.interrupt(between, s.For, 30*time.Second, Event{Fault: FaultPartition, Replica: Nobody, Peer: Nobody, Group: s.Group, Count: s.Count})
}

// interrupt makes links dead for a while, which is one fault. Connections that
// they carried end after up to late.
func (c *Cluster) interrupt(links []*link, span, late time.Duration, fault Event) {
	c.cover.fault(fault.Fault)
	ended := c.watch.begin(fault)
	mended := c.network.cut(links)
	c.clock.After(c.dice.duration(0, late), func() { c.network.notice() })
	c.clock.After(span, func() {
		mended()
		ended()
	})
}

// asymmetric makes one direction dead for a while.
func (c *Cluster) asymmetric(s Step) {
	p := c.network.pair(s.Replica, s.Peer)
	if p == nil {
		return
	}
	c.interrupt([]*link{p.from(s.Replica)}, s.For, time.Minute, Event{Fault: FaultAsymmetric, Replica: s.Replica, Peer: s.Peer})
}

// sever ends a connection and bars the next one for a while.
func (c *Cluster) sever(s Step) {
	p := c.network.pair(s.Replica, s.Peer)
	if p == nil || !p.up {
		return
	}
	c.cover.fault(FaultDisconnect)
	c.network.disconnect(p, 2*time.Second)
	p.barred = true
	c.clock.After(s.For, func() { p.barred = false })
}

// worsen lets one direction be bad for a while.
func (c *Cluster) worsen(s Step) {
	p := c.network.pair(s.Replica, s.Peer)
	if p == nil {
		return
	}
	l, until := p.from(s.Replica), c.clock.Now().Add(s.For)
	if s.Act == ActHoard {
		l.hoard = hoard{s.Count, s.For}
		return
	}
	fault := FaultThrottle
	switch s.Act {
	case ActCorrupt:
		fault, l.corrupt = FaultCorrupt, spell{float64(s.Count) / 100, until}
	case ActLossy:
		fault, l.lossy = FaultLossy, spell{float64(s.Count) / 100, until}
	default:
		l.throttle = spell{float64(s.Count), until}
		c.network.changed(l)
	}
	ended := c.watch.begin(Event{Fault: fault, Replica: s.Replica, Peer: s.Peer})
	c.clock.After(s.For, func() {
		c.network.changed(l)
		ended()
	})
}

// clog jams lines of a replica, a random order of them, each in a random
// direction, and frees them in another order. What waits there is not lost,
// unless its connection is idle for so long that it ends.
func (c *Cluster) clog(s Step) {
	n := c.network
	ended := c.watch.begin(Event{Fault: FaultClog, Replica: s.Replica, Peer: Nobody, Group: s.Group})
	c.clock.After(s.For, ended)
	var jam []*link
	for _, p := range n.of[s.Replica] {
		if other := p.other(s.Replica); s.Group == 0 || s.Group>>other&1 != 0 {
			l := pick(n.storm, p.from(s.Replica), p.from(other))
			jam = append(jam, l)
			c.clock.After(s.For/2+idleMax, func() {
				if l.clogged {
					n.disconnect(p, 5*time.Second)
				}
			})
		}
	}
	for i, order := range [][]*link{shuffled(n.storm, jam), shuffled(n.storm, jam)} {
		for k, l := range order {
			at := s.For/2*time.Duration(i) + s.For/2*time.Duration(k)/time.Duration(len(jam))
			era := n.era
			c.clock.After(at, func() {
				if n.era == era {
					l.clogged = i == 0
					n.changed(l)
				}
			})
		}
	}
}

// shuffled returns the same things in a random order.
func shuffled[T any](d dice, all []T) []T {
	all = slices.Clone(all)
	d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// flap lets the line of a pair go down and up. Short outages lose messages,
// longer ones may end the connection.
func (c *Cluster) flap(s Step) {
	n := c.network
	p := n.pair(s.Replica, s.Peer)
	if p == nil {
		return
	}
	until, era := c.clock.Now().Add(s.For), n.era
	c.clock.After(s.For, c.watch.begin(Event{Fault: FaultFlap, Replica: s.Replica, Peer: s.Peer}))
	var turn func()
	turn = func() {
		if n.era != era {
			return
		}
		down := !p.links[0].down && c.clock.Now().Before(until)
		if p.links[0].down {
			n.cover.fault(FaultFlap)
		}
		p.links[0].down, p.links[1].down = down, down
		if down && n.storm.chance(0.3) {
			n.disconnect(p, 3*time.Second)
		}
		if down || c.clock.Now().Before(until) {
			c.clock.After(n.storm.duration(100*time.Millisecond, 4*time.Second), turn)
		}
	}
	turn()
}
