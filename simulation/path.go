package simulation

import "time"

// Path is the line from one site to another, or within one: every link of a
// replica at From to one at To has its weather. With a site a replica, every
// link can have its own.
type Path struct {
	From, To int
	Weather  Weather
}

// atlas is the weather of every link of a plan.
type atlas struct {
	plan  *Plan
	lines map[[2]int]Weather // by sites; those listed
}

// newAtlas returns the atlas of a plan. Of two lines between the same sites the
// last counts.
func newAtlas(p *Plan) atlas {
	a := atlas{plan: p, lines: make(map[[2]int]Weather, len(p.Paths))}
	for _, line := range p.Paths {
		a.lines[[2]int{line.From, line.To}] = line.Weather
	}
	return a
}

// site returns the site of a replica.
func (a atlas) site(replica int) int {
	if replica < len(a.plan.Sites) {
		return a.plan.Sites[replica]
	}
	return 0
}

// weather is that of a link until the cluster heals.
func (a atlas) weather(from, to int) Weather {
	if w, listed := a.lines[[2]int{a.site(from), a.site(to)}]; listed {
		return w
	}
	return a.plan.Weather
}

// sound is the weather of a link after all faults have stopped: a line keeps
// what it always has, its latency, and nothing that goes wrong.
func (a atlas) sound(from, to int) Weather {
	w, listed := a.lines[[2]int{a.site(from), a.site(to)}]
	if !listed {
		return calm()
	}
	return Weather{LatencyMin: w.LatencyMin, LatencyMax: w.LatencyMax, Ordered: true}
}

// far is how much longer than in a calm network that many messages one after
// the other take, over the longest line.
func (a atlas) far(messages int) time.Duration {
	var far time.Duration
	for i := range a.plan.Paths {
		far = max(far, a.plan.Paths[i].Weather.LatencyMax-calm().LatencyMax)
	}
	return time.Duration(messages) * far
}

// cutLine makes the line from one site to another dead in that direction for a
// while.
func (c *Cluster) cutLine(s Step) {
	from, to := c.atlas.site(s.Replica), c.atlas.site(s.Peer)
	var links []*link
	for _, p := range c.network.pairs {
		a, b := c.atlas.site(p.a), c.atlas.site(p.b)
		if a == from && b == to {
			links = append(links, &p.links[0])
		}
		if b == from && a == to {
			links = append(links, &p.links[1])
		}
	}
	c.interrupt(links, s.For, time.Minute, Event{Fault: FaultAsymmetric, Replica: s.Replica, Peer: s.Peer})
}
