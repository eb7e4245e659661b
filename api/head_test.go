package api_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/api"
)

// TestWhatNeverBecomesARequest is answered by net/http, in plain text, as the
// reference says: no handler sees it.
func TestWhatNeverBecomesARequest(t *testing.T) {
	path := socketPath(t)
	listener := listen(t, path)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	h := api.NewHandler(newBackend(t), api.Config{})
	go func() { done <- api.Serve(ctx, listener, h, nil) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}()
	for name, tt := range map[string]struct {
		head   string
		status int
	}{
		"a head that is too long": {"GET /v1/status HTTP/1.1\r\nHost: fleetd\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", http.StatusRequestHeaderFieldsTooLarge},
		"no HTTP":                 {"hello\r\n\r\n", http.StatusBadRequest},
		"another HTTP":            {"GET /v1/status HTTP/3.0\r\nHost: fleetd\r\n\r\n", http.StatusHTTPVersionNotSupported},
		"another encoding":        {"POST /v1/memory HTTP/1.1\r\nHost: fleetd\r\nTransfer-Encoding: gzip\r\n\r\n", http.StatusNotImplemented},
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute)) // a test that hangs says nothing
		go func() { _, _ = io.WriteString(conn, tt.head) }()
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if response.StatusCode != tt.status || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") || !response.Close {
			t.Errorf("%s: %d, %s, the connection ends: %t", name, response.StatusCode, response.Header.Get("Content-Type"), response.Close)
		}
		_ = conn.Close()
	}
}
