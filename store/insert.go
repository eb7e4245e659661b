package store

import (
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/merge"
)

// outcome is what a version meets at its key.
type outcome uint8

const (
	outcomeHeld    outcome = iota // no held version covers it
	outcomeKnown                  // it is held already
	outcomeCovered                // a held version covers it
)

// join is merge.Insert over rows: it returns the held versions after h has
// come, and those of the old ones that h covers. The argument is not changed.
func join(held []Held, h *Held) (next, covered []Held, _ outcome) {
	for i := range held {
		if merge.Compare(held[i].Version, h.Version) == 0 {
			return held, nil, outcomeKnown
		}
		if merge.Covers(held[i].Version, h.Version) {
			return held, nil, outcomeCovered
		}
	}
	next = make([]Held, 0, len(held)+1)
	at := 0
	for i := range held {
		if merge.Covers(h.Version, held[i].Version) {
			covered = append(covered, held[i])
			continue
		}
		next = append(next, held[i])
		if merge.Compare(held[i].Version, h.Version) < 0 {
			at = len(next)
		}
	}
	return slices.Insert(next, at, *h), covered, outcomeHeld
}

// insert stages one record: into the held versions of its key, or into the
// counts when it brings nothing.
func (g *stage) insert(req *request, e *entry) error {
	freed := false
	if e.parked || g.hasParked(e.rec.Envelope.LastWriterID) {
		var err error
		if freed, err = g.free(&e.rec); err != nil || e.parked && !freed {
			return err
		}
	}
	ks, err := g.key(e.rec.Key)
	if err != nil {
		return err
	}
	h := Held{Version: e.rec.Version(), Seq: g.tail.seq + 1, Size: e.packed.size(), Blobs: len(e.rec.Blobs) > 0}
	next, covered, outcome := join(ks.row.held, &h)
	if marked, err := g.isRetracted(ks, h.Hash); err != nil {
		return err
	} else if marked {
		outcome = outcomeKnown // the next judging brings it back
	}
	if outcome != outcomeHeld {
		return g.unheld(req, e, ks, &h, outcome, freed)
	}
	g.change(ks)
	g.tail.seq++
	g.setRecord(ks, e, h.Seq)
	g.setFeed(ks, &h)
	if err := g.refer(ks, &e.rec, h.Seq); err != nil {
		return err
	}
	g.effects = append(g.effects, effect{newMove(ks, &h, false), h.Seq})
	for i := range covered {
		g.cover(req, ks, &covered[i])
	}
	wasConflict, isConflict := len(ks.row.held) > 1, len(next) > 1
	if wasConflict != isConflict {
		g.setConflict(ks, isConflict)
	}
	old := ks.row
	ks.row.held = next
	if head := ks.row.head(); head.Hash == h.Hash {
		if err := g.moveHead(req, ks, &old, head, &e.rec); err != nil {
			return err
		}
	}
	req.result.Applied++
	req.commit.Records = appendSized(req.commit.Records, e.rec, len(req.entries))
	return nil
}

// unheld counts a record that brings nothing. One that was parked until now is
// kept in history.
func (g *stage) unheld(req *request, e *entry, ks *keyState, h *Held, o outcome, freed bool) error {
	if req.strict {
		return fmt.Errorf("%w: %s", ErrCovered, e.rec.Key)
	}
	if o == outcomeKnown {
		req.result.Known++
		return nil
	}
	req.result.Covered++
	if !freed {
		return nil
	}
	past, err := g.pastOf(ks)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(past, func(p Past) bool { return p.Hash == h.Hash }) {
		return nil
	}
	g.change(ks)
	g.tail.seq++
	g.setRecord(ks, e, h.Seq)
	g.setPast(ks, h)
	return g.refer(ks, &e.rec, h.Seq)
}

// cover moves one held version to history: its record stays where it is.
func (g *stage) cover(req *request, ks *keyState, h *Held) {
	key := feedKey(g.arena.room(feedKeyBytes), ks.sec.ordinal, h.Seq)
	g.arena.keep(key)
	g.delete(key)
	g.setPast(ks, h)
	g.effects = append(g.effects, effect{move: newMove(ks, h, true)})
	req.commit.Covered = append(req.commit.Covered, Ref{ks.key, h.Writer, h.Hash})
}

// moveHead stages what follows from a new head: its event and the indexer's
// rows.
func (g *stage) moveHead(req *request, ks *keyState, old *row, head *Held, rec *merge.Record) error {
	g.tail.event++
	head.Event = g.tail.event
	event := Event{Seq: head.Event, Path: req.path, Ref: Ref{ks.key, head.Writer, head.Hash}}
	previous := ks.head
	ks.head = rec
	if indexer := g.s.cfg.Indexer; indexer != nil {
		event.Type = indexer.EventType(ks.key.Kind, head.Deleted)
		if oldHead := old.head(); previous == nil && oldHead != nil {
			var err error
			if previous, err = g.record(ks, oldHead); err != nil {
				return err
			}
		}
		if err := g.index(previous, rec); err != nil {
			return err
		}
	}
	g.setEvent(ks, &event)
	req.commit.Events = appendSized(req.commit.Events, event, len(req.entries))
	return nil
}

// appendSized is append that makes room for n elements at once.
func appendSized[T any](to []T, v T, n int) []T {
	if to == nil {
		to = make([]T, 0, n)
	}
	return append(to, v)
}

// record reads the record of a version that an earlier transaction wrote.
func (g *stage) record(ks *keyState, h *Held) (*merge.Record, error) {
	key := appendSeqKey(nil, prefixRecord, ks.sec.ordinal, ks.key, h.Seq)
	stored, err := g.get(key)
	if err != nil {
		return nil, missing(err, "record of %s seq %d", ks.key, h.Seq)
	}
	value, err := openValue(key, stored)
	if err != nil {
		return nil, err
	}
	rec, err := decodeRecord(ks.key, h, value)
	return &rec, err
}
