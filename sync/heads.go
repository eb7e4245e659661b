package sync

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

const (
	saltBytes = 8
	rootBytes = 16
	sumBytes  = 32
)

// ErrIncompatible blames a peer of another fleet or protocol.
var ErrIncompatible = errors.New("sync: incompatible peer")

// saltedRoot is how a root travels: 16 bytes of SHA-256 over the salt of the
// message, the sum and the count, so that it says nothing outside of its
// exchange.
func saltedRoot(salt []byte, s store.SectionState) []byte {
	h := sha256.New()
	h.Write(salt)
	sum := s.Sum.Bytes()
	h.Write(sum[:])
	var count [8]byte
	binary.BigEndian.PutUint64(count[:], uint64(s.Count))
	h.Write(count[:])
	return h.Sum(nil)[:rootBytes]
}

// heads composes the state of the shared sections that keep accepts and whose
// ids are above after: as many as one message lists, read as one.
func (e *Engine) heads(after string, keep func(merge.Section) bool) (Heads, map[merge.Section]store.SectionState) {
	salt := make([]byte, saltBytes)
	if _, err := io.ReadFull(e.cfg.Rand, salt); err != nil {
		panic("sync: randomness ended: " + err.Error())
	}
	h := Heads{Salt: salt, Clock: e.store.Clock().Last().Pack(), After: after, Sections: []SectionHead{}}
	h.Withheld = append(h.Withheld, e.withheld...)
	states := map[merge.Section]store.SectionState{}
	for _, s := range e.sections() {
		id := s.Section.ID()
		if id <= after || !keep(s.Section) {
			continue
		}
		if len(h.Sections) == sectionsMax {
			h.To = h.Sections[len(h.Sections)-1].Section
			break
		}
		states[s.Section] = s
		h.Sections = append(h.Sections, SectionHead{
			Section: id, Head: s.Head, Count: uint64(s.Count), Root: saltedRoot(salt, s),
		})
	}
	return h, states
}

// sections returns the state of every shared section, by id.
func (e *Engine) sections() []store.SectionState {
	shared := slices.DeleteFunc(e.store.Sections(), func(s store.SectionState) bool { return !e.cfg.Share(s.Section) })
	slices.SortFunc(shared, func(a, b store.SectionState) int { return strings.Compare(a.Section.ID(), b.Section.ID()) })
	return shared
}

func everySection(merge.Section) bool { return true }

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

func (e *Engine) onHello(p *peer, m *Hello, answer bool) {
	if string(m.Fleet) != string(e.cfg.Fleet[:]) {
		e.blame(p, fmt.Errorf("%w: it belongs to the fleet %x", ErrIncompatible, m.Fleet[:8]))
		e.send(p, &Error{Code: CodeFleet, Text: "another fleet"})
		return
	}
	p.greeted = true
	p.store, p.incarnation = store.ID(m.Store), store.Incarnation(m.Incarnation)
	if answer {
		e.send(p, &HelloAck{Hello: e.hello()})
	}
	e.takeAbsent(p, &m.Heads, e.takeHeads(p, &m.Heads))
	p.compare = p.compare || m.Heads.To != "" // the greeting did not tell all
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
		e.send(p, &Heartbeat{Heads: h})
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
	differing := e.takeHeads(p, &m.Heads)
	if len(m.Echo) > 0 {
		e.takeEcho(p, m)
		return
	}
	e.takeAbsent(p, &m.Heads, differing)
	e.send(p, &Heartbeat{Heads: e.answer(&m.Heads, differing), Echo: m.Heads.Salt})
}

// answer lists the sections of a heartbeat that differ, also those of which
// nothing is held here.
func (e *Engine) answer(asked *Heads, differing map[merge.Section]bool) Heads {
	h, _ := e.heads(asked.After, func(s merge.Section) bool { return differing[s] })
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
	listed := sectionsOf(&m.Heads)
	for section, state := range p.sent[string(m.Echo)] { // empty for an older heartbeat
		if !listed[section] && m.Heads.speaksOf(section) {
			r := p.section(section)
			r.known = true
			r.equal, r.isEqual, r.since = state, true, time.Time{}
			r.idle = standoff{}
			p.unwantListing(section)
		}
	}
	delete(p.sent, string(m.Echo))
}

func sortedSections(set map[merge.Section]bool) []merge.Section {
	return slices.SortedFunc(maps.Keys(set), func(a, b merge.Section) int { return strings.Compare(a.ID(), b.ID()) })
}

func sectionsOf(h *Heads) map[merge.Section]bool {
	listed := make(map[merge.Section]bool, len(h.Sections))
	for _, s := range h.Sections {
		if section, err := merge.ParseSectionID(s.Section); err == nil {
			listed[section] = true
		}
	}
	return listed
}

// takeHeads compares what a peer told with the own state, begins what follows
// from it, and returns the listed sections that differ.
func (e *Engine) takeHeads(p *peer, h *Heads) map[merge.Section]bool {
	p.clock, _ = hlc.Unpack(h.Clock)
	p.withheld = h.Withheld
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
	for _, s := range e.sections() {
		if s.Count == 0 || listed[s.Section] || !h.speaksOf(s.Section) || p.withholds(s.Section) {
			continue
		}
		r := p.section(s.Section)
		r.known, r.count = true, 0
		e.differs(r)
		differing[s.Section] = true
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
	if r.count == 0 {
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

// heartbeats compares heads with a few partners each interval, and with a
// random one now and then.
func (e *Engine) heartbeats() {
	for _, id := range e.order {
		if p := e.peers[id]; p.compare && p.pull == nil && len(p.wants) == 0 {
			e.sendHeartbeat(p)
		}
	}
	if !e.now.Before(e.randomAt) {
		e.randomAt = e.now.Add(randomPartnerEvery)
		if len(e.order) > partnersMax {
			e.sendHeartbeat(e.peers[e.order[e.random(len(e.order))]])
		}
	}
	if e.now.Before(e.heartbeatAt) {
		return
	}
	e.heartbeatAt = e.now.Add(e.cfg.HeartbeatEvery)
	e.findDue()
	e.relearn()
	if e.judgeAgain {
		e.judgeAgain, e.reconsider = false, true
	}
	for _, id := range e.partners() {
		e.sendHeartbeat(e.peers[id])
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
