package simulation

import (
	"time"

	"github.com/fleetsync/fleetd/hlc"
)

// clocks draws clocks that are set, stand still, or begin in 1970.
func (p *planner) clocks() {
	if p.chance(0.4) { // ahead by hours or days, and right again
		r, at := p.replica(), p.at()
		ahead := pick(p.dice, hlc.DriftMax/2, 3*time.Hour, 10*24*time.Hour)
		p.add(at, Step{Act: ActStep, Replica: r, For: p.duration(ahead/10, ahead)})
		p.writes(r, at, 20*time.Second, 4)
		if p.chance(0.7) {
			at += p.duration(time.Second, 30*time.Second)
			p.add(at, Step{Act: pick(p.dice, ActStep, ActSkew), Replica: r})
			p.writes(r, at, 20*time.Second, 4)
		}
	}
	if p.chance(0.35) { // behind, within a process or across a restart
		r, at := p.replica(), p.at()
		behind := pick(p.dice, time.Minute, 2*hlc.DriftMax, 5*time.Hour)
		p.add(at, Step{Act: pick(p.dice, ActStep, ActStep, ActSkew), Replica: r, For: -p.duration(time.Second, behind)})
		p.writes(r, at, 20*time.Second, 4)
	}
	if p.chance(0.4) {
		r, at := p.replica(), p.at()
		still := p.duration(time.Second, pick(p.dice, p.length, 8*time.Minute))
		p.add(at, Step{Act: ActFreeze, Replica: r, For: still})
		p.add(at+p.duration(0, 10*time.Second), Step{Act: ActBurst, Replica: r, Count: p.between(1, pick(p.dice, 10, 10, 200))})
		p.writes(r, at, still, 8)
	}
	if p.chance(0.4) {
		r, at, lost := p.replica(), p.at(), p.duration(time.Second, 30*time.Second)
		p.add(at, Step{Act: ActEpoch, Replica: r, For: lost})
		p.writes(r, at, 2*lost, 4)
	}
}

// writes draws up to count writes of a replica in a while.
func (p *planner) writes(r int, from, within time.Duration, count int) {
	for range p.IntN(count + 1) {
		p.add(from+p.duration(0, within), Step{Act: ActWrite, Replica: r, Count: p.IntN(p.keys)})
	}
}

// pauses draws processes that are stopped and machines that sleep: for seconds,
// or for as long as everybody else lives on, or for hours.
func (p *planner) pauses() {
	for _, act := range []Act{ActPause, ActSuspend} {
		if !p.chance(0.48) {
			continue
		}
		r, at, still := p.replica(), p.at(), p.duration(time.Second, p.length)
		if p.chance(0.15) { // all the others sleep as well, but not all the time
			hours := p.duration(time.Hour, 9*time.Hour)
			p.add(at+still/2, Step{Act: ActJump, For: hours})
		}
		p.add(at, Step{Act: act, Replica: r, For: still})
	}
}
