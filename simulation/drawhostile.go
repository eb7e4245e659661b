package simulation

import "time"

// hostile draws members that lie.
func (p *planner) hostile() {
	if p.plan.Replicas < 3 || !p.chance(0.6) {
		return
	}
	count := 1
	if p.plan.Replicas > 4 && p.chance(0.3) {
		count = 2
	}
	for _, r := range p.Perm(p.plan.Replicas - 1)[:count] {
		if r++; p.plan.Grants[r] == GrantNever {
			continue
		}
		if p.chance(0.12) {
			p.lieOfContents(r)
		} else {
			for range p.between(2, 7) {
				p.add(p.at()/2, p.lie(r))
			}
		}
		for range p.between(4, 16) { // something that others want of it
			p.add(p.at(), Step{Act: pick(p.dice, ActWrite, ActWrite, ActBurst), Replica: r, Count: 1 + p.IntN(12)})
		}
	}
}

// lieOfContents draws a member that lies about contents alone: for any other lie
// it would be kept away before somebody asks it for one.
func (p *planner) lieOfContents(r int) {
	p.plan.InlineBytes = p.between(1, 30)
	p.add(p.at()/4, Step{Act: ActForgeContents, Replica: r, Count: pick(p.dice, 50, 100), For: p.length})
	for range p.between(6, 12) {
		p.add(p.at(), Step{Act: ActBurst, Replica: r, Count: p.between(3, 12)})
	}
}

// lie draws one way in which a member lies.
func (p *planner) lie(r int) Step {
	share := pick(p.dice, 3, 10, 30, 100)
	s := Step{Replica: r, Count: share, For: p.duration(p.length/4, p.length)}
	s.Act = pick(
		p.dice, ActForgeHeads, ActForgeAnswers, ActForgeRequests, ActForgeRecords, ActForgeGossip, ActFlipBits, ActReplay,
		ActUnasked, ActPoison, ActEquivocate, ActForgeBasis, ActMadeUp, ActFlood, ActClaim, ActEndless, ActPry, ActMute,
		// These need somebody who asks just then.
		ActForgeRecords, ActForgeRecords, ActForgeRecords, ActForgeRecords, ActForgeRecords, ActForgeRecords,
		ActForgeGossip, ActForgeGossip, ActMute, ActMute, ActForgeHeads, ActEquivocate, ActFlipBits, ActFlipBits,
		ActEndless, ActEndless, ActPoison, ActClaim,
		ActForgeRequests, ActForgeRequests, ActForgeRequests, ActForgeAnswers, ActForgeAnswers, ActForgeAnswers,
		ActForgeAnswers, ActForgeAnswers, ActForgeAnswers, ActForgeBasis, ActForgeBasis, ActForgeBasis,
	)
	switch s.Act {
	case ActPoison:
		s.Count = p.IntN(12)
		s.For = pick(
			p.dice, p.duration(time.Minute, 5*time.Minute), p.duration(5*time.Minute, 10*time.Minute), day, 30*day, 365*day, century,
		)
	case ActEquivocate, ActForgeBasis, ActMadeUp:
		s.Count, s.For = p.IntN(12), 0
	case ActFlood:
		s.Count, s.For = p.between(20, 200), p.duration(2*time.Second, 8*time.Second)
	case ActClaim:
		s.Count = p.between(20, 400)
	case ActEndless:
		s.Count = 0
	case ActMute, ActForgeRecords, ActForgeRequests, ActForgeAnswers:
		s.Count = pick(p.dice, 50, 100)
	default: // it lies so often, and so long
	}
	return s
}
