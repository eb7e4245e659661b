package client_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/api/client"
)

// answering serves every connection of a new socket with serve, and returns the
// socket's path.
func answering(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "client") //nolint:usetesting // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serve(conn)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
		_ = os.RemoveAll(dir)
	})
	return path
}

// saying reads a request and answers with raw bytes.
func saying(text string) func(net.Conn) {
	return func(conn net.Conn) {
		defer func() { _ = conn.Close() }()
		buffer := make([]byte, 4096)
		if _, err := conn.Read(buffer); err == nil {
			_, _ = conn.Write([]byte(text))
		}
	}
}

func status(t *testing.T, path string) error {
	t.Helper()
	c := client.New(path)
	defer c.Close()
	_, err := c.Status(t.Context())
	return err
}

func TestADaemonThatIsNotThereIsToldFromOneThatFails(t *testing.T) {
	stale := answering(t, func(conn net.Conn) { _ = conn.Close() })
	tests := map[string]struct {
		path string
		want error
	}{
		"no socket":                        {filepath.Join(t.TempDir(), "s"), client.ErrNotRunning},
		"no directory":                     {filepath.Join(t.TempDir(), "d", "s"), client.ErrNotRunning},
		"a path too long for a socket":     {filepath.Join(t.TempDir(), strings.Repeat("x", 200)), client.ErrNotRunning},
		"a connection that is closed":      {stale, client.ErrLost},
		"an answer that is cut":            {answering(t, saying("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{")), client.ErrLost},
		"an answer that is no JSON":        {answering(t, saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")), client.ErrForeign},
		"a JSON that is cut":               {answering(t, saying("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n{")), client.ErrForeign},
		"an error that is no problem":      {answering(t, saying("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno")), client.ErrForeign},
		"an error whose problem is broken": {answering(t, saying("HTTP/1.1 500 No\r\nContent-Type: application/problem+json\r\nContent-Length: 1\r\n\r\n{")), client.ErrForeign},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := status(t, test.path); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestASocketThatNobodyServesMeansNotRunning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if len(path) > 100 {
		t.Skip("the temporary directory is too long for a socket")
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := status(t, path); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("got %v, want ErrNotRunning", err)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	path := answering(t, func(conn net.Conn) {
		<-release
		_ = conn.Close()
	})
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := client.New(path)
	defer c.Close()
	if _, err := c.Probe(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestAnUnreadyDaemonIsNoError(t *testing.T) {
	body := `{"schema_version":1,"ok":false,"checks":[{"name":"node","ok":false,"detail":"starting"}]}`
	path := answering(t, saying("HTTP/1.1 503 "+http.StatusText(http.StatusServiceUnavailable)+
		"\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"+body))
	c := client.New(path)
	defer c.Close()
	health, err := c.Ready(t.Context())
	if err != nil || health.OK || len(health.Checks) != 1 {
		t.Errorf("got %+v, %v", health, err)
	}
}

// A probe asks for less time than its caller waits, so that the answer is there
// before that is over.
func TestAProbeSaysHowLongItsCallerWaits(t *testing.T) {
	asked := make(chan string, 1)
	path := answering(t, func(conn net.Conn) {
		defer func() { _ = conn.Close() }()
		request, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		asked <- request.URL.Query().Get("timeout_ms")
		_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{}"))
	})
	c := client.New(path)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	if _, err := c.Probe(ctx); err != nil {
		t.Fatal(err)
	}
	if ms, err := strconv.Atoi(<-asked); err != nil || ms < 1000 || ms > 3500 {
		t.Errorf("a caller that waits for 4s asks for %d ms, %v", ms, err)
	}
	if _, err := c.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != "" {
		t.Errorf("a caller without a limit asks for %s ms", got)
	}
}
