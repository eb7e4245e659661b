package simulation

import (
	"slices"
	"time"
)

// machines draws what happens to whole machines: their disks, clocks and
// processes, beyond what processFaults and its like draw.
func (p *planner) machines() {
	p.power()
	p.disks()
	p.twins()
	p.losses()
	p.clones()
	p.clocks()
	p.pauses()
}

// power draws losses of power within updates.
func (p *planner) power() {
	for _, act := range []Act{ActPowerLost, ActPowerTorn, ActPowerWhole} {
		if p.chance(0.6) {
			p.add(p.at(), Step{Act: act, Replica: p.replica(), Count: p.between(1, 6), For: p.duration(0, 10*time.Second)})
		}
	}
}

// disks draws disks that lie, and disks that are full.
func (p *planner) disks() {
	if p.chance(0.5) {
		p.add(p.at(), Step{Act: ActLie, Replica: p.replica(), Count: p.between(1, 8), For: p.duration(time.Second, 20*time.Second)})
	}
	if p.chance(0.1) {
		p.rollback()
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

// losses draws machines that are lost, and machines that find another disk
// than their own. A spare takes the place of one that is lost.
func (p *planner) losses() {
	if p.chance(0.25) {
		a, b := p.two()
		p.add(p.at(), Step{Act: ActSwap, Replica: a, Peer: b, For: p.duration(time.Second, 20*time.Second)})
	}
	if p.chance(0.3) {
		p.add(p.at(), Step{Act: ActWipe, Replica: p.replica(), For: p.duration(time.Second, 20*time.Second)})
	}
	if p.plan.Topology != Mesh || !p.chance(0.75) {
		return // the fleet would fall apart
	}
	lost, at := 1+p.IntN(p.plan.Replicas-1), p.at()
	if p.chance(0.5) {
		p.add(at, Step{Act: pick(p.dice, ActRetire, ActRetire, ActRetire, ActWipe), Replica: lost})
	} else {
		p.decay(lost, at)
	}
	p.spare(at)
}

// decay draws a disk that loses rows and bits, and whose machine starts anew
// now and then.
func (p *planner) decay(r int, at time.Duration) {
	first := p.IntN(2)
	for n := range p.between(2, 5) {
		s := Step{Act: [2]Act{ActFlip, ActLoseRow}[(first+n)%2], Replica: r}
		if p.chance(0.4) {
			s.For = p.duration(0, 5*time.Second)
		}
		p.add(at, s)
		p.writes(r, at, 20*time.Second, 4)
		at += p.duration(0, 20*time.Second)
	}
	for range 3 {
		p.add(at+p.duration(0, 20*time.Second), Step{Act: ActAudit})
	}
}

// clones draws a machine that is copied, and runs beside its copy for a while.
func (p *planner) clones() {
	if p.plan.Topology != Mesh || !p.chance(0.85) {
		return
	}
	r, at := 1+p.IntN(p.plan.Replicas-1), p.at()
	if slices.Contains(p.plan.Absent, r) {
		return
	}
	copied := p.machine(GrantKnown)
	p.add(at, Step{Act: ActClone, Replica: r, Peer: copied})
	for _, who := range []int{r, copied} {
		for range p.between(2, 6) {
			p.add(at+p.duration(0, 25*time.Second), Step{Act: ActWrite, Replica: who, Count: p.IntN(p.keys)})
		}
	}
	for range 3 {
		p.add(at+p.duration(0, 40*time.Second), Step{Act: ActAudit})
	}
	if p.chance(0.5) {
		p.add(at+p.duration(20*time.Second, time.Minute), Step{Act: ActRetire, Replica: copied})
	}
}

// machine adds one to the fleet, which is absent until a step says otherwise.
func (p *planner) machine(known GrantMode) (number int) {
	number = p.plan.Replicas
	p.plan.Replicas++
	p.plan.Skews = append(p.plan.Skews, p.duration(-5*time.Second, 5*time.Second))
	p.plan.Withheld = append(p.plan.Withheld, "")
	p.plan.Absent = append(p.plan.Absent, number)
	p.plan.Grants = append(p.plan.Grants, known)
	if len(p.plan.Sites) > 0 {
		p.plan.Sites = append(p.plan.Sites, p.plan.Sites[number%len(p.plan.Sites)])
	}
	return number
}

// spare draws a replica that joins anew after a machine was lost.
func (p *planner) spare(lost time.Duration) {
	at := lost + p.duration(0, 30*time.Second)
	spare := p.machine(pick(p.dice, GrantKnown, GrantOwn, GrantLate))
	if p.plan.Grants[spare] == GrantLate {
		p.add(lost+p.duration(0, 30*time.Second), Step{Act: ActGrant, Replica: spare})
	}
	p.add(at, Step{Act: ActJoin, Replica: spare})
	for range p.IntN(6) {
		p.add(at+p.duration(0, 20*time.Second), Step{Act: pick(p.dice, ActWrite, ActDelete), Replica: spare, Count: p.IntN(p.keys)})
	}
}
