package node

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// deafness finds the members whose connections are to be made anew because they
// gossip and are in none of this node's topics: gossipsub gives up a connected peer
// after the fifth stream that broke within ten minutes. It is the watch's alone; the
// zero value is ready.
type deafness struct {
	looks  map[peer.ID]int       // how often in a row each was deaf
	mended map[peer.ID]time.Time // when a connection was last made anew for that
}

// look takes who is deaf now, and returns those who have been for deafChecks looks,
// but none again within deafPause: whom a new connection does not help costs no
// more than that.
func (d *deafness) look(deaf []peer.ID, now time.Time) (renew []peer.ID) {
	looks := make(map[peer.ID]int, len(deaf))
	for _, p := range deaf {
		looks[p] = d.looks[p] + 1
		if at, mended := d.mended[p]; looks[p] < deafChecks || mended && now.Sub(at) < deafPause {
			continue
		}
		delete(looks, p)
		renew = append(renew, p)
	}
	d.looks = looks
	for p, at := range d.mended {
		if now.Sub(at) >= deafPause {
			delete(d.mended, p)
		}
	}
	for _, p := range renew {
		if d.mended == nil {
			d.mended = map[peer.ID]time.Time{}
		}
		d.mended[p] = now
	}
	return renew
}
