package simulation

import (
	"slices"
	"strings"
	"time"

	fleetsync "github.com/fleetsync/fleetd/sync"
)

// sharing is what a replica shares.
type sharing struct {
	fleetsync.Sharing
	withheld string // see Plan.Withheld
}

// sharingBut is the sharing of what keeps one part to itself, as Plan.Withheld
// names it.
func sharingBut(withheld string) sharing {
	s := sharing{withheld: withheld}
	if withheld != "" {
		family, project, isInProject := strings.Cut(withheld, "/")
		s.Rules = []fleetsync.SharingRule{{Keep: true, Family: family, Project: fleetsync.Pattern{IsSet: isInProject, Text: project}}}
	}
	return s
}

// unshared are the parts that ActShare can switch off, by the step's Count; the
// first is none.
var unshared = [...]string{"", "skill", "memory", "note", "memory/web", "skill/web"}

// switchSharing lets a replica share everything but one part from now on. A node
// learns what it shares when it starts.
func (c *Cluster) switchSharing(r *Replica, withheld string) {
	if r.sharing.withheld == withheld {
		return
	}
	r.sharing = sharingBut(withheld)
	if r.process == nil {
		return
	}
	c.cover.fault(FaultSharing)
	r.kill(c.dice.duration(0, 5*time.Second))
	r.launch()
}

// sharing draws replicas that stop sharing a part and begin again.
func (p *planner) sharing() {
	withheld := slices.ContainsFunc(p.plan.Withheld, func(part string) bool { return part != "" })
	if withheld || !p.chance(0.25) {
		return
	}
	for range p.between(1, 2) {
		r, at := p.replica(), p.at()
		p.add(at, Step{Act: ActShare, Replica: r, Count: 1 + p.IntN(len(unshared)-1)})
		for range p.between(1, 5) {
			p.add(at+p.duration(0, 15*time.Second), Step{Act: ActWrite, Replica: pick(p.dice, r, p.replica()), Count: p.IntN(p.keys)})
		}
		if p.chance(0.7) { // else the end of all faults switches it on
			p.add(at+p.duration(time.Second, 20*time.Second), Step{Act: ActShare, Replica: r})
		}
	}
}
