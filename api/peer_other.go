//go:build !linux

package api

import "net"

// checkPeer allows everybody whom the mode of the socket and of its directory
// let in: the standard library cannot ask for the user here.
func checkPeer(net.Conn) error { return nil }
