package scenario

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// begin is the time of day at which every run begins, in UTC.
const begin = 8 * time.Hour

// at reports whether agents of a site make these writes.
func (w *Writes) at(site string) bool { return len(w.Sites) == 0 || slices.Contains(w.Sites, site) }

// writes draws the writes of each agent, independent of all others.
func (d *drawer) writes(w *Writes, entry int) {
	for agent, site := range d.sites {
		if w.at(d.Sites[site].Name) {
			dice := d.dice(streamWrites + uint64(entry)<<16 + uint64(agent))
			each(dice, w.Rate, d.Duration, func(at time.Duration) {
				step := w.draw(dice, agent)
				if !w.quiet(at + begin + d.Sites[site].Zone) {
					d.add(at, step)
				}
			})
		}
	}
}

// each calls fn at random times that come rate times an hour on average.
func each(dice *rand.Rand, rate float64, until time.Duration, fn func(at time.Duration)) {
	if rate <= 0 {
		return
	}
	mean := float64(time.Hour) / rate
	for at := dice.ExpFloat64() * mean; at < float64(until); at += dice.ExpFloat64() * mean {
		fn(time.Duration(at))
	}
}

// draw draws one write.
func (w *Writes) draw(dice *rand.Rand, agent int) simulation.Step {
	s := simulation.Step{Replica: agent, Bytes: between(dice, w.Size)}
	switch kind := dice.Float64() * (w.New + w.Edits + w.Deletes); {
	case kind < w.New:
		s.Act, s.Count = simulation.ActBurst, 1
	case kind < w.New+w.Edits:
		s.Act, s.Count = simulation.ActWrite, dice.IntN(w.Keys)
	default:
		s.Act, s.Count, s.Bytes = simulation.ActDelete, dice.IntN(w.Keys), 0
	}
	return s
}

// quiet reports whether nobody writes at a time, counted from some midnight.
func (w *Writes) quiet(at time.Duration) bool {
	if w.Quiet.Min == w.Quiet.Max {
		return false
	}
	clock := (at%day + day) % day
	if w.Quiet.Min < w.Quiet.Max {
		return clock >= w.Quiet.Min && clock < w.Quiet.Max
	}
	return clock >= w.Quiet.Min || clock < w.Quiet.Max
}
