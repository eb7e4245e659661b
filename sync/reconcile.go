package sync

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/fleetsync/fleetd/store"
)

// reconciliation is what a pull by ranges has still to do: spans of its section
// by position, none of which overlap. It walks from the beginning of the
// section to its end, so that what waits stays small.
type reconciliation struct {
	ask   []question // to be asked of
	asked []question // of these an answer is awaited
	salt  []byte     // of that question
	// gaps hold nothing here and much at the peer: they are fetched by pages, a few
	// at a time. What is left of those at hand is open.
	gaps []store.Span
	open []*gap
	// from is the place in the peer's feed that every answer took into account.
	from    store.Cursor
	exact   bool // an audit: prints of every item
	partial bool // something was left out: no cursor may follow

	lent     int        // gaps that other peers are asked for
	lender   *pull      // the pull that lent the one gap of this
	borrowed store.Span // what it was
}

func (e *Engine) reconcile(pl *pull, span store.Span, exact bool) {
	pl.mode = byRanges
	pl.ranges = &reconciliation{ask: []question{{Span: span}}, exact: exact}
}

// askRanges sends the next question, or asks for the next page of a gap. At the
// end the cursor moves to where the peer's feed was when it began.
func (e *Engine) askRanges(pl *pull) {
	rc := pl.ranges
	switch {
	case len(rc.ask) > 0:
		if rc.awaited() == 0 {
			e.askRecon(pl)
		}
	case len(rc.open)+len(rc.gaps) > 0:
		e.askPages(pl)
	case rc.lent > 0: // whoever gives a gap back goes on with this
	default:
		pl.ended = true
		if rc.lender == nil && !rc.exact && !rc.partial && rc.from != (store.Cursor{}) {
			pl.steps = append(pl.steps, &step{pull: pl, peer: pl.peer.id, cursor: e.cursorMove(pl, rc.from)})
			e.emitReady(pl.steps[0])
		}
	}
}

func (e *Engine) askRecon(pl *pull) {
	m := &Recon{ID: e.newID(), Section: pl.section.ID(), Salt: e.salt(), Exact: pl.ranges.exact}
	var asked int
	err := e.store.View(func(r *store.Reader) (err error) {
		asked, err = fillRecon(m, r, pl.section, pl.ranges.ask)
		return err
	})
	if err != nil { // this node cannot read its own store; the peer is not at fault
		if !errors.Is(err, store.ErrNotReady) {
			e.counters.StoreErrors++
		}
		pl.peer.notBefore = e.now.Add(e.cfg.HeartbeatEvery)
		e.abort(pl)
		return
	}
	rc := pl.ranges
	rc.asked, rc.ask, rc.salt = rc.ask[:asked:asked], rc.ask[asked:], m.Salt
	e.request(pl, m)
}

// salt returns what makes the hashes of one message its own.
func (e *Engine) salt() []byte {
	salt := make([]byte, saltBytes)
	if _, err := io.ReadFull(e.cfg.Rand, salt); err != nil {
		panic("sync: randomness ended: " + err.Error())
	}
	return salt
}

func (e *Engine) onReconAnswer(p *peer, m *ReconAnswer) {
	if p.pull == nil || p.pull.ranges == nil || len(p.pull.ranges.asked) == 0 {
		return
	}
	asked := p.pull.ranges.asked
	spans, isWhole, broken := m.answers(asked)
	pl := e.awaited(p, m.ID, !isWhole)
	if pl == nil || !e.ofThisLife(pl, m.Incarnation) {
		return
	}
	if broken != nil {
		e.breach(pl, broken)
		return
	}
	rc := pl.ranges
	if rc.from == (store.Cursor{}) {
		rc.from = store.Cursor{Store: p.store, Incarnation: p.incarnation, Seq: m.Head}
	}
	rc.asked = nil
	d := division{pull: pl, asked: asked, message: m}
	err := e.store.View(func(r *store.Reader) error {
		d.reader = r
		return d.take(spans)
	})
	switch {
	case errors.Is(err, ErrProtocol):
		e.breach(pl, err)
		return
	case err != nil:
		e.counters.StoreErrors++
		p.notBefore = e.now.Add(e.cfg.HeartbeatEvery)
		e.abort(pl)
		return
	}
	rc.ask = append(d.ask, rc.ask...)
	slices.SortFunc(rc.ask, func(a, b question) int { return cmp.Compare(a.After, b.After) })
	rc.bound()
	if len(d.refs) > 0 {
		pl.steps = append(pl.steps, &step{pull: pl, peer: p.id, refs: d.refs, tags: d.tags, salt: rc.salt, asked: asked})
	}
	e.advance(pl)
}

// answers returns the spans of an answer to questions, and whether it answers
// all of them. Errors: ErrProtocol.
func (m *ReconAnswer) answers(asked []question) (spans []store.Span, isWhole bool, err error) {
	var c chain
	if spans, err = c.spans(asked[0].After, m.Spans); err != nil {
		return nil, false, err
	}
	if len(spans) == 0 {
		return nil, false, fmt.Errorf("%w: answer about nothing", ErrProtocol)
	}
	end, last := spans[len(spans)-1].UpTo, asked[len(asked)-1].UpTo
	if end != last && last != "" && (end == "" || end > last) {
		return nil, false, fmt.Errorf("%w: answer about more than was asked", ErrProtocol)
	}
	return spans, end == last, nil
}

// bound leaves to another exchange what is too much for this one.
func (rc *reconciliation) bound() {
	if len(rc.ask) > waitingMax {
		rc.ask, rc.partial = rc.ask[:waitingMax], true
	}
	if len(rc.gaps) > waitingMax {
		rc.gaps, rc.partial = rc.gaps[:waitingMax], true
	}
}

// askAgain puts questions back whose answers will not come, or were dropped. What
// followed from those answers goes: it would be asked of twice.
func (rc *reconciliation) askAgain(questions []question) {
	for _, q := range questions {
		if slices.ContainsFunc(rc.ask, func(o question) bool { return o.covers(q.Span) }) {
			continue
		}
		rc.ask = slices.DeleteFunc(rc.ask, func(o question) bool { return q.covers(o.Span) })
		rc.gaps = slices.DeleteFunc(rc.gaps, q.covers)
		q.held = nil
		at, _ := slices.BinarySearchFunc(rc.ask, q.After, func(o question, p store.Position) int { return cmp.Compare(o.After, p) })
		rc.ask = slices.Insert(rc.ask, at, q)
	}
}
