package simulation

import (
	"errors"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// What the fleet makes of hostile members.

// suspect reports whether a replica lies, or did until now. Whoever was suspended
// finds what was said before that when it wakes, ahead of repent.
func (c *Cluster) suspect(number int) bool {
	return c.replicas[number].adversary != nil && (!c.healed || c.honestAt.IsZero() || c.clock.Now().Before(c.honestAt))
}

// repent ends all lies. The machines of hostile members are set up anew, and it
// is waited until those who keep them away let them come back.
func (c *Cluster) repent() {
	hostile := false
	for _, r := range c.replicas {
		if r.adversary == nil {
			continue
		}
		hostile = true
		clear(r.adversary.lies)
		clear(r.adversary.cargo)
		r.kill(0)
		r.launch()
	}
	if !hostile {
		return
	}
	c.honestAt = c.clock.Now().Add(graceAfter)
	c.RunFor(graceAfter)
	for {
		until := c.clock.Now()
		for _, r := range c.replicas {
			if r.process != nil {
				until = later(until, r.process.scores.until())
			}
		}
		if until.Equal(c.clock.Now()) {
			return
		}
		c.RunFor(until.Sub(c.clock.Now()))
	}
}

// blamed takes what a replica says of a peer. Whoever lies says nothing that
// counts; of the honest nobody may be blamed, and the others are kept away when
// they are too often.
func (r *Replica) blamed(peer int, err error) {
	c := r.cluster
	switch {
	case c.suspect(r.number):
		r.note("blames %d: %v", peer, err)
	case !c.suspect(peer):
		c.fail(InvariantBlame, "replica %d blames the honest peer %d: %v", r.number, peer, err)
	case errors.Is(err, fleetsync.ErrIncompatible):
		r.note("cannot talk to %d: %v", peer, err)
	default:
		r.note("counts against %d: %v", peer, err)
		if r.process != nil && r.process.scores.strike(peer, c.clock.Now()) {
			c.cover.sometimes(SometimesBanished)
			r.note("keeps %d away", peer)
			if p := c.network.pair(r.number, peer); p != nil {
				c.network.disconnect(p, time.Second)
			}
		}
	}
}

// pried are the questions about what is private of a replica that lies.
func (r *Replica) pried() []uint64 {
	if r.adversary == nil {
		return nil
	}
	return r.adversary.pried
}

// checkPrivacy holds what a hostile member is told to what it may know.
func (c *Cluster) checkPrivacy(r *Replica, to int, m fleetsync.Message) {
	if answer, ok := m.(*fleetsync.ReconAnswer); ok && slices.Contains(c.replicas[to].pried(), answer.ID) {
		c.fail(InvariantPrivacy, "replica %d tells %d what it holds of what is private", r.number, to)
	}
	records := recordsOf(m)
	if records == nil {
		return
	}
	for _, wire := range *records {
		rec, err := merge.Decode(wire)
		if err == nil && (private(rec.Key) || !r.shares(rec.Key.Section())) {
			c.fail(InvariantPrivacy, "replica %d sends %s to %d, which may not have it", r.number, rec.Key, to)
		}
	}
}
