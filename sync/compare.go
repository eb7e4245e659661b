package sync

import (
	"bytes"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// takeHeads compares what a peer told with the own state, begins what follows
// from it, and returns the listed sections that differ. Errors: those of the
// store; the message then counts as lost.
func (e *Engine) takeHeads(p *peer, h *Heads) (differing map[merge.Section]bool, err error) {
	p.clock, _ = hlc.Unpack(h.Clock)
	if h.Time > 0 {
		p.skew = time.Duration(int64(h.Time)-e.store.Clock().Wall()) * time.Millisecond
	}
	p.remote.messages++
	e.takeWithheld(p, h)
	differing = map[merge.Section]bool{}
	err = e.store.View(func(r *store.Reader) error {
		for i := range h.Sections {
			section, err := merge.ParseSectionID(h.Sections[i].Section)
			switch {
			case err != nil:
			case !e.cfg.Sharing.Shares(section):
				e.withhold(section.Family)
			case e.takeHead(p, h, &h.Sections[i], section, r):
				differing[section] = true
			}
		}
		return nil
	})
	if err != nil {
		e.counters.StoreErrors++
	}
	return differing, err
}

// takeHead compares one section; it reports whether it differs.
func (e *Engine) takeHead(p *peer, h *Heads, told *SectionHead, section merge.Section, reader *store.Reader) (differs bool) {
	mine := e.store.State(section)
	if mine.Count == 0 && p.remote.of[section] == nil && len(p.remote.of) >= remoteMax {
		return true
	}
	r := p.remote.named(section, told.Section)
	r.told = p.remote.messages
	r.known, r.head, r.count = true, told.Head, told.Count
	at, hasCursor := cursorOf(reader, p, section)
	if len(told.Root) == 0 || !e.store.Ready() {
		// A root is not known yet: only the feed tells more.
		if hasCursor && at.Incarnation == p.incarnation && at.Seq < r.head {
			p.want(wish{section: section})
		}
		return true
	}
	if told.Count == uint64(mine.Count) && bytes.Equal(told.Root, saltedRoot(h.Salt, mine)) {
		e.becameEqual(p, r, mine, at)
		return false
	}
	e.differs(r)
	e.consider(p, r, mine, place{at, hasCursor})
	return true
}

// place is where this node stands in the feed of a peer, if anywhere.
type place struct {
	store.Cursor
	isKnown bool
}

// differs notes that a section was seen to differ.
func (e *Engine) differs(r *remote) {
	r.isEqual = false
	if r.since.IsZero() {
		r.since = e.now
	}
}

// takeAbsent marks the sections that this node has and the list of a peer does
// not mention, though it speaks of them: the peer holds nothing there.
func (e *Engine) takeAbsent(p *peer, h *Heads, differing map[merge.Section]bool) {
	for _, s := range e.ownWithin(h) {
		if s.Count == 0 || p.remote.isTold(s.Section) || p.withholds(s.Section) {
			continue
		}
		r := p.remote.named(s.Section, s.id)
		r.known, r.count = true, 0
		e.differs(r)
		differing[s.Section] = true
	}
	for _, r := range p.remote.within(h) {
		// What it lost, with its disk or to a retraction, and is not here either.
		if r.count > 0 && r.told != p.remote.messages && e.store.State(r.section).Count == 0 {
			r.count, r.since = 0, time.Time{}
		}
	}
}

// becameEqual moves the cursor from where it is to the peer's head: what it
// holds is held here.
func (e *Engine) becameEqual(p *peer, r *remote, mine store.SectionState, from store.Cursor) {
	r.becameEqual(mine)
	p.settle(mine.Section)
	if p.pull != nil && p.pull.section == mine.Section {
		return // it moves the cursor itself
	}
	at := store.Cursor{Store: p.store, Incarnation: p.incarnation, Seq: r.head}
	if from == at {
		return
	}
	e.apply(ApplyBatch{Batch: store.Batch{
		Path:   store.PathFeed,
		Cursor: &store.CursorMove{Peer: p.id, Section: mine.Section, Cursor: at},
	}}, func(_ store.Result, err error) {
		if err != nil {
			e.counters.StoreErrors++
		}
	})
}

// consider decides what to do about a section that differs: pull what the
// cursor has not seen; or, when the feed has nothing more and neither side
// moves, compare everything once.
func (e *Engine) consider(p *peer, r *remote, mine store.SectionState, at place) {
	section := r.section
	if r.count == 0 || r.refusedRoom == e.rooms && e.now.Before(r.refusedUntil) {
		return
	}
	if !at.isKnown && e.yields(p, r, mine) {
		p.yielded = true
		return
	}
	if !at.isKnown || at.Incarnation != p.incarnation || at.Seq < r.head {
		p.want(wish{section: section})
		return
	}
	now := standoff{sum: mine.Sum, mine: uint64(mine.Count), head: r.head, n: r.count}
	switch {
	case r.idle != now:
		r.idle, r.idleSince = now, e.now
	case r.listed == now:
		// Compared already: the peer lacks what is here, or has not pulled yet.
	case p.pull != nil && p.pull.forced && p.pull.section == section:
		// Being compared.
	case e.now.Sub(r.idleSince) >= e.cfg.HeartbeatEvery/2:
		p.want(wish{section: section, list: true})
	}
}

// yields reports whether a section of which there is no cursor is left to the
// peer for now. Were both to compare it at once, both would pay for the same:
// so who holds less goes first, and often nothing is left for the other. It is
// waited for until its state moves, or half an interval.
func (e *Engine) yields(p *peer, r *remote, mine store.SectionState) bool {
	holdsMore := uint64(mine.Count) > r.count || uint64(mine.Count) == r.count && e.cfg.Self > p.id
	if !holdsMore || r.section.Family == FleetFamily {
		return false
	}
	if r.yieldedTo.IsZero() {
		r.yieldedTo, r.yieldedAt = e.now, r.head
	}
	return r.head == r.yieldedAt && e.now.Sub(r.yieldedTo) < e.cfg.HeartbeatEvery/2
}

// cursor returns the position in the peer's feed; ok is false when there is
// none in its present store.
func (e *Engine) cursor(p *peer, section merge.Section) (at store.Cursor, ok bool) {
	err := e.store.View(func(r *store.Reader) error {
		at, ok = cursorOf(r, p, section)
		return nil
	})
	return at, ok && err == nil
}

// cursorOf is cursor within a snapshot.
func cursorOf(r *store.Reader, p *peer, section merge.Section) (at store.Cursor, ok bool) {
	at, err := r.Cursor(p.id, section)
	return at, err == nil && at.Store == p.store
}
