package api

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// ListenLoopback opens a TCP listener on an address of this machine alone, and
// returns where it is, which matters for port 0. What it serves needs a Guard.
// Errors: an address that is not on loopback, and those of the system.
func ListenLoopback(ctx context.Context, address netip.AddrPort) (net.Listener, netip.AddrPort, error) {
	if !address.Addr().IsLoopback() {
		return nil, netip.AddrPort{}, fmt.Errorf("api: %s is not on loopback: other machines could reach it", address)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address.String())
	if err != nil {
		return nil, netip.AddrPort{}, fmt.Errorf("api: listen: %w", err)
	}
	at, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		_ = listener.Close() // the first error counts
		return nil, netip.AddrPort{}, fmt.Errorf("api: listen: %w", err)
	}
	return listener, at, nil
}
