package sync

import (
	"slices"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Counters count since the engine was made.
type Counters struct {
	Published, GossipReceived, GossipDropped uint64 // messages; records for dropped
	Known, Applied, Parked, Refused          uint64 // records from peers
	Retracted, Restored                      uint64 // versions that statements took away, or gave back
	Collected                                uint64 // records of which a floor has collected the tombstone
	Unsupported                              uint64 // records of algorithms that are not known here
	BadSignatures, Timeouts, BusySent        uint64
	Audits                                   uint64 // of which the answer was awaited
	Lent                                     uint64 // gaps that were asked of other peers than who told of them
	HeadsIgnored                             uint64 // lists of heads beyond a peer's budget
	Pulls, CursorsInvalid, StoreErrors       uint64
	Blobs                                    uint64 // fetched whole
	Repaired                                 uint64 // records from peers in place of what the disk lost
	Differences                              uint64 // sections in which a check found one for good
}

// PeerState is what a connected peer is known to hold.
type PeerState struct {
	ID      PeerID
	Greeted bool
	// HeardAt is when its last message came.
	HeardAt time.Time
	// Clock is the newest stamp that it told.
	Clock hlc.Timestamp
	// Skew is how far its clock was ahead of this machine's when it last told,
	// negative when behind. What it told may have been under way for seconds.
	Skew time.Duration
	// InSync says that every shared section was equal when last compared, and
	// has not changed here since.
	InSync bool
	// IsTold says that it would be in sync but for what changed here less than a
	// heartbeat ago: it was told of that, by gossip, and has not been compared with
	// since. What it has of it is not known.
	IsTold bool
	// Behind are versions that it is known to have and this node has not
	// pulled: an upper bound, by feed positions.
	Behind uint64
	// Lacks are versions that this node holds more of.
	Lacks uint64
	// Since is when the oldest difference was first seen; zero when in sync.
	Since time.Time
	// Differing are the sections that were not equal.
	Differing []merge.Section
	// Pulling says that an exchange is in progress.
	Pulling bool
	// Pull is how far it has come; nil when that cannot be said.
	Pull *Progress
	// IsWaiting says that something is to be pulled and others have their turn.
	IsWaiting bool
	// IsBusy says that it asked not to be asked for now.
	IsBusy bool
	// IsRefused says that some of its versions found no room among the parked here.
	IsRefused bool
	// Withholds are the families that this node shares and it does not, and
	// WithholdsSections such sections of others, both ascending.
	Withholds         []string
	WithholdsSections []merge.Section
}

// Peers returns the state of every connected peer, by id.
func (e *Engine) Peers() []PeerState {
	mine := e.sections()
	states := make([]PeerState, 0, len(e.order))
	err := e.store.View(func(r *store.Reader) error {
		for _, id := range e.order {
			states = append(states, e.peerState(e.peers[id], mine, r))
		}
		return nil
	})
	if err != nil { // then without where the cursors are
		e.counters.StoreErrors++
		for _, id := range e.order {
			states = append(states, e.peerState(e.peers[id], mine, nil))
		}
	}
	return states
}

// Counters returns what was counted so far.
func (e *Engine) Counters() Counters { return e.counters }

// peerState returns the state of one peer, with the cursors of a snapshot unless
// that is nil.
func (e *Engine) peerState(p *peer, mine []ownSection, reader *store.Reader) PeerState {
	st := PeerState{
		ID: p.id, Greeted: p.greeted, HeardAt: p.heardAt, Clock: p.clock, Skew: p.skew,
		InSync: p.greeted, Pulling: p.pull != nil, IsTold: p.greeted && e.hasTold(),
	}
	held := map[merge.Section]bool{}
	for _, own := range mine {
		held[own.Section] = true
		r := p.remote.named(own.Section, own.id)
		isEqual := r.isEqual && r.equal.Sum == own.Sum && r.equal.Count == own.Count
		if !isEqual && !p.withholds(own.Section) && (own.Count > 0 || r.count > 0) {
			st.addDifference(p, r, own.SectionState, reader)
		}
	}
	for section, r := range p.remote.of {
		if !held[section] && r.count > 0 && e.cfg.Sharing.Shares(section) {
			st.addDifference(p, r, store.SectionState{Section: section}, reader)
		}
	}
	st.IsTold = st.IsTold && !st.InSync && !st.Pulling
	slices.SortFunc(st.Differing, merge.Section.Compare)
	e.tellWhy(&st, p, mine)
	return st
}

// addDifference counts one section that is not known to be equal.
func (st *PeerState) addDifference(p *peer, r *remote, own store.SectionState, reader *store.Reader) {
	st.InSync = false
	// Seen to differ it is since some time; and what was never compared may be old.
	st.IsTold = st.IsTold && (r.isEqual || p.compared && !r.known) && r.since.IsZero()
	st.Differing = append(st.Differing, own.Section)
	if !r.since.IsZero() && (st.Since.IsZero() || r.since.Before(st.Since)) {
		st.Since = r.since
	}
	if uint64(own.Count) > r.count {
		st.Lacks += uint64(own.Count) - r.count
	}
	behind := r.count // what it holds, if nobody knows better
	if reader != nil && len(st.Differing) <= cursorsShown {
		if at, ok := cursorOf(reader, p, own.Section); ok {
			behind = r.head - min(r.head, at.Seq)
		}
	}
	st.Behind += behind
}

// hasTold reports whether this node's own callers changed something that whoever is
// connected was told of, and that heartbeats need not have compared yet.
func (e *Engine) hasTold() bool {
	return e.cfg.Gossip && !e.localAt.IsZero() && e.now.Sub(e.localAt) < e.cfg.HeartbeatEvery
}

// cursorsShown bounds the cursors that are looked up for the state of one peer.
const cursorsShown = 1024
