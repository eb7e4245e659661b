package sync

import (
	"cmp"
	"slices"

	"github.com/fleetsync/fleetd/store"
)

// What a node lacks altogether, several peers can give it at a time: a pull by
// ranges lends gaps that it has not come to yet to peers that have nothing else
// to do. A peer other than the one that told of a gap may hold other versions
// there, or fewer: what it brought is compared with the first once more, which
// costs nothing when it is the same.

// lend begins pulls of gaps.
func (e *Engine) lend() {
	for _, id := range e.order {
		pl := e.peers[id].pull
		if pl == nil || pl.ranges == nil || len(pl.ranges.gaps) == 0 || pl.halted {
			continue
		}
		_, count := e.running()
		for _, other := range e.order {
			q := e.peers[other]
			if count >= pullsMax || len(pl.ranges.gaps) == 0 {
				break
			}
			if e.mayLend(q, pl) {
				e.lendTo(q, pl)
				count++
			}
		}
	}
}

// mayLend reports whether a peer is idle and holds a good part of the section.
func (e *Engine) mayLend(q *peer, pl *pull) bool {
	if !q.greeted || q.pull != nil || q.barren || e.now.Before(q.notBefore) || q.paused[pl.section] != nil {
		return false
	}
	r := q.remote.of[pl.section]
	return r != nil && 2*r.count >= pl.peer.remote.section(pl.section).count
}

// lendTo has a peer give the last gap of a pull.
func (e *Engine) lendTo(q *peer, pl *pull) {
	last := len(pl.ranges.gaps) - 1
	gap := pl.ranges.gaps[last]
	pl.ranges.gaps = pl.ranges.gaps[:last]
	pl.ranges.lent++
	e.lastTurn++
	q.turn = e.lastTurn
	q.pull = &pull{
		peer: q, section: pl.section, life: q.incarnation, mode: byRanges, newsAt: e.now,
		ranges: &reconciliation{gaps: []store.Span{gap}, lender: pl, borrowed: gap},
	}
	e.counters.Pulls++
	e.counters.Lent++
	e.askPage(q.pull)
}

// giveBack ends a pull of a lent gap, at its end or before it: what is left of
// the gap is a gap again, and what was brought is compared.
func (e *Engine) giveBack(pl *pull) {
	rc := pl.ranges
	lender := rc.lender
	if lender == nil {
		return
	}
	rc.lender = nil
	if pl.applied == 0 {
		pl.peer.notBefore = e.now.Add(e.cfg.HeartbeatEvery)
	}
	if lender.dead {
		return
	}
	lender.ranges.lent--
	brought := rc.borrowed
	for _, left := range rc.left() {
		brought.UpTo = left.After
		lender.ranges.insertGap(left)
	}
	if !brought.IsEmpty() {
		lender.ranges.askAgain([]question{{Span: brought}})
	}
	if lender.peer.pull == lender {
		e.advance(lender)
	}
}

// left returns what a pull of a lent gap has not come to.
func (rc *reconciliation) left() []store.Span {
	if len(rc.open) > 0 {
		return []store.Span{rc.open[0].Span}
	}
	return rc.gaps
}

// insertGap puts a gap in its place.
func (rc *reconciliation) insertGap(gap store.Span) {
	at, _ := slices.BinarySearchFunc(rc.gaps, gap.After, func(s store.Span, p store.Position) int { return cmp.Compare(s.After, p) })
	rc.gaps = slices.Insert(rc.gaps, at, gap)
}
