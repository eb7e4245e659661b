package node

import (
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// gater decides who may connect: members, and, while an invitation is open,
// anybody but outcasts, since a joiner is a stranger until it has proven its
// ticket. Every
// protocol but that of joining turns strangers away by itself. Safe for
// concurrent use.
type gater struct {
	authority *fleet.Authority
	scores    *scores
	// inviting reports whether an invitation is open.
	inviting func() bool
}

var _ connmgr.ConnectionGater = (*gater)(nil)

// isMember reports whether a peer belongs to the fleet now.
func (g *gater) isMember(p peer.ID) bool {
	m, ok := g.authority.Member(merge.InstanceID(p))
	return ok && isActive(&m, time.Now())
}

// isActive reports whether a member belongs to the fleet now. A ban without an
// end acts at once, also when its first stamp, of a clock that is ahead, is
// still to come.
func isActive(m *fleet.Member, now time.Time) bool {
	return m.Ban == nil && m.ActiveAt(hlc.Timestamp{Wall: now.UnixMilli()})
}

// outcast reports whether a peer is none of the fleet any more, and can never
// join it: its key was banned, or is that of a member whose time is over.
func (g *gater) outcast(p peer.ID) bool {
	if _, banned := g.authority.Banned(merge.InstanceID(p)); banned {
		return true
	}
	_, known := g.authority.Member(merge.InstanceID(p))
	return known && !g.isMember(p)
}

// welcome reports whether a peer gets the protocols of members.
func (g *gater) welcome(p peer.ID) bool {
	return g.isMember(p) && !g.scores.banished(p, time.Now())
}

// InterceptPeerDial implements connmgr.ConnectionGater.
func (g *gater) InterceptPeerDial(p peer.ID) bool { return g.welcome(p) }

// InterceptAddrDial implements connmgr.ConnectionGater.
func (g *gater) InterceptAddrDial(peer.ID, multiaddr.Multiaddr) bool { return true }

// InterceptAccept implements connmgr.ConnectionGater.
func (g *gater) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured implements connmgr.ConnectionGater: the peer has proven its
// key.
func (g *gater) InterceptSecured(_ network.Direction, p peer.ID, _ network.ConnMultiaddrs) bool {
	if g.scores.banished(p, time.Now()) || g.outcast(p) {
		return false
	}
	return g.isMember(p) || g.inviting()
}

// InterceptUpgraded implements connmgr.ConnectionGater.
func (g *gater) InterceptUpgraded(network.Conn) (allow bool, reason control.DisconnectReason) {
	return true, 0
}
