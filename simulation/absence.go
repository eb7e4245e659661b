package simulation

import (
	"cmp"
	"slices"
	"time"
)

const day = 24 * time.Hour

// absenceOf names the absences that are counted by themselves: those that lie
// just within and beyond the times after which a fleet forgets something.
func absenceOf(away time.Duration) (f Fault, exact bool) {
	f, exact = map[time.Duration]Fault{
		day: FaultAbsence1, 29 * day: FaultAbsence29, 31 * day: FaultAbsence31, 181 * day: FaultAbsence181, 365 * day: FaultAbsence365,
	}[away]
	return f, exact
}

// leave takes a replica off the network until it comes back.
func (c *Cluster) leave(r *Replica) {
	c.network.allow(r.number, false)
	c.watch.of(EventLeave, r.number, Nobody)
	c.spread.away(r, true)
	if r.leftAt.IsZero() && r.started > 0 {
		r.leftAt = c.clock.Now()
	}
}

func (c *Cluster) comeBack(r *Replica) {
	c.network.allow(r.number, true)
	c.watch.of(EventReturn, r.number, Nobody)
	c.spread.away(r, false)
	c.countAbsence(r)
}

// countAbsence counts one that ends, by how long it was.
func (c *Cluster) countAbsence(r *Replica) {
	if r.leftAt.IsZero() {
		return
	}
	away := c.clock.Now().Sub(r.leftAt)
	r.leftAt = time.Time{}
	if away >= time.Hour {
		c.cover.fault(FaultAbsence)
	} else {
		c.cover.fault(FaultDropout)
	}
	if f, exact := absenceOf(away); exact {
		c.cover.fault(f)
	}
}

// leaver is one absence that is being planned.
type leaver struct {
	replica int
	at, len time.Duration
}

// leaves draws replicas that are away at the same time for exactly so long,
// while they and those who stay go on writing.
func (p *planner) leaves() {
	if !p.chance(0.75) {
		return
	}
	lengths := []time.Duration{day, 29 * day, 31 * day, 181 * day, 365 * day}
	p.Shuffle(len(lengths), func(i, j int) { lengths[i], lengths[j] = lengths[j], lengths[i] })
	at := p.duration(0, p.length/2)
	var away []leaver
	for i, r := range p.Perm(p.plan.Replicas)[:p.between(2, min(3, p.plan.Replicas-1))] {
		away = append(away, leaver{r, at + time.Duration(i)*100*time.Millisecond, lengths[i]})
	}
	slices.SortFunc(away, func(a, b leaver) int { return cmp.Compare(a.len, b.len) })
	drawn := p.events
	for _, l := range away {
		p.add(l.at, Step{Act: ActAbsence, Replica: l.replica})
		at = max(at, l.at)
	}
	p.returns(away, at, drawn)
}

// returns draws how time passes until each of the leavers is back, the one
// with the shortest absence first. at is when the last has left; drawn is what
// happens besides, jumps included.
func (p *planner) returns(away []leaver, at time.Duration, drawn []timed) {
	slept := time.Duration(0)
	for i, l := range away {
		before, after := p.duration(time.Second, 5*time.Second), p.duration(time.Second, 5*time.Second)
		end := at + before + after
		asleep := l.at + l.len - end - slept - jumped(drawn, l.at, end)
		if asleep < 0 {
			asleep = 0 // others sleep so long that it is away longer than was meant
		}
		first := p.duration(0, asleep)
		p.apart(away[i:], at, before)
		p.add(at+before, Step{Act: ActJump, For: first})
		p.apart(away[i:], at+before, after)
		p.add(end, Step{Act: ActJump, For: asleep - first})
		p.add(end, Step{Act: ActReturn, Replica: l.replica})
		at, slept = end, slept+asleep
	}
}

// jumped returns how much time is jumped in a part of a plan.
func jumped(events []timed, from, to time.Duration) time.Duration {
	total := time.Duration(0)
	for _, e := range events {
		if e.step.Act == ActJump && e.at > from && e.at <= to {
			total += e.step.For
		}
	}
	return total
}

// apart draws what those who are away and those who are not write meanwhile, of
// the same keys.
func (p *planner) apart(away []leaver, at, span time.Duration) {
	for range p.between(1, 4) {
		writer := away[p.IntN(len(away))].replica
		if p.chance(0.5) {
			writer = p.replica()
		}
		act := pick(p.dice, ActWrite, ActWrite, ActDelete, ActRevise)
		p.add(at+p.duration(0, span), Step{Act: act, Replica: writer, Count: p.IntN(p.keys)})
	}
}
