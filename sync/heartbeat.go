package sync

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// ErrIncompatible blames a peer of another fleet or protocol.
var ErrIncompatible = errors.New("sync: incompatible peer")

func (e *Engine) hello() Hello {
	id := e.store.ID()
	heads, _ := e.heads("", everySection)
	return Hello{Fleet: e.cfg.Fleet[:], Store: id[:], Incarnation: uint64(e.store.Incarnation()), Heads: heads}
}

func (e *Engine) sendHello(p *peer) {
	p.helloAt = e.now
	h := e.hello()
	e.send(p, &h)
}

// greetAgain greets a peer that has come back as another, now and then.
func (e *Engine) greetAgain(p *peer) {
	if e.now.Sub(p.helloAt) >= e.cfg.RequestTimeout/4 {
		e.sendHello(p)
	}
}

func (e *Engine) onHello(p *peer, m *Hello, answer bool) {
	if string(m.Fleet) != string(e.cfg.Fleet[:]) {
		e.blame(p, fmt.Errorf("%w: it belongs to the fleet %x", ErrIncompatible, m.Fleet[:8]))
		e.send(p, &Error{Code: CodeFleet, Text: "another fleet"})
		return
	}
	if !e.mayCompare(p, &m.Heads) {
		return // it greets again
	}
	opened := store.Incarnation(m.Incarnation)
	if p.greeted && (p.store != store.ID(m.Store) || p.incarnation != opened) {
		e.forgetLife(p)
	}
	if !p.greeted {
		e.lookForBlobs()
	}
	p.greeted = true
	p.store, p.incarnation = store.ID(m.Store), opened
	if answer {
		ack := HelloAck{Hello: e.hello()}
		ack.Heads.WithheldSections = e.withheldOf(&m.Heads)
		e.send(p, &ack)
	}
	differing, err := e.takeHeads(p, &m.Heads)
	if err == nil {
		e.takeAbsent(p, &m.Heads, differing)
	}
	whole := err == nil && m.Heads.To == ""
	p.compared = p.compared || whole
	p.compare = p.compare || !whole // the greeting did not tell all
}

// forgetLife drops what was under way with the former opening of a peer's
// store: answers of that one, which may still come, say nothing of the new.
func (e *Engine) forgetLife(p *peer) {
	if p.pull != nil {
		e.abort(p.pull)
	}
	e.dropFetches(p)
	e.loseCheck(p.id)
	clear(p.absent)
	p.sent, p.wants, p.compared = nil, wishes{}, false
	p.remote = newRemotes()
}

// sendHeartbeat tells a peer the state of every shared section.
func (e *Engine) sendHeartbeat(p *peer) {
	if !p.greeted {
		return
	}
	p.compare = false
	p.sent = map[string]map[merge.Section]store.SectionState{}
	for after := ""; ; {
		h, states := e.heads(after, everySection)
		p.sent[string(h.Salt)] = states
		e.send(p, &Heartbeat{Heads: h, Incarnation: uint64(e.store.Incarnation())})
		if h.To == "" {
			return
		}
		after = h.To
	}
}

func (e *Engine) onHeartbeat(p *peer, m *Heartbeat) {
	if !p.greeted {
		return
	}
	if store.Incarnation(m.Incarnation) != p.incarnation {
		// Of a life before the last greeting, or after it: a head of one life
		// is no place in the feed of another.
		e.greetAgain(p)
		return
	}
	if len(m.Echo) > 0 && p.sent[string(m.Echo)] == nil {
		return // the answer to an older heartbeat
	}
	if len(m.Echo) == 0 && !e.mayCompare(p, &m.Heads) {
		return
	}
	differing, err := e.takeHeads(p, &m.Heads)
	if err != nil {
		return
	}
	if len(m.Echo) > 0 {
		e.takeEcho(p, m)
		return
	}
	e.takeAbsent(p, &m.Heads, differing)
	e.send(p, &Heartbeat{
		Heads: e.answer(&m.Heads, differing), Echo: m.Heads.Salt, Incarnation: uint64(e.store.Incarnation()),
	})
}

// answer lists the sections of a heartbeat that differ, also those of which
// nothing is held here.
func (e *Engine) answer(asked *Heads, differing map[merge.Section]bool) Heads {
	h, _ := e.heads(asked.After, func(s merge.Section) bool { return differing[s] })
	h.WithheldSections = e.withheldOf(asked)
	listed := sectionsOf(&h)
	for _, section := range sortedSections(differing) {
		if !listed[section] && h.speaksOf(section) {
			h.Sections = append(h.Sections, SectionHead{
				Section: section.ID(), Root: saltedRoot(h.Salt, store.SectionState{Section: section}),
			})
		}
	}
	slices.SortFunc(h.Sections, func(a, b SectionHead) int { return strings.Compare(a.Section, b.Section) })
	if len(h.Sections) > sectionsMax {
		h.Sections = h.Sections[:sectionsMax]
		h.To = h.Sections[sectionsMax-1].Section
	}
	return h
}

// takeEcho takes what the answer to a heartbeat does not say: a section that
// was sent and is not listed is equal.
func (e *Engine) takeEcho(p *peer, m *Heartbeat) {
	for section, state := range p.sent[string(m.Echo)] { // empty for an older heartbeat
		if !p.remote.isTold(section) && !p.withholds(section) && m.Heads.speaksOf(section) {
			r := p.remote.section(section)
			r.known = true
			r.becameEqual(state)
			p.settle(section)
		}
	}
	delete(p.sent, string(m.Echo))
	p.compared = p.compared || len(p.sent) == 0
}

// heartbeats compares heads with a few partners each interval, and with a
// random one now and then.
func (e *Engine) heartbeats() {
	for _, id := range e.order {
		if p := e.peers[id]; p.compare && p.pull == nil && len(p.wants.list) == 0 {
			e.sendHeartbeat(p)
		}
	}
	if !e.now.Before(e.randomAt) {
		e.randomAt = e.now.Add(randomPartnerEvery)
		e.audit()
		if len(e.order) > partnersMax {
			e.sendHeartbeat(e.peers[e.order[e.random(len(e.order))]])
		}
	}
	quiet := !e.changedAt.IsZero() && e.now.Sub(e.changedAt) >= quietAfter
	due := !e.now.Before(e.heartbeatAt)
	if due {
		e.heartbeatAt = e.now.Add(e.cfg.HeartbeatEvery)
		e.lookAround()
	}
	if due || quiet {
		e.changedAt = time.Time{}
		for _, id := range e.partners() {
			e.sendHeartbeat(e.peers[id])
		}
	}
}

// lookAround does at each interval what no message brings about.
func (e *Engine) lookAround() {
	e.findDue()
	e.relearn()
	for _, id := range e.order {
		p := e.peers[id]
		p.compare, p.yielded = p.compare || p.yielded, false
	}
	e.lookForBlobs()
	e.forgetBudgets()
	if e.judgeAgain {
		e.judgeAgain, e.reconsider = false, true
	}
}

// noteApplied notes that foreign versions were merged. In a small fleet
// everybody tells its partners once that is over; in a large one the writer
// alone does, since all would tell the same.
func (e *Engine) noteApplied(n int) {
	if n > 0 {
		e.lookForBlobs()
	}
	if n > 0 && len(e.order) <= partnersMax {
		e.changedAt = e.now
	}
}

// partners chooses whom to compare with by rendezvous hashing, so that the
// choice is stable and spread evenly.
func (e *Engine) partners() []PeerID {
	if len(e.order) <= partnersMax {
		return e.order
	}
	score := func(id PeerID) string {
		h := sha256.Sum256([]byte(string(e.cfg.Self) + string(id)))
		return string(h[:])
	}
	ranked := slices.Clone(e.order)
	slices.SortFunc(ranked, func(a, b PeerID) int { return cmp.Or(strings.Compare(score(a), score(b)), comparePeers(a, b)) })
	return ranked[:partnersMax]
}

func (e *Engine) random(n int) int {
	var b [8]byte
	if _, err := io.ReadFull(e.cfg.Rand, b[:]); err != nil {
		panic("sync: randomness ended: " + err.Error())
	}
	return int(binary.BigEndian.Uint64(b[:]) % uint64(n))
}
