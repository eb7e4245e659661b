package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

// dialAs connects as another user. The thread that took that user's identity
// ends with its goroutine.
func dialAs(ctx context.Context, uid int, path string) (net.Conn, error) {
	type outcome struct {
		conn net.Conn
		err  error
	}
	done := make(chan outcome)
	go func() {
		runtime.LockOSThread()
		// The wrappers of package syscall would change every thread.
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
			done <- outcome{nil, errno}
			return
		}
		conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
		done <- outcome{conn, err}
	}()
	o := <-done
	return o.conn, o.err
}

// TestTheKernelSaysWhoConnects opens the socket to everybody, as a careless
// administrator might, and connects as somebody else.
func TestTheKernelSaysWhoConnects(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can connect as somebody else")
	}
	path := socketPath(t)
	if err := os.Chmod(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // this is the carelessness
		t.Fatal(err)
	}
	listener := listen(t, path)
	const nobody = 65534
	if _, err := dialAs(t.Context(), nobody, path); err == nil {
		t.Error("the mode of the socket let another user in")
	}
	if err := os.Chmod(path, 0o666); err != nil { //nolint:gosec // and so is this
		t.Fatal(err)
	}
	handler := api.NewHandler(newBackend(t), api.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- api.Serve(ctx, listener, handler, nil) }()
	conn, err := dialAs(ctx, nobody, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(conn, "GET /v1/status HTTP/1.1\r\nHost: fleetd\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusForbidden || response.Header.Get("Content-Type") != wire.ProblemType {
		t.Errorf("another user got status %d", response.StatusCode)
	}
	_ = response.Body.Close()
	_ = conn.Close()
	cancel()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
