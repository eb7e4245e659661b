package node

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// scores counts the faults of peers and keeps those with too many away for a
// while. Faults are what no honest build does; forwarding a record that is not
// admitted here is none. Safe for concurrent use. The zero value is ready.
type scores struct {
	mu     sync.Mutex // guards all following fields
	byPeer map[peer.ID]*score
}

type score struct {
	strikes []time.Time // ascending
	until   time.Time   // banished until
}

// strike counts one fault and reports whether the peer is banished by it.
func (s *scores) strike(p peer.ID, now time.Time) (banished bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byPeer == nil {
		s.byPeer = map[peer.ID]*score{}
	}
	sc := s.byPeer[p]
	if sc == nil {
		s.forget(now)
		sc = &score{}
		s.byPeer[p] = sc
	}
	sc.strikes = append(sc.recent(now), now)
	if len(sc.strikes) < strikesMax {
		return false
	}
	sc.strikes, sc.until = nil, now.Add(banishedFor)
	return true
}

// banished reports whether a peer is kept away.
func (s *scores) banished(p peer.ID, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sc := s.byPeer[p]
	return sc != nil && now.Before(sc.until)
}

// strikes returns how many faults of a peer count at present.
func (s *scores) strikes(p peer.ID, now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sc := s.byPeer[p]
	if sc == nil {
		return 0
	}
	return len(sc.recent(now))
}

func (sc *score) recent(now time.Time) []time.Time {
	for len(sc.strikes) > 0 && now.Sub(sc.strikes[0]) > strikesForgotten {
		sc.strikes = sc.strikes[1:]
	}
	return sc.strikes
}

// forget drops the scores that say nothing any more, so that the table holds
// only peers with recent faults.
func (s *scores) forget(now time.Time) {
	for p, sc := range s.byPeer {
		if len(sc.recent(now)) == 0 && !now.Before(sc.until) {
			delete(s.byPeer, p)
		}
	}
}
