package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// ErrListening is returned when another process answers on the socket.
var ErrListening = errors.New("api: another daemon listens here")

// Listen opens the Unix socket of a daemon with mode 0600, in a directory that
// only its owner may enter. What a daemon left behind that was killed is
// removed: the caller holds the lock of the data directory. Errors: ErrListening,
// and those of the system.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > socketBytesMax {
		return nil, fmt.Errorf("api: socket path of %d bytes, at most %d: %s", len(path), socketBytesMax, path)
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("api: listen: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = listener.Close() // the first error counts
		return nil, fmt.Errorf("api: protect socket: %w", err)
	}
	return listener, nil
}

// removeStale removes a socket on which nobody answers. Nothing else is
// removed, so that a wrong path costs no file.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("api: look at socket: %w", err)
	case !isSocket(info):
		return fmt.Errorf("api: %s is in the way of the socket and is none: move it", path)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err == nil {
		_ = conn.Close() // it only asked whether somebody is there
		return fmt.Errorf("%w: %s", ErrListening, path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("api: ask old socket: %w", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("api: remove old socket: %w", err)
	}
	return nil
}
