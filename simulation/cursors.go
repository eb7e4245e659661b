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
		for _, peer := range c.replicas {
			if r == peer || r.process == nil || peer.process == nil {
				continue
			}
			for _, s := range peer.Store().Sections() {
				if err := c.checkCursor(r, peer, s.Section); err != nil {
					c.fail(InvariantSoundDisk, "reading a store: %v", err)
				}
			}
		}
	}
}

func (c *Cluster) checkCursor(r, peer *Replica, section merge.Section) error {
	var at store.Cursor
	err := r.read(func(s *store.Reader) (err error) {
		at, err = s.Cursor(peer.ID(), section)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var passed []store.FeedEntry
	err = peer.read(func(s *store.Reader) error {
		state, _, err := s.CheckCursor(at)
		if err != nil || state != store.CursorValid {
			return err
		}
		return s.Feed(section, 0, func(e store.FeedEntry) (more bool) {
			passed = append(passed, e)
			return e.Seq <= at.Seq
		})
	})
	if err != nil {
		return err
	}
	return r.read(func(s *store.Reader) error {
		for _, e := range passed {
			if e.Seq > at.Seq || c.model.cloned[e.Key] {
				continue
			}
			received, err := hasReceived(s, e.Key, e.Version)
			if err != nil {
				return err
			}
			if !received {
				c.fail(InvariantCursors, "replica %d has its cursor in the feed of %d at %d, beyond %s at %d, which it lacks",
					r.number, peer.number, at.Seq, c.model.describe(e.Hash), e.Seq)
			}
		}
		return nil
	})
}

// hasReceived reports whether a store holds a version, or one that covers it,
// or keeps it parked.
func hasReceived(s *store.Reader, key merge.Key, v merge.Version) (bool, error) {
	held, err := s.Held(key)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(held, func(h store.Held) bool { return h.Hash == v.Hash || merge.Covers(h.Version, v) }) {
		return true, nil
	}
	return s.IsParked(key, v.Hash)
}
