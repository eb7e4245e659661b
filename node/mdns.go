package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"

	"github.com/fleetsync/fleetd/merge"
)

// mdnsService is the name that is announced on the local network. It says
// nothing of the fleet.
const mdnsService = "_fleetd._udp"

// discovery finds members on the local network.
type discovery struct {
	host  host.Host
	gater *gater
	book  *book
	log   *slog.Logger
	found chan peer.AddrInfo
}

// HandlePeerFound implements mdns.Notifee.
func (d *discovery) HandlePeerFound(info peer.AddrInfo) {
	select {
	case d.found <- info:
	default: // it is announced again
	}
}

// Run announces this node and learns addresses until ctx ends. A system
// without multicast costs a warning: members are found by other means.
func (d *discovery) Run(ctx context.Context) error {
	service := mdns.NewMdnsService(d.host, mdnsService, d)
	if err := service.Start(); err != nil {
		d.log.Warn("local discovery is not available", "err", err)
		<-ctx.Done()
		return nil
	}
	defer service.Close() //nolint:errcheck // it returns none
	for {
		select {
		case <-ctx.Done():
			return nil
		case info := <-d.found:
			if info.ID == d.host.ID() || !d.gater.isMember(info.ID) {
				continue
			}
			var addrs []string
			for _, a := range info.Addrs {
				addrs = append(addrs, a.String())
			}
			d.book.learn(ctx, merge.InstanceID(info.ID), addrs, time.Now())
		}
	}
}
