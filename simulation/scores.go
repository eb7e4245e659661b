package simulation

import "time"

// What a node does with a peer that breaks the rules, as package node has it:
// a fault counts for a while, too many of them keep the peer away for a while,
// and a restart forgets all that.
const (
	strikesMax       = 5
	strikesForgotten = 10 * time.Minute
	banishedFor      = 5 * time.Minute
)

// scores are what one process counts against its peers.
type scores map[int]*score

type score struct {
	strikes []time.Time
	away    time.Time // until when it is kept away
}

// strike counts one fault and reports whether the peer is kept away by it.
func (s scores) strike(peer int, now time.Time) (banished bool) {
	sc := s[peer]
	if sc == nil {
		sc = &score{}
		s[peer] = sc
	}
	for len(sc.strikes) > 0 && now.Sub(sc.strikes[0]) > strikesForgotten {
		sc.strikes = sc.strikes[1:]
	}
	if sc.strikes = append(sc.strikes, now); len(sc.strikes) < strikesMax {
		return false
	}
	sc.strikes, sc.away = nil, now.Add(banishedFor)
	return true
}

// banished reports whether a peer is kept away.
func (s scores) banished(peer int, now time.Time) bool {
	sc := s[peer]
	return sc != nil && now.Before(sc.away)
}

// until returns when the last peer may come back; zero when none is kept away.
func (s scores) until() time.Time {
	var last time.Time
	for _, sc := range s {
		last = later(last, sc.away)
	}
	return last
}
