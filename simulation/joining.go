package simulation

import "time"

// massJoinMin is how many empty replicas at once are many.
const massJoinMin = 3

// join starts a replica that has never run.
func (c *Cluster) join(r *Replica) {
	if r.started != 0 {
		return
	}
	c.cover.fault(FaultJoin)
	if now := c.clock.Now(); c.joinedAt != now {
		c.joinedAt, c.joined = now, 0
	}
	if c.joined++; c.joined == massJoinMin {
		c.cover.fault(FaultMassJoin)
	}
	r.launch()
}

// massJoin draws several replicas that join at one time while others write. They
// come on top of the fleet that was drawn, and only where everybody can reach
// somebody who stays.
func (p *planner) massJoin() {
	if p.plan.Topology != Mesh && p.plan.Topology != Star || !p.chance(0.33) {
		return
	}
	at, first := p.at(), p.plan.Replicas
	for range p.between(massJoinMin, massJoinMin+2) {
		n := p.recruit()
		p.plan.Absent = append(p.plan.Absent, n)
		p.plan.Grants[n] = pick(p.dice, GrantKnown, GrantKnown, GrantOwn)
		p.add(at, Step{Act: ActJoin, Replica: n})
	}
	for range p.between(3, 15) {
		p.add(at+p.duration(0, 10*time.Second), Step{
			Act: pick(p.dice, ActWrite, ActWrite, ActDelete), Replica: p.IntN(first), Count: p.IntN(p.keys),
		})
	}
	for range p.IntN(6) {
		p.add(at+p.duration(0, 10*time.Second), Step{
			Act: ActWrite, Replica: first + p.IntN(p.plan.Replicas-first), Count: p.IntN(p.keys),
		})
	}
}

// recruit adds one replica to the fleet.
func (p *planner) recruit() int {
	p.plan.Replicas++
	p.plan.Skews = append(p.plan.Skews, p.duration(-2*time.Second, 2*time.Second))
	p.plan.Grants = append(p.plan.Grants, GrantKnown)
	p.plan.Withheld = append(p.plan.Withheld, "")
	if len(p.plan.Sites) > 0 {
		p.plan.Sites = append(p.plan.Sites, 0)
	}
	return p.plan.Replicas - 1
}
