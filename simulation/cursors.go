package simulation

import (
	"errors"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// checkCursors holds that no cursor lies beyond a version that did not come:
// what a partner's feed has up to the cursor is held here, or covered, or
// parked. Listing everything would repair such a gap in the end, and hide it
// from a check of what is held.
func (c *Cluster) checkCursors() {
	for _, r := range c.replicas {
		for _, p := range c.network.of[r.number] { // of others it has no cursor
			peer := c.replicas[p.other(r.number)]
			if r.process == nil || peer.process == nil || c.deceived(r, peer) {
				continue
			}
			for _, s := range peer.Store().Sections() {
				c.mustRead(c.checkCursor(r, peer, s.Section, store.Cursor{}), r, peer)
			}
		}
	}
}

// checkMove holds the same of what a cursor passes by one move, at once: until
// the next audit a listing may have brought it. before is where it stood.
func (c *Cluster) checkMove(r *Replica, m *store.CursorMove, before store.Cursor) {
	peer := c.replicas[c.numberOf(m.Peer)]
	if r.process == nil || peer.process == nil || c.deceived(r, peer) {
		return
	}
	c.mustRead(c.checkCursor(r, peer, m.Section, before), r, peer)
}

// deceived reports whether one of two has lied to the other: then neither knows
// places in the other's feed.
func (c *Cluster) deceived(r, peer *Replica) bool { return r.adversary != nil || peer.adversary != nil }

// cursor returns where a replica stands in the feed of a peer; the zero Cursor
// when it has no place there.
func (r *Replica) cursor(peer merge.InstanceID, section merge.Section) (at store.Cursor, err error) {
	err = r.read(func(s *store.Reader) (err error) {
		at, err = s.Cursor(peer, section)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return store.Cursor{}, nil
	}
	return at, err
}

// checkCursor looks at what lies behind a place that was looked at before, of
// the same opening of the peer's store; at everything when there is none.
func (c *Cluster) checkCursor(r, peer *Replica, section merge.Section, seen store.Cursor) error {
	if r.damaged {
		return nil // it may have lost what had come
	}
	if r.Store().State(section).Sum == peer.Store().State(section).Sum {
		return nil // all that is in that feed is held here
	}
	at, err := r.cursor(peer.ID(), section)
	if err != nil || at == (store.Cursor{}) {
		return err
	}
	if seen.Store != at.Store || seen.Incarnation != at.Incarnation {
		seen.Seq = 0
	}
	var passed []store.FeedEntry
	err = peer.read(func(s *store.Reader) error {
		state, _, err := s.CheckCursor(at)
		if err != nil || state != store.CursorValid {
			return err
		}
		return s.Feed(section, seen.Seq, func(e store.FeedEntry) (more bool) {
			passed = append(passed, e)
			return e.Seq <= at.Seq
		})
	})
	if err != nil {
		return err
	}
	passed = slices.DeleteFunc(passed, func(e store.FeedEntry) bool { return e.Seq > at.Seq || c.model.unclear(e.Key) })
	return r.read(func(s *store.Reader) error {
		for _, e := range passed {
			received, err := hasReceived(s, e.Key, e.Version)
			if err != nil {
				return err
			}
			if !received && !isRightlyPassed(peer, e) {
				c.fail(InvariantCursors, "replica %d has its cursor in the feed of %d at %d, beyond %s at %d, which it lacks",
					r.number, peer.number, at.Seq, c.model.describe(e.Hash), e.Seq)
			}
		}
		return nil
	})
}

// isRightlyPassed reports whether a place in the feed of a machine may be passed
// by whoever lacks its version: it has read another feed with the same openings.
func isRightlyPassed(peer *Replica, e store.FeedEntry) bool {
	return passedAtTwin(peer, e) || passedInLostLife(peer, e)
}

// passedAtTwin reports whether a place in the feed of a machine is rightly passed
// by whoever has read the feed of its copy, or the other way round: both have the
// openings of before the copy, and there that version is covered by a later place.
func passedAtTwin(peer *Replica, e store.FeedEntry) bool {
	if peer.clone == nil {
		return false
	}
	twin := peer.clone.original
	if twin == peer {
		twin = peer.clone.copied
	}
	if twin.process == nil {
		return true // nobody can say any more
	}
	held, err := heldBy(twin, e.Key)
	return err == nil && !slices.ContainsFunc(held, func(h store.Held) bool { return h.Hash == e.Hash })
}

func heldBy(r *Replica, key merge.Key) (held []store.Held, err error) {
	err = r.read(func(s *store.Reader) error {
		held, err = s.Held(key)
		return err
	})
	return held, err
}

// hasReceived reports whether a store holds a version, or one that covers it,
// or keeps it parked or retracted.
func hasReceived(s *store.Reader, key merge.Key, v merge.Version) (bool, error) {
	held, err := s.Held(key)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(held, func(h store.Held) bool { return h.Hash == v.Hash || merge.Covers(h.Version, v) }) {
		return true, nil
	}
	parked, err := s.IsParked(key, v.Hash)
	if err != nil || parked {
		return parked, err
	}
	return s.IsRetracted(key, v.Hash)
}
