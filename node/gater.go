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
// anybody, since a joiner is a stranger until it has proven its ticket. Every
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
	return ok && m.ActiveAt(hlc.Timestamp{Wall: time.Now().UnixMilli()})
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
	if g.scores.banished(p, time.Now()) {
		return false
	}
	return g.isMember(p) || g.inviting()
}

// InterceptUpgraded implements connmgr.ConnectionGater.
func (g *gater) InterceptUpgraded(network.Conn) (allow bool, reason control.DisconnectReason) {
	return true, 0
}
