package api

import (
	"context"
	"fmt"
	"net"

	"github.com/fleetsync/fleetd/api/wire"
)

// peerKey is the context key of what checkPeer said of a connection.
type peerKey struct{}

// withPeer notes on a connection's context whether its other end may be served.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, checkPeer(conn))
}

// peerVerdict returns why the connection of a request may not be served; nil
// when it may, and for a handler that does not run in Serve.
func peerVerdict(ctx context.Context) error {
	err, _ := ctx.Value(peerKey{}).(error)
	return err
}

// allowUser judges the user id at the other end: the daemon's own, and root,
// who can do everything anyway.
func allowUser(uid, own uint32) error {
	if uid == own || uid == 0 {
		return nil
	}
	return newProblem(wire.CodeDenied, fmt.Sprintf(
		"this daemon belongs to user %d and you are user %d; run your own with fleetd init, or become that user", own, uid))
}
