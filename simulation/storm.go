package simulation

import "time"

func (p *planner) weather() Weather {
	w := Weather{LatencyMin: time.Millisecond, LatencyMax: p.duration(5*time.Millisecond, 300*time.Millisecond), Ordered: p.chance(0.5)}
	if p.chance(0.6) {
		w.Loss = 0.25 * p.Float64() * p.Float64()
	}
	w.GossipLoss = pick(p.dice, 0, 0.1, 0.5, 0.9)
	if p.chance(0.5) {
		w.Duplicate = 0.1 * p.Float64()
	}
	if p.chance(0.5) {
		w.Stray, w.StrayMax = 0.1*p.Float64(), p.duration(time.Second, 40*time.Second)
	}
	if p.chance(0.5) {
		w.Straggle = 0.3
	}
	return w
}

func (p *planner) networkFaults() {
	for range p.IntN(4) {
		group := uint64(1 + p.IntN(1<<p.plan.Replicas-2))
		p.add(p.at(), Step{Act: ActPartition, Group: group, For: p.duration(time.Second, p.length/2)})
	}
	for range p.IntN(3) {
		a, b := p.two()
		p.add(p.at(), Step{Act: ActAsymmetric, Replica: a, Peer: b, For: p.duration(time.Second, p.length/2)})
	}
	for range p.IntN(6) {
		a, b := p.two()
		p.add(p.at(), Step{Act: ActDisconnect, Replica: a, Peer: b, For: p.duration(0, 20*time.Second)})
	}
}

// storms draws what else goes wrong between replicas, from dice of its own.
func (p *planner) storms(d dice) {
	q := planner{dice: d, plan: p.plan, length: p.length, keys: p.keys}
	q.badLines()
	q.stuckLines()
	if q.chance(0.25) {
		q.weeksLate()
	}
	if q.chance(0.15) {
		q.jam()
	}
	p.events = append(p.events, q.events...)
}

// badLines draws lines that damage, lose or delay messages in one direction.
func (p *planner) badLines() {
	for _, bad := range []struct {
		act       Act
		low, high int
	}{{ActCorrupt, 1, 10}, {ActLossy, 20, 95}, {ActThrottle, 300, 20_000}} {
		for range p.IntN(3) {
			a, b := p.two()
			p.add(p.at(), Step{
				Act: bad.act, Replica: a, Peer: b, Count: p.between(bad.low, bad.high),
				For: p.duration(5*time.Second, p.length/2),
			})
		}
	}
}

// stuckLines draws lines that stand still, and others that come and go.
func (p *planner) stuckLines() {
	for range p.IntN(3) {
		r := p.replica()
		p.add(p.at(), Step{
			Act: ActClog, Replica: r, Group: p.Uint64N(1 << p.plan.Replicas), For: p.duration(2*time.Second, 90*time.Second),
		})
	}
	if p.chance(0.4) {
		a, b := p.two()
		p.add(p.at(), Step{Act: ActFlap, Replica: a, Peer: b, For: p.duration(5*time.Second, p.length/2)})
	}
}

// weeksLate draws messages that the network gives back after everybody slept.
func (p *planner) weeksLate() {
	a, b := p.two()
	pause := pick(p.dice, p.duration(time.Hour, 30*24*time.Hour), 30*24*time.Hour)
	at := p.duration(0, p.length/2)
	p.add(at, Step{Act: ActHoard, Replica: a, Peer: b, Count: p.between(3, 40), For: pause})
	p.add(at+p.duration(5*time.Second, p.length/2), Step{Act: ActJump, For: pause})
}

// jam draws more than a line can carry: an agent that writes many times a
// second, so that each write is a message of its own.
func (p *planner) jam() {
	a, b := p.two()
	at := p.at()
	p.add(at, Step{Act: ActThrottle, Replica: a, Peer: b, Count: p.between(50, 300), For: p.duration(20*time.Second, 60*time.Second)})
	for range p.between(75, 120) {
		at += p.duration(25*time.Millisecond, 150*time.Millisecond)
		p.add(at, Step{Act: ActWrite, Replica: a, Count: p.IntN(p.keys)})
	}
}
