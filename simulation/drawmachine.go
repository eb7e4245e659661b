package simulation

import "time"

// machines draws what happens to whole machines: their disks, clocks and
// processes, beyond what processFaults and its like draw.
func (p *planner) machines() {
	p.power()
	p.disks()
	p.twins()
}

// power draws losses of power within updates.
func (p *planner) power() {
	for _, act := range []Act{ActPowerLost, ActPowerTorn, ActPowerWhole} {
		if p.chance(0.35) {
			p.add(p.at(), Step{Act: act, Replica: p.replica(), Count: p.between(1, 6), For: p.duration(0, 10*time.Second)})
		}
	}
}

// disks draws disks that lie, and disks that are full.
func (p *planner) disks() {
	if p.chance(0.35) {
		p.add(p.at(), Step{Act: ActLie, Replica: p.replica(), Count: p.between(1, 8), For: p.duration(time.Second, 20*time.Second)})
	}
	if p.chance(0.3) {
		r, at, full := p.replica(), p.at(), p.duration(time.Second, 30*time.Second)
		p.add(at, Step{Act: ActFull, Replica: r, For: full})
		for range p.IntN(4) { // its agents find out
			p.add(at+p.duration(0, full), Step{Act: ActWrite, Replica: r, Count: p.IntN(p.keys)})
		}
	}
}

// twins draws writes of cloned machines, beside those of work.
func (p *planner) twins() {
	for range p.IntN(3) {
		a, b := p.two()
		p.add(p.at(), Step{Act: ActTwin, Replica: a, Peer: b, Count: p.IntN(p.keys)})
	}
}
