package node

import (
	"context"
	"time"

	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// silence notes which peers were asked something and have said nothing since:
// a machine that was killed or halted stays connected for half a minute. Those
// that were not asked are not accused. It is the loop's alone.
type silence map[merge.InstanceID]time.Time

// asked notes the heartbeats among what is sent now.
func (s silence) asked(sends []fleetsync.Send, now time.Time) {
	for _, send := range sends {
		beat, ok := send.Message.(*fleetsync.Heartbeat)
		if !ok || len(beat.Echo) > 0 {
			continue
		}
		if _, waiting := s[send.To]; !waiting {
			s[send.To] = now
		}
	}
}

// heard notes that a peer has said something.
func (s silence) heard(from merge.InstanceID) { delete(s, from) }

// of returns the connected peers that are silent, and forgets those that are
// not connected. An answer waits behind the pages of an exchange, so that a
// peer may take longer in one.
func (s silence) of(peers []fleetsync.PeerState, now time.Time) map[merge.InstanceID]bool {
	silent, connected := map[merge.InstanceID]bool{}, map[merge.InstanceID]bool{}
	for _, p := range peers {
		connected[p.ID] = true
		limit := answerTimeout
		if p.Pulling {
			limit = fleetsync.RequestTimeoutDefault
		}
		if at, waiting := s[p.ID]; waiting && now.Sub(at) >= limit {
			silent[p.ID] = true
		}
	}
	for id := range s {
		if !connected[id] {
			delete(s, id)
		}
	}
	return silent
}

// survey returns what is known of every connected peer and which are silent.
// Peers that have not been heard of just now are asked first, and waited for
// until answerTimeout; the answer of one that is silent already counts when it
// comes. Errors: that of ctx.
func (l *loop) survey(ctx context.Context) (peers []fleetsync.PeerState, silent map[merge.InstanceID]bool, err error) {
	isStale := false
	look := func(e *fleetsync.Engine) {
		now := time.Now()
		peers = e.Peers()
		silent = l.silence.of(peers, now)
		for _, p := range peers {
			isStale = isStale || p.Greeted && now.Sub(p.HeardAt) > freshFor
		}
	}
	if err := l.ask(ctx, look); err != nil || !isStale {
		return peers, silent, err
	}
	// A little longer, so that who has not answered then is silent.
	limited, cancel := context.WithTimeout(ctx, answerTimeout+tickEvery)
	defer cancel()
	if _, _, err := l.probe(limited, silent); err != nil {
		return nil, nil, err
	}
	err = l.ask(ctx, look)
	return peers, silent, err
}
