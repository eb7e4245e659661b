package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/multiformats/go-multiaddr"
)

// ErrListen is returned by Run for an address that cannot be listened on, such
// as one that another program uses; the text names it and says what to do.
var ErrListen = errors.New("node: cannot listen")

// checkListen tries each address by itself before the library does: that names
// all that it tried on a line each, is content when one works, and leaves
// goroutines behind when none does. Errors: ErrListen.
func checkListen(addrs []string) error {
	for _, addr := range addrs {
		if err := tryListen(addr); err != nil {
			return listenError(addr, plainCause(err))
		}
	}
	return nil
}

func listenError(addr string, cause error) error {
	return fmt.Errorf("%w on %s: %w: stop the program that uses it, or choose another address with --listen or in config.yaml",
		ErrListen, addr, cause)
}

// oneLine is an error of the library, which likes to use several lines.
func oneLine(err error) error { return errors.New(strings.Join(strings.Fields(err.Error()), " ")) }

// tryListen listens on a multiaddress for a moment. One that is not made of an
// IP address and a port is not tried.
func tryListen(addr string) error {
	parsed, err := multiaddr.NewMultiaddr(addr)
	if err != nil {
		return err
	}
	part := func(code int) string {
		value, _ := parsed.ValueForProtocol(code) // empty without one
		return value
	}
	version, ip := "4", part(multiaddr.P_IP4)
	if ip == "" {
		version, ip = "6", part(multiaddr.P_IP6)
	}
	if zone := part(multiaddr.P_IP6ZONE); zone != "" {
		ip += "%" + zone
	}
	if ip == "" {
		return nil
	}
	ctx, lc := context.Background(), net.ListenConfig{} // to bind an IP address does not wait
	if port := part(multiaddr.P_TCP); port != "" {
		l, err := lc.Listen(ctx, "tcp"+version, net.JoinHostPort(ip, port))
		if err != nil {
			return err
		}
		return l.Close()
	}
	l, err := lc.ListenPacket(ctx, "udp"+version, net.JoinHostPort(ip, part(multiaddr.P_UDP)))
	if err != nil {
		return err
	}
	return l.Close()
}

// plainCause leaves out what repeats the address and the system call.
func plainCause(err error) error {
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err
	}
	return err
}
