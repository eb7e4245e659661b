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
	compared    bool // of every section that either had then it was said whether it is equal
	helloAt     time.Time
	heardAt     time.Time
	store       store.ID
	incarnation store.Incarnation
	clock       hlc.Timestamp
	skew        time.Duration
	withheld    []string // families that it does not share

	remote remotes
	// sent is what the messages of the last heartbeat told, by their salts.
	sent map[string]map[merge.Section]store.SectionState

	pull           *pull
	turn           uint64 // of its last pull, counted over all peers; 0 for none
	barren         bool   // that brought nothing new for long, see schedule
	wants          wishes
	paused         map[merge.Section]*pull // what it was too busy for, to go on with
	notBefore      time.Time               // BUSY: no pull before
	busyUntil      time.Time               // of that, what the peer asked for
	compare        bool                    // send a heartbeat when the pulls are done
	yielded        bool                    // a section was left to it: compare again at the next interval
	pace           pace
	budgets        *budgets
	absent         map[merge.Hash]absence
	blobsNotBefore time.Time     // too many are absent: none is asked for before
	answering      []uint64      // requests that are being answered
	fills          merge.Section // of which it asked for a page last
	fillsAt        time.Time     // when it did
}

// remote is what is known of one section of a peer.
type remote struct {
	section merge.Section
	id      string // of the section
	// The last message that listed it, and that said that it is not shared, by
	// remotes.messages.
	told, withheld uint64

	head, count uint64
	known       bool // the peer told its state

	equal   store.SectionState // own state at which both were equal
	isEqual bool               // equal was set
	since   time.Time          // when they were first seen to differ

	idle      standoff  // differing although the feed is at its end
	idleSince time.Time // when that was first seen
	listed    standoff  // the standoff at the last clean listing

	served    bool      // it was sent versions since both were last equal
	yieldedTo time.Time // when the peer was let go first
	yieldedAt uint64    // its head then

	refused      bool      // the last pull was refused room for some of it
	refusedUntil time.Time // not before is it pulled again, unless
	refusedRoom  uint64    // Engine.rooms has moved on since
}

// becameEqual notes the own state at which both are equal.
func (r *remote) becameEqual(mine store.SectionState) {
	r.equal, r.isEqual, r.since = mine, true, time.Time{}
	r.idle, r.served, r.yieldedTo = standoff{}, false, time.Time{}
}

// standoff is a pair of states that stays unequal while nothing moves.
type standoff struct {
	sum           store.Sum
	mine, head, n uint64
}

// wish is a section to be pulled.
type wish struct {
	section merge.Section
	list    bool        // everything, not only what the cursor has not seen
	audit   *store.Span // exactly this, although both seem equal
}

func newPeer(id PeerID, now time.Time, b *budgets) *peer {
	return &peer{id: id, heardAt: now, remote: newRemotes(), paused: map[merge.Section]*pull{}, budgets: b, pace: newPace(), absent: map[merge.Hash]absence{}}
}

// want notes a section to be pulled, fleet statements before all else.
func (p *peer) want(w wish) { p.wants.add(w) }

// wantFirst notes a section that is half pulled, before all but fleet
// statements: were others begun in between, pages of all would be kept.
func (p *peer) wantFirst(w wish) { p.wants.addFirst(w) }

func (p *peer) unwant(s merge.Section) { p.wants.remove(s) }

// settle notes that a section has nothing to be pulled.
func (p *peer) settle(s merge.Section) {
	p.unwant(s)
	delete(p.paused, s)
}

// wishes are the sections of a peer that wait to be pulled, in their order.
type wishes struct {
	list []wish
	has  map[merge.Section]bool
}

func (ws *wishes) add(w wish) {
	if ws.has[w.section] {
		for i := range ws.list {
			if ws.list[i].section == w.section {
				ws.list[i].list = ws.list[i].list || w.list
			}
		}
		return
	}
	if len(ws.list) >= wantsMax {
		return // the comparison that follows these pulls wants it again
	}
	if w.section.Family == FleetFamily {
		ws.insert(0, w)
		return
	}
	ws.insert(len(ws.list), w)
}

// addFirst puts a wish before all but those of fleet statements.
func (ws *wishes) addFirst(w wish) {
	ws.remove(w.section)
	at := 0
	for at < len(ws.list) && ws.list[at].section.Family == FleetFamily {
		at++
	}
	if last := len(ws.list) - 1; last+1 >= wantsMax {
		ws.remove(ws.list[last].section) // a comparison wants it again
	}
	ws.insert(min(at, len(ws.list)), w)
}

func (ws *wishes) insert(at int, w wish) {
	if ws.has == nil {
		ws.has = map[merge.Section]bool{}
	}
	ws.has[w.section] = true
	ws.list = slices.Insert(ws.list, at, w)
}

func (ws *wishes) remove(s merge.Section) {
	if ws.has[s] {
		delete(ws.has, s)
		ws.list = slices.DeleteFunc(ws.list, func(w wish) bool { return w.section == s })
	}
}
