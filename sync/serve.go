package sync

import (
	"errors"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// serve checks what every request has in common, and asks for its answer to be
// read in one snapshot of the store. Nothing is read here: a request costs the
// engine no more than any other message. The responder keeps no state between
// requests.
func (e *Engine) serve(p *peer, id uint64, sectionID string, answer func(*responder) (Message, error)) {
	section, err := merge.ParseSectionID(sectionID)
	if err != nil || !e.cfg.Sharing.Shares(section) {
		e.send(p, &Error{ID: id, Code: CodeNotShared})
		return
	}
	p.budgets.answers.refill(e.now)
	wait := p.budgets.answers.overdrawn()
	if wait > 0 || len(p.answering) >= answersMax {
		e.counters.BusySent++
		e.send(p, &Busy{ID: id, Retry: uint64(max(wait, busyRetry) / time.Millisecond)})
		return
	}
	e.lastAnswer++
	p.answering = append(p.answering, e.lastAnswer)
	st, bytesMax := e.store, e.cfg.PageBytes
	e.out.Answer = append(e.out.Answer, Answer{To: p.id, id: e.lastAnswer, section: section, read: func() Reply {
		return read(st, id, responder{store: st.ID(), opened: st.Incarnation(), section: section, bytesMax: bytesMax}, answer)
	}})
}

// read carries out what serve asks for.
func read(st *store.Store, id uint64, r responder, answer func(*responder) (Message, error)) Reply {
	var m Message
	err := st.View(func(reader *store.Reader) (err error) {
		r.reader = reader
		m, err = answer(&r)
		return err
	})
	switch {
	case errors.Is(err, ErrProtocol):
		m = &Error{ID: id, Code: CodeOutOfProtocol}
	case err != nil:
		m = &Error{ID: id, Code: CodeUnavailable}
	}
	return Reply{Message: m, cost: r.cost + answerCost, err: err}
}

// Answered tells that the reply to a request was sent, or the zero Reply that
// it will not be.
func (e *Engine) Answered(a Answer, reply Reply) {
	if b := e.budgets[a.To]; b != nil {
		b.answers.refill(e.now)
		b.answers.charge(reply.cost)
	}
	p := e.peers[a.To]
	if p == nil || !slices.Contains(p.answering, a.id) {
		return // that connection has ended
	}
	p.answering = slices.DeleteFunc(p.answering, func(id uint64) bool { return id == a.id })
	if r := p.remote.of[a.section]; r != nil && len(RecordsOf(reply.Message)) > 0 {
		r.served = true // they come back in the peer's feed
	}
	switch {
	case errors.Is(reply.err, ErrProtocol):
		e.blame(p, reply.err)
	case reply.err != nil:
		e.counters.StoreErrors++
	}
}

func (e *Engine) serveChanges(p *peer, m *Changes) {
	e.serve(p, m.ID, m.Section, func(r *responder) (Message, error) { return r.asked(m.Bytes).changes(m) })
}

func (e *Engine) serveGet(p *peer, m *Get) {
	e.serve(p, m.ID, m.Section, func(r *responder) (Message, error) { return r.asked(m.Bytes).get(m) })
}

func (e *Engine) servePage(p *peer, m *PageReq) {
	if section, err := merge.ParseSectionID(m.Section); err == nil {
		p.fills, p.fillsAt = section, e.now
	}
	e.serve(p, m.ID, m.Section, func(r *responder) (Message, error) { return r.asked(m.Bytes).page(m) })
}

// serveRecon refuses while the digests are built: the feed is served meanwhile.
func (e *Engine) serveRecon(p *peer, m *Recon) {
	if !e.store.Ready() {
		e.counters.BusySent++
		e.send(p, &Busy{ID: m.ID, Retry: uint64(notReadyRetry / time.Millisecond)})
		return
	}
	e.serve(p, m.ID, m.Section, func(r *responder) (Message, error) { return r.recon(m) })
}
