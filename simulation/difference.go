package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// difference looks for one among the replicas, in what they hold of shared
// sections or keep parked. It returns what says in what they differ, which reads
// everything, or nil when in nothing.
func (c *Cluster) difference() (describe func() string, err error) {
	members := c.members()
	shared := c.sharing(members)
	first := rootsOf(c.replicas[0], shared)
	for _, r := range members {
		if rootsOf(r, shared) != first {
			return func() string { return c.apart(members, r) }, nil
		}
	}
	extant := map[merge.Hash]bool{}
	if len(c.model.takings) > 0 {
		if err := members[0].eachHeld(func(_ merge.Key, v store.Held) { extant[v.Hash] = true }); err != nil {
			return nil, err
		}
	}
	exists := c.model.existing(extant)
	for _, r := range members {
		parked := ""
		err := r.read(func(s *store.Reader) error {
			return s.Parked(func(p store.Parked) (more bool) {
				w := c.model.versions[p.Record.Hash()]
				forGood := c.byStranger(p.Record.Envelope.LastWriterID) || w != nil && w.crafted || c.model.takenAway(&p.Record, exists)
				if forGood && !r.isDueSoon(&p) {
					return true
				}
				parked = fmt.Sprintf("replica %d keeps parked (%s): %s", r.number, p.Reason, c.model.describe(p.Record.Hash()))
				return false
			})
		})
		if err != nil {
			return nil, err
		}
		if parked != "" {
			return func() string { return parked }, nil
		}
	}
	lacks, err := c.lackingContent(members, shared)
	if err != nil || lacks == "" {
		return nil, err
	}
	return func() string { return lacks }, nil
}

// isDueSoon reports whether a parked version waits for a time that has come, or
// comes within a minute: also what a liar made is released then.
func (r *Replica) isDueSoon(p *store.Parked) bool {
	return p.Reason == store.ReasonFuture && r.Store().Clock().Drift(p.Record.Envelope.UpdatedHLC) <= hlc.DriftMax+time.Minute
}

// apart says who lacks what of whom, for people; and on lines of their own the
// roots of the first replica and of one that has others.
func (c *Cluster) apart(members []*Replica, other *Replica) string {
	what, err := c.lacking(members)
	if err != nil {
		what = fmt.Sprintf("reading a store: %v", err)
	}
	if what == "" {
		what = fmt.Sprintf("nobody lacks anything, and still replicas 0 and %d have other roots", other.number)
	}
	shared := c.sharing(members)
	return fmt.Sprintf("%s\nreplica 0 has %s\nreplica %d has %s", what, rootsOf(c.replicas[0], shared), other.number, rootsOf(other, shared))
}

// rootsOf lists by name what a replica holds of the sections that everybody
// shares.
func rootsOf(r *Replica, shared func(merge.Section) bool) string {
	var lines []string
	for _, s := range r.Store().Sections() {
		if shared(s.Section) && s.Count > 0 {
			sum := s.Sum.Bytes()
			lines = append(lines, fmt.Sprintf("%s %d %x", s.Section, s.Count, sum[:4]))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}
