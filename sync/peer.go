package sync

import (
	"slices"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// peer is what the engine knows of one connected peer. It is forgotten when
// the connection ends: whatever must last stands in the store.
type peer struct {
	id          PeerID
	greeted     bool // its hello or answer came
	helloAt     time.Time
	heardAt     time.Time
	store       store.ID
	incarnation store.Incarnation
	clock       hlc.Timestamp
	skew        time.Duration
	withheld    []string

	remote map[merge.Section]*remote
	// sent is what the messages of the last heartbeat told, by their salts.
	sent map[string]map[merge.Section]store.SectionState

	pull      *pull
	wants     []wish
	notBefore time.Time // BUSY: no pull before
	compare   bool      // send a heartbeat when the pulls are done
	pace      pace
	budget    *budget  // of answers
	answering []uint64 // requests that are being answered
}

// remote is what is known of one section of a peer.
type remote struct {
	head, count uint64
	known       bool // the peer told its state

	equal   store.SectionState // own state at which both were equal
	isEqual bool               // equal was set
	since   time.Time          // when they were first seen to differ

	idle      standoff  // differing although the feed is at its end
	idleSince time.Time // when that was first seen
	listed    standoff  // the standoff at the last clean listing

	refused      bool      // the last pull was refused room for some of it
	refusedUntil time.Time // not before is it pulled again
}

// standoff is a pair of states that stays unequal while nothing moves.
type standoff struct {
	sum           store.Sum
	mine, head, n uint64
}

// wish is a section to be pulled.
type wish struct {
	section merge.Section
	list    bool // everything, not only what the cursor has not seen
}

func newPeer(id PeerID, now time.Time, b *budget) *peer {
	return &peer{
		id: id, heardAt: now,
		remote: map[merge.Section]*remote{},
		budget: b,
		pace:   newPace(),
	}
}

func (p *peer) section(s merge.Section) *remote {
	r := p.remote[s]
	if r == nil {
		r = &remote{}
		p.remote[s] = r
	}
	return r
}

func (p *peer) withholds(s merge.Section) bool { return slices.Contains(p.withheld, s.Family) }

// want notes a section to be pulled, fleet statements before all else.
func (p *peer) want(w wish) {
	for i := range p.wants {
		if p.wants[i].section == w.section {
			p.wants[i].list = p.wants[i].list || w.list
			return
		}
	}
	if len(p.wants) >= wantsMax {
		return // the comparison that follows these pulls wants it again
	}
	if w.section.Family == FleetFamily {
		p.wants = slices.Insert(p.wants, 0, w)
		return
	}
	p.wants = append(p.wants, w)
}

func (p *peer) unwant(s merge.Section) {
	p.wants = slices.DeleteFunc(p.wants, func(w wish) bool { return w.section == s })
}
