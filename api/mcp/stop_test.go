package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/mcp"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// serveSocket serves MCP on a Unix socket, and returns its path and what stops it.
func serveSocket(t *testing.T, s *mcp.Server) (path string, stop func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "mcp") //nolint:usetesting // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	listener, err := api.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- api.Serve(ctx, listener, s, nil) }()
	return path, func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
}

// TestADaemonThatStopsEndsSessions at once: neither a session nor a request that
// listens has an end of its own.
func TestADaemonThatStopsEndsSessions(t *testing.T) {
	s := mcp.New(newNode(t), mcp.Config{})
	path, stop := serveSocket(t, s)
	c := client.New(path)
	defer c.Close()
	conn, err := c.MCP(t.Context(), client.MCPOptions{Tools: []string{"memory"}, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	session, err := newClient(nil).Connect(t.Context(), &sdk.IOTransport{Reader: conn, Writer: conn}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(schemasOf(t, session)); got != 4 {
		t.Errorf("%d tools", got)
	}
	if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "memory://a"}); err != nil {
		t.Fatal(err)
	}
	stop()             // it fails when something has to be cut off
	_ = session.Wait() // it ends, whatever its end is called
	_ = session.Close()
	if _, err := c.MCP(t.Context(), client.MCPOptions{}); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("after the end: %v", err)
	}
}

func TestASessionThatCannotBeMeantIsRefused(t *testing.T) {
	path, stop := serveSocket(t, mcp.New(newNode(t), mcp.Config{}))
	defer stop()
	c := client.New(path)
	defer c.Close()
	var problem *wire.Problem
	if _, err := c.MCP(t.Context(), client.MCPOptions{Tools: []string{"memmory"}}); !errors.As(err, &problem) || problem.Code != wire.CodeInvalid {
		t.Errorf("got %v, want a problem", err)
	}
	// A line that is no message ends the session, and nothing else.
	conn, err := c.MCP(t.Context(), client.MCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "no JSON\n"); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(conn); err != nil {
		t.Errorf("the session ended with %q, %v", rest, err)
	}
	_ = conn.Close() // it is closed at the other end
	if _, err := c.MCP(t.Context(), client.MCPOptions{}); err != nil {
		t.Errorf("the next session: %v", err)
	}
}

// TestAClientThatReadsNothingKeepsNoDaemonFromStopping although answers wait for
// it.
func TestAClientThatReadsNothingKeepsNoDaemonFromStopping(t *testing.T) {
	n := newNode(t)
	if _, err := n.replica.Memory().Write(t.Context(), state.MemoryItem{ID: "m", Content: strings.Repeat("x", 4<<20)}); err != nil {
		t.Fatal(err)
	}
	path, stop := serveSocket(t, mcp.New(n, mcp.Config{}))
	c := client.New(path)
	defer c.Close()
	conn, err := c.MCP(t.Context(), client.MCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // the other end is closed
	for i := range 3 {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"memory_get","arguments":{"id":"m"}}}`, i+2)
		if i == 0 {
			line = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n" + line
		}
		if _, err := io.WriteString(conn, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the session has begun
		t.Fatal(err)
	}
	stop()
}
