package main

import (
	"context"
	"net"
	"net/netip"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/node"
)

// webListener is the local API on loopback, for what cannot open a socket.
type webListener struct {
	listener net.Listener
	guard    api.Guard
}

// listenWeb opens it; nil for the zero address.
func listenWeb(ctx context.Context, dir string, addr netip.AddrPort) (*webListener, error) {
	if addr == (netip.AddrPort{}) {
		return nil, nil //nolint:nilnil // nowhere is a place to listen, too
	}
	token, err := node.APIToken(dir)
	if err != nil {
		return nil, err
	}
	listener, at, err := api.ListenLoopback(ctx, addr)
	if err != nil {
		return nil, &failure{text: plain(err), code: exitError, next: "name a free port in api.listen, such as 127.0.0.1:7411; 0 takes any that is free"}
	}
	return &webListener{listener, api.Guard{Addr: at, Token: token}}, nil
}
