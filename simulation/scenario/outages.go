package scenario

import (
	"cmp"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// outage is a span of time in which something does not work.
type outage struct{ from, to time.Duration }

// spans are the times of a window until the end.
func (w Window) spans(until time.Duration) []outage {
	var all []outage
	for at := w.At; at < until; at += w.Every {
		all = append(all, outage{at, at + w.For})
		if w.Every <= 0 {
			break
		}
	}
	return all
}

// union merges spans that touch, since what is switched off twice is switched
// on by the first end.
func union(all []outage) []outage {
	slices.SortFunc(all, func(a, b outage) int { return cmp.Compare(a.from, b.from) })
	var merged []outage
	for _, o := range all {
		if n := len(merged); n > 0 && o.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, o.to)
			continue
		}
		merged = append(merged, o)
	}
	return merged
}

// absences takes agents off the network: as written, and where it drops out.
func (d *drawer) absences() {
	for agent, site := range d.sites {
		var away []outage
		for _, a := range d.Sites[site].Absences {
			if a.Agents == 0 || agent-d.first[site] < a.Agents {
				away = append(away, a.spans(d.Duration)...)
			}
		}
		dice := d.dice(streamDropouts + uint64(agent))
		each(dice, d.Faults.Dropouts, d.Duration, func(at time.Duration) {
			away = append(away, outage{at, at + between(dice, d.Faults.DropoutFor)})
		})
		for _, o := range union(away) {
			d.add(o.from, simulation.Step{Act: simulation.ActAbsence, Replica: agent})
			d.add(o.to, simulation.Step{Act: simulation.ActReturn, Replica: agent})
		}
	}
}

// cuts makes lines dead in the directions that their links describe.
func (d *drawer) cuts() {
	for i := range d.Links {
		l := &d.Links[i]
		var dead []outage
		for _, w := range l.Cuts {
			dead = append(dead, w.spans(d.Duration)...)
		}
		for _, direction := range l.directions() {
			from, to := d.first[d.site(direction[0])], d.first[d.site(direction[1])]
			if from == to {
				to++ // another of the same site
			}
			for _, o := range union(dead) {
				d.add(o.from, simulation.Step{Act: simulation.ActCutLine, Replica: from, Peer: to, For: o.to - o.from})
			}
		}
	}
}

// faults draws what goes wrong at random.
func (d *drawer) faults() {
	f := &d.Faults
	for agent := range d.sites {
		dice := d.dice(streamCrashes + uint64(agent))
		each(dice, f.Crashes, d.Duration, func(at time.Duration) {
			d.add(at, simulation.Step{Act: simulation.ActCrash, Replica: agent, For: between(dice, f.Downtime)})
		})
		dice = d.dice(streamDisks + uint64(agent))
		each(dice, f.DiskErrors, d.Duration, func(at time.Duration) {
			d.add(at, simulation.Step{Act: simulation.ActRefuse, Replica: agent, Count: 1})
		})
	}
	dice := d.dice(streamPartitions)
	each(dice, f.Partitions, d.Duration, func(at time.Duration) {
		step := simulation.Step{Act: simulation.ActPartition, For: between(dice, f.PartitionFor)}
		// A step names up to 64 agents; larger fleets part along the list of sites.
		if n := len(d.sites); n <= 64 {
			step.Group = 1 + dice.Uint64N(uint64(1)<<(n-1)<<1-2) // neither none nor all
		} else {
			step.Count = 1 + dice.IntN(n-1)
		}
		d.add(at, step)
	})
}
