package sync

import (
	"bytes"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// takeHeads compares what a peer told with the own state, begins what follows
// from it, and returns the listed sections that differ.
func (e *Engine) takeHeads(p *peer, h *Heads) map[merge.Section]bool {
	p.clock, _ = hlc.Unpack(h.Clock)
	p.withheld = h.Withheld
	if h.Time > 0 {
		p.skew = time.Duration(int64(h.Time)-e.store.Clock().Wall()) * time.Millisecond
	}
	differing := map[merge.Section]bool{}
	for _, s := range h.Sections {
		section, err := merge.ParseSectionID(s.Section)
		if err != nil {
			continue
		}
		if !e.cfg.Share(section) {
			e.withhold(section.Family)
			continue
		}
		mine := e.store.State(section)
		if mine.Count == 0 && p.remote[section] == nil && len(p.remote) >= remoteMax {
			differing[section] = true
			continue
		}
		r := p.section(section)
		r.known, r.head, r.count = true, s.Head, s.Count
		if s.Count == uint64(mine.Count) && bytes.Equal(s.Root, saltedRoot(h.Salt, mine)) {
			e.becameEqual(p, r, mine)
			continue
		}
		differing[section] = true
		e.differs(r)
		e.consider(p, section, r, mine)
	}
	return differing
}

// withhold notes a family that is not shared here, once a peer or this build
// has named it, so that partners do not wait for it.
func (e *Engine) withhold(family string) {
	if e.cfg.Share(merge.Section{Family: family}) || len(e.withheld) == sectionsMax {
		return // a scope of it is withheld, not the family
	}
	if at, found := slices.BinarySearch(e.withheld, family); !found {
		e.withheld = slices.Insert(e.withheld, at, family)
	}
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
	listed := sectionsOf(h)
	for _, s := range e.store.Sections() {
		if s.Count == 0 || listed[s.Section] || !e.cfg.Share(s.Section) || !h.speaksOf(s.Section) || p.withholds(s.Section) {
			continue
		}
		r := p.section(s.Section)
		r.known, r.count = true, 0
		e.differs(r)
		differing[s.Section] = true
	}
	for section, r := range p.remote {
		// What it lost, with its disk or to a retraction, and is not here either.
		if r.count > 0 && !listed[section] && h.speaksOf(section) && e.store.State(section).Count == 0 {
			r.count, r.since = 0, time.Time{}
		}
	}
}

// becameEqual moves the cursor to the peer's head: what it holds is held here.
func (e *Engine) becameEqual(p *peer, r *remote, mine store.SectionState) {
	r.equal, r.isEqual, r.since = mine, true, time.Time{}
	r.idle = standoff{}
	p.unwant(mine.Section)
	if p.pull != nil && p.pull.section == mine.Section {
		return // it moves the cursor itself
	}
	at := store.Cursor{Store: p.store, Incarnation: p.incarnation, Seq: r.head}
	if have, ok := e.cursor(p, mine.Section); ok && have == at {
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
// moves, list everything once.
func (e *Engine) consider(p *peer, section merge.Section, r *remote, mine store.SectionState) {
	if r.count == 0 || e.now.Before(r.refusedUntil) {
		return
	}
	at, ok := e.cursor(p, section)
	if !ok || at.Incarnation != p.incarnation || at.Seq < r.head {
		p.want(wish{section: section})
		return
	}
	now := standoff{sum: mine.Sum, mine: uint64(mine.Count), head: r.head, n: r.count}
	switch {
	case r.idle != now:
		r.idle, r.idleSince = now, e.now
	case r.listed == now:
		// Listed already: the peer lacks what is here, or has not pulled yet.
	case p.pull != nil && p.pull.forced && p.pull.section == section:
		// Being listed.
	case e.now.Sub(r.idleSince) >= e.cfg.HeartbeatEvery/2:
		p.want(wish{section: section, list: true})
	}
}

// cursor returns the position in the peer's feed; ok is false when there is
// none in its present store.
func (e *Engine) cursor(p *peer, section merge.Section) (at store.Cursor, ok bool) {
	err := e.store.View(func(r *store.Reader) (err error) {
		at, err = r.Cursor(p.id, section)
		return err
	})
	return at, err == nil && at.Store == p.store
}
