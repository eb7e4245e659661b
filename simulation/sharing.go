package simulation

import (
	"slices"
	"time"
)

// unshared are the families that ActShare can switch off, by the step's Count;
// the first is none.
var unshared = [...]string{"", "skill", "memory", "note"}

// switchSharing lets a replica share everything but one family from now on. A
// node learns what it shares when it starts.
func (c *Cluster) switchSharing(r *Replica, family string) {
	if r.withheld == family {
		return
	}
	r.withheld = family
	if r.process == nil {
		return
	}
	c.cover.fault(FaultSharing)
	r.kill(c.dice.duration(0, 5*time.Second))
	r.launch()
}

// sharing draws replicas that stop sharing a family and begin again.
func (p *planner) sharing() {
	withheld := slices.ContainsFunc(p.plan.Withheld, func(family string) bool { return family != "" })
	if withheld || !p.chance(0.25) {
		return
	}
	for range p.between(1, 2) {
		r, at := p.replica(), p.at()
		p.add(at, Step{Act: ActShare, Replica: r, Count: 1 + p.IntN(len(unshared)-1)})
		for range p.between(1, 5) {
			p.add(at+p.duration(0, 15*time.Second), Step{Act: ActWrite, Replica: pick(p.dice, r, p.replica()), Count: p.IntN(p.keys)})
		}
		if p.chance(0.7) { // else the end of all faults switches it on
			p.add(at+p.duration(time.Second, 20*time.Second), Step{Act: ActShare, Replica: r})
		}
	}
}
