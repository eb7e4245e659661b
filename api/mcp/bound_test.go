package mcp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/mcp"
	"github.com/fleetsync/fleetd/api/wire"
)

// until waits for what another goroutine is about to do.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// TestSessionsAreBounded and one that ends makes room.
func TestSessionsAreBounded(t *testing.T) {
	s := mcp.New(newNode(t), mcp.Config{})
	mcp.SetBounds(s, 2, 0, 0)
	path, stop := serveSocket(t, s)
	defer stop()
	c := client.New(path)
	defer c.Close()
	var conns []io.Closer
	for range 2 {
		conn, err := c.MCP(t.Context(), client.MCPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	var problem *wire.Problem
	if _, err := c.MCP(t.Context(), client.MCPOptions{}); !errors.As(err, &problem) || problem.Code != wire.CodeUnavailable ||
		!strings.Contains(problem.Detail, "this daemon has 2 MCP sessions already") {
		t.Errorf("a third session: %v", err)
	}
	_ = conns[0].Close() // the other end sees it
	until(t, "a session that ended makes room", func() bool { return mcp.Taken(s)[0] == 1 })
	conn, err := c.MCP(t.Context(), client.MCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conns = append(conns, conn)
	for _, conn := range conns {
		_ = conn.Close() // one is closed
	}
	until(t, "no session is left", func() bool { return mcp.Taken(s)[0] == 0 })
}

// TestSubscriptionsAreBounded over all sessions, each resource once for a session.
func TestSubscriptionsAreBounded(t *testing.T) {
	s := mcp.New(newNode(t), mcp.Config{})
	mcp.SetBounds(s, 9, 9, 3)
	a, b := connectVersion(t, s, "2025-11-25", nil), connectVersion(t, s, "2025-11-25", nil)
	subscribe := func(a *agent, uri string) error {
		return a.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri})
	}
	for _, uri := range []string{"memory://a", "memory://a", "memory://b"} {
		if err := subscribe(a, uri); err != nil {
			t.Fatal(err)
		}
	}
	if err := subscribe(b, "memory://a"); err != nil {
		t.Fatal(err)
	}
	if err := subscribe(b, "memory://c"); err == nil || !strings.Contains(err.Error(), "this daemon has 3 subscriptions to resources already") {
		t.Errorf("a fourth: %v", err)
	}
	if err := a.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "memory://b"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "memory://never"}); err != nil {
		t.Fatal(err)
	}
	if err := subscribe(b, "memory://c"); err != nil {
		t.Errorf("in the room that was made: %v", err)
	}
	_ = b.Close() // the other end sees it
	until(t, "the end of a session ends its subscriptions", func() bool { return mcp.Taken(s)[2] == 1 })
}

// TestListeningIsBounded over HTTP and on connections.
func TestListeningIsBounded(t *testing.T) {
	s := mcp.New(newNode(t), mcp.Config{})
	mcp.SetBounds(s, 9, 1, 9)
	base, stop := serveHTTP(t, s)
	defer stop()
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	ask := func(ctx context.Context) *http.Response {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/mcp", strings.NewReader(listen))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "subscriptions/listen")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := ask(ctx)
	until(t, "one listens", func() bool { return mcp.Taken(s)[1] == 1 })
	second := ask(t.Context())
	text, err := io.ReadAll(second.Body)
	if err != nil || !strings.Contains(string(text), "this daemon has 1 requests that listen for changes already") {
		t.Errorf("one too many: %s, %v", text, err)
	}
	_ = second.Body.Close() // it was read
	cancel()
	_ = first.Body.Close() // it was given up
	until(t, "nobody listens", func() bool { return mcp.Taken(s) == [3]int{} })
}
