package simulation

import (
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// lostLife is what is known of the time of a disk between a backup and the
// rollback to it.
type lostLife struct {
	openings []store.Incarnation // of the store, up to its end
	held     map[merge.Hash]bool // at its end; nil when nobody could look
}

// rollback puts a replica's disk back to its backup.
func (c *Cluster) rollback(r *Replica, down time.Duration) {
	if r.backup == nil || r.started == 0 {
		return
	}
	c.cover.fault(FaultRollback)
	lost := lostLife{openings: slices.Clone(r.openings)}
	if r.process != nil {
		held := map[merge.Hash]bool{}
		if err := r.eachHeld(func(_ merge.Key, v store.Held) { held[v.Hash] = true }); err == nil {
			lost.held = held
		}
	}
	r.lost = append(r.lost, lost)
	r.kill(c.dice.duration(0, 5*time.Second))
	r.disk.restore(r.backup)
	c.mustRead(c.model.forgets(r))
	c.clock.After(down, r.launch)
}

// passedInLostLife reports whether a place in the feed of a machine is rightly
// passed by whoever had read it before a rollback: there that version was covered
// by a later place, which is lost. That they differ shows in their roots.
func passedInLostLife(peer *Replica, e store.FeedEntry) bool {
	return slices.ContainsFunc(peer.lost, func(l lostLife) bool {
		return !l.held[e.Hash] && slices.ContainsFunc(l.openings, func(o store.Incarnation) bool { return peer.hasPlace(o, e.Seq) })
	})
}

// hasPlace reports whether a place lies in an opening of the store of a replica.
func (r *Replica) hasPlace(opening store.Incarnation, seq uint64) (has bool) {
	err := r.read(func(s *store.Reader) error {
		state, _, err := s.CheckCursor(store.Cursor{Store: r.Store().ID(), Incarnation: opening, Seq: seq})
		has = state == store.CursorValid
		return err
	})
	return has && err == nil
}
