package api

import (
	"net"
	"os"
	"syscall"

	"github.com/fleetsync/fleetd/api/wire"
)

// checkPeer asks the kernel who is at the other end of a Unix socket.
func checkPeer(conn net.Conn) error {
	unix, isUnix := conn.(*net.UnixConn)
	if !isUnix {
		return nil
	}
	var cred *syscall.Ucred
	raw, err := unix.SyscallConn()
	if err == nil {
		var errCred error
		err = raw.Control(func(fd uintptr) {
			cred, errCred = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		})
		if err == nil {
			err = errCred
		}
	}
	if err != nil {
		return newProblem(wire.CodeDenied, "the system does not say who you are: "+err.Error())
	}
	return allowUser(cred.Uid, uint32(os.Geteuid()))
}
