package store

import (
	"errors"

	"github.com/fleetsync/fleetd/merge"
)

// commit writes the requests of a group in one engine update and sets their
// outcomes. A request that fails by itself does not touch the others; when the
// update fails, all fail and the memory of the store is as it was.
func (s *Store) commit(group []*request) {
	if err := s.settleDoubt(); err != nil {
		fail(group, err)
		return
	}
	g := s.stage
	g.written = false // also when the update ends before it begins
	err := s.engine.Update(func(tx Txn) error {
		g.begin(tx)
		for _, req := range group {
			g.member(req)
			if g.fatal != nil {
				return g.fatal
			}
		}
		if err := g.flush(); err != nil {
			return err
		}
		g.written = true
		return nil
	})
	switch {
	case err == nil:
		s.failing.Store(nil)
		s.adopt(g)
	case errors.Is(err, ErrTooLarge) && len(group) > 1:
		half := len(group) / 2
		s.commit(group[:half])
		s.commit(group[half:])
		return
	default:
		// The engine says that nothing happened. When it failed as late as in
		// its own commit, the disk is believed rather than the engine: at once,
		// since what did happen would else be told to no partner until the next
		// commit, or before that commit when reading back fails too.
		s.failing.Store(&err)
		s.doubt = g.written
		fail(group, err)
		if s.settleDoubt() != nil {
			return
		}
	}
	for _, req := range group {
		req.commit.Seq = g.tail.seq
	}
}

func fail(group []*request, err error) {
	for _, req := range group {
		req.err = err
		req.result, req.commit = Result{}, Commit{}
	}
}

// adopt makes the memory of the store follow a transaction that is durable.
// The digests come first: the head of a section never shows before what it is
// the head of.
func (s *Store) adopt(g *stage) {
	cuts := s.digests.adopt(g.moves)
	s.sections.adopt(g.changed)
	s.parked.adopt(g.parked)
	s.retracted.Add(int64(g.retracted))
	s.blobs.adopt(g.blobs)
	s.moveTail(g.tail)
	s.recut(cuts)
}

// settleDoubt reads the memory of the store back from the engine after an
// update failed in a way that may have left it done.
func (s *Store) settleDoubt() error {
	if !s.doubt {
		return nil
	}
	err := s.engine.View(func(tx Txn) error {
		end, err := loadTail(tx)
		if err != nil {
			return err
		}
		states, err := loadSections(tx)
		if err != nil {
			return err
		}
		parked, err := loadParked(tx)
		if err != nil {
			return err
		}
		retracted, err := countRetracted(tx)
		if err != nil {
			return err
		}
		sections := newSectionTable(states)
		b := newBuilder(map[merge.Section]*buckets{}, sections.ordinals())
		if _, err := b.rows(tx, 0); err != nil {
			return err
		}
		sections.prove(b.prove)
		s.digests.replace(b.of)
		s.sections.replace(sections)
		s.parked = parked
		s.retracted.Store(retracted)
		s.moveTail(end)
		return nil
	})
	s.doubt = err != nil
	return err
}
