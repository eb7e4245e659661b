package sync

import (
	"fmt"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// gap is what is left of one that is being fetched: the first page of it is
// awaited when it has a request.
type gap struct {
	store.Span
	request uint64 // 0 for none
	askedAt time.Time
}

// askPages asks for the next page of each gap at hand. Two at a time keep a peer
// busy while this node looks at what came, and while the question travels; on a
// line that one page fills, the second would only come too late.
func (e *Engine) askPages(pl *pull) {
	rc, most := pl.ranges, 1
	if pl.peer.pace.isFull() {
		most = gapsMax
	}
	for len(rc.open) < most && len(rc.gaps) > 0 {
		rc.open = append(rc.open, &gap{Span: rc.gaps[0]})
		rc.gaps = rc.gaps[1:]
	}
	for _, g := range rc.open {
		n := rc.awaited()
		if n >= most || len(pl.steps)+n >= stepsMax {
			return
		}
		if g.request != 0 {
			continue
		}
		g.request, g.askedAt = e.newID(), e.now
		e.send(pl.peer, &PageReq{
			ID: g.request, Section: pl.section.ID(), After: []byte(g.After), UpTo: []byte(g.UpTo), Bytes: pl.peer.pace.limit(),
		})
	}
}

// awaited returns how many pages of gaps are.
func (rc *reconciliation) awaited() (n int) {
	for _, g := range rc.open {
		if g.request != 0 {
			n++
		}
	}
	return n
}

// gapOf returns the gap of which a page is awaited, nil for late answers.
func (pl *pull) gapOf(request uint64) *gap {
	if pl.ranges == nil || request == 0 {
		return nil
	}
	for _, g := range pl.ranges.open {
		if g.request == request {
			return g
		}
	}
	return nil
}

// awaits reports whether a request of the pull is.
func (pl *pull) awaits(request uint64) bool {
	return request != 0 && (pl.request == request || pl.getting == request) || pl.gapOf(request) != nil
}

// isLate reports whether an answer did not come in time.
func (pl *pull) isLate(now time.Time, timeout time.Duration) bool {
	if !pl.deadline.IsZero() && now.After(pl.deadline) {
		return true
	}
	return pl.ranges != nil && slices.ContainsFunc(pl.ranges.open, func(g *gap) bool {
		return g.request != 0 && now.Sub(g.askedAt) > timeout
	})
}

// takePage takes one page of a gap.
func (e *Engine) takePage(pl *pull, g *gap, m *Page) {
	rc := pl.ranges
	last := store.Position(m.Last)
	if !m.Done && (len(m.Records) == 0 || !isPosition(pl.section, last) || !g.Contains(last)) {
		e.breach(pl, fmt.Errorf("%w: page does not go on", ErrProtocol))
		return
	}
	page := g.Span
	if m.Done {
		rc.open = slices.DeleteFunc(rc.open, func(o *gap) bool { return o == g })
	} else {
		g.After, page.UpTo = last, last
	}
	st := &step{pull: pl, peer: pl.peer.id, asked: []question{{Span: page}}}
	pl.steps = append(pl.steps, st)
	sum, ok := e.takeRecords(st, m.Records, e.newsOfPage)
	if total := sum.Bytes(); ok && string(total[:]) != string(m.Sum) {
		e.breach(pl, fmt.Errorf("%w: page does not have the sum that it states", ErrProtocol))
		return
	}
	e.advance(pl)
}

// isPosition reports whether a position is one of a version: it would be right
// to blame whoever asks for what comes after anything else.
func isPosition(section merge.Section, p store.Position) bool {
	order, _, ok := p.Split()
	if !ok || len(p) > positionBytesMax {
		return false
	}
	_, err := merge.ParseOrder(section, order)
	return err == nil
}
