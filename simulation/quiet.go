package simulation

import "time"

// streamQuiet are the dice of quiet hours.
const streamQuiet uint64 = 1 << 61

// quiet draws hours in the middle of the plan in which little happens: agents
// work for some minutes now and then, members close their lid and come back.
// They are lived, not jumped: every heartbeat is sent.
func (p *planner) quiet(d dice) {
	q := planner{dice: d, plan: p.plan, keys: p.keys}
	switch {
	case q.chance(0.4):
		// So many hours of all replicas together.
		q.length = q.duration(3*time.Hour, 15*time.Hour) / time.Duration(p.plan.Replicas)
		p.plan.HeartbeatEvery = pick(d, 10*time.Second, 30*time.Second, 60*time.Second)
	case q.chance(0.03) && p.plan.Replicas < 6:
		q.length = 24 * time.Hour
		p.plan.HeartbeatEvery = 60 * time.Second
	default:
		return
	}
	// Hours of the tightest ticks would show nothing that minutes do not.
	p.plan.TickEvery = time.Second
	began := q.duration(0, p.length)
	for i := range p.events {
		if p.events[i].at >= began {
			p.events[i].at += q.length
		}
	}
	for range q.length / (30 * time.Minute) {
		q.shift(began)
		if q.chance(0.3) {
			q.lid(began)
		}
	}
	p.events = append(p.events, q.events...)
}

// shift draws some minutes of an agent's work.
func (p *planner) shift(began time.Duration) {
	r, at := p.replica(), began+p.at()
	for range p.between(2, 10) {
		at = min(at+p.duration(time.Second, 2*time.Minute), began+p.length)
		act := pick(p.dice, ActWrite, ActWrite, ActWrite, ActDelete, ActSettle)
		p.add(at, Step{Act: act, Replica: r, Count: p.IntN(p.keys)})
	}
}

// lid draws a member that is away for some minutes or an hour: off the network,
// or not running at all.
func (p *planner) lid(began time.Duration) {
	r, at, away := p.replica(), began+p.at(), p.duration(time.Minute, time.Hour)
	if p.chance(0.5) {
		p.add(at, Step{Act: ActCrash, Replica: r, For: away})
		return
	}
	p.add(at, Step{Act: ActAbsence, Replica: r})
	p.add(min(at+away, began+p.length), Step{Act: ActReturn, Replica: r})
}
