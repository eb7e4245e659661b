package sync

import (
	"errors"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/store"
)

// ErrProtocol blames a peer whose message is well formed but breaks a rule.
var ErrProtocol = errors.New("sync: protocol broken")

// awaited returns the pull that awaits the page with this id, nil for late
// answers. full says that the answer was cut where it was full.
func (e *Engine) awaited(p *peer, id uint64, full bool) *pull {
	if p.pull == nil || p.pull.request == 0 || p.pull.request != id {
		return nil
	}
	p.pull.request = 0
	p.pace.answered(e.now.Sub(p.pull.pageAt), e.cfg.RequestTimeout, full)
	return p.pull
}

func (e *Engine) onChangesPage(p *peer, m *ChangesPage) {
	pl := e.awaited(p, m.ID, !m.Done)
	if pl == nil || !e.ofThisLife(pl, m.Incarnation) {
		return
	}
	if pl.mode != byFeed || m.Next < pl.after || !m.Done && (m.Next == pl.after || len(m.Entries)+len(m.Records) == 0) {
		e.breach(pl, fmt.Errorf("%w: page from %d to %d", ErrProtocol, pl.after, m.Next))
		return
	}
	st := &step{pull: pl, peer: p.id, after: pl.after}
	pl.after, pl.since, pl.ended = m.Next, p.incarnation, m.Done
	st.cursor = e.cursorMove(pl, store.Cursor{Store: p.store, Incarnation: p.incarnation, Seq: m.Next})
	refs, err := e.missing(pl.section, m.Entries)
	switch {
	case errors.Is(err, ErrProtocol):
		e.breach(pl, err)
		return
	case err != nil: // this node cannot read its own store; the peer is not at fault
		e.counters.StoreErrors++
		p.notBefore = e.now.Add(e.cfg.HeartbeatEvery)
		e.abort(pl)
		return
	}
	st.refs = refs
	pl.steps = append(pl.steps, st)
	e.takeRecords(st, m.Records, e.news)
	e.advance(pl)
}

// ofThisLife reports whether a page is of the opening of the peer's store that
// this node was greeted by: a place in the feed of one life is none in that of
// another. A page of another ends the pull, and both greet each other anew.
func (e *Engine) ofThisLife(pl *pull, opened uint64) bool {
	if opened == 0 || store.Incarnation(opened) == pl.peer.incarnation {
		return true
	}
	e.abort(pl)
	e.greetAgain(pl.peer)
	return false
}

func (e *Engine) cursorMove(pl *pull, at store.Cursor) *store.CursorMove {
	return &store.CursorMove{Peer: pl.peer.id, Section: pl.section, Cursor: at}
}

// onCursorInvalid turns a pull by the feed into one by ranges.
func (e *Engine) onCursorInvalid(p *peer, m *CursorInvalid) {
	pl := e.awaited(p, m.ID, false)
	if pl == nil {
		return
	}
	if pl.mode != byFeed || pl.after == 0 {
		e.breach(pl, fmt.Errorf("%w: cursor refused to who has none", ErrProtocol))
		return
	}
	if len(pl.steps) > 0 { // the peer came back as another while its feed was read
		e.abort(pl)
		return
	}
	e.counters.CursorsInvalid++
	e.reconcile(pl, store.Span{}, false)
	e.askPage(pl)
}

func (e *Engine) onPage(p *peer, m *Page) {
	pl := p.pull
	if pl == nil {
		return
	}
	if pl.request != 0 && pl.request == m.ID {
		e.breach(pl, fmt.Errorf("%w: page of what was not asked for", ErrProtocol))
		return
	}
	g := pl.gapOf(m.ID)
	if g == nil {
		return
	}
	g.request = 0
	p.pace.answered(e.now.Sub(g.askedAt), e.cfg.RequestTimeout, !m.Done)
	if e.ofThisLife(pl, m.Incarnation) {
		e.takePage(pl, g, m)
	}
}

func (e *Engine) onRecords(p *peer, m *Records) {
	pl := p.pull
	if pl == nil || pl.getting == 0 || pl.getting != m.ID {
		return
	}
	pl.getting = 0
	st := pl.fetching()
	if st == nil || m.Answered == 0 || m.Answered > uint64(pl.asked) {
		e.breach(pl, fmt.Errorf("%w: %d keys answered", ErrProtocol, m.Answered))
		return
	}
	full := m.Answered < uint64(pl.asked)
	p.pace.answered(e.now.Sub(pl.getAt), e.cfg.RequestTimeout, full)
	st.taken(m.Answered)
	e.takeRecords(st, m.Records, e.news)
	e.advance(pl)
}

func (e *Engine) onBusy(p *peer, m *Busy) {
	pulling := p.pull != nil && p.pull.awaits(m.ID)
	if !pulling && e.fetchOf(p, m.ID) == nil {
		return
	}
	wait := min(time.Duration(m.Retry)*time.Millisecond, time.Minute)
	p.notBefore = e.now.Add(wait + time.Duration(e.random(int(busyRetry))))
	p.busyUntil = p.notBefore
	e.holdFetch(p, m.ID)
	if pulling {
		e.halt(p.pull)
	}
}

func (e *Engine) onError(p *peer, m *Error) {
	if m.Code == CodeFleet {
		e.blame(p, fmt.Errorf("%w: it says: %.60q", ErrIncompatible, m.Text))
	}
	e.refuseFetch(p, m.ID)
	if p.pull != nil && p.pull.awaits(m.ID) {
		p.notBefore = e.now.Add(e.cfg.HeartbeatEvery)
		e.retire(p.pull)
	}
}
