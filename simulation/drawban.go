package simulation

import "time"

// bans draws what the admin takes away from whom, and what root gives back. Some
// of those that are banned are apart at that time, and write on.
func (p *planner) bans() {
	if !p.chance(0.5) {
		return
	}
	for range p.between(1, 3) {
		n, at := 1+p.IntN(p.plan.Replicas-1), p.at()
		act := pick(p.dice, ActBan, ActVoid, ActVoid, ActWithdraw, ActWithdraw)
		s := Step{Act: act, Replica: n, Count: p.IntN(4)}
		if act == ActWithdraw {
			s.Replica, s.Count = 0, 2*p.IntN(p.keys/2+1) // skills have the even numbers
		}
		if p.chance(0.3) {
			p.add(max(at-p.duration(0, 5*time.Second), 0), Step{Act: ActPartition, Group: 1 << n, For: p.duration(time.Second, 30*time.Second)})
		}
		p.add(at, s)
		for range p.IntN(4) {
			p.add(at+p.duration(0, 10*time.Second), Step{Act: pick(p.dice, ActWrite, ActWrite, ActDelete, ActForeign), Replica: n, Count: p.IntN(p.keys)})
		}
		if p.chance(0.6) {
			p.add(at+p.duration(0, 20*time.Second), Step{Act: ActLift})
		}
	}
}
