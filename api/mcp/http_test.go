package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/mcp"
	"github.com/fleetsync/fleetd/api/wire"
)

// serveHTTP serves MCP as a daemon does, on a port of this machine.
func serveHTTP(t *testing.T, s *mcp.Server) (base string, stop func()) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- api.Serve(ctx, listener, s, nil) }()
	return "http://" + listener.Addr().String(), func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	}
}

// TestHTTP calls tools with the SDK's own client over HTTP, by the newest version
// of the protocol, which a stateless server alone negotiates.
func TestHTTP(t *testing.T) {
	base, stop := serveHTTP(t, mcp.New(newNode(t), mcp.Config{}))
	defer stop()
	changed := make(chan bool, 10)
	session, err := newClient(&sdk.ClientOptions{
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { changed <- true },
	}).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: base + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }() // the server is still there
	if got := session.InitializeResult().ProtocolVersion; got != "2026-07-28" {
		t.Errorf("protocol version %s", got)
	}
	a := &agent{session, schemasOf(t, session)}
	for noticed := false; !noticed; {
		call[mcp.MemoryEntry](t, a, "memory_write", args{"id": "m", "content": "x"})
		select {
		case <-changed:
			noticed = true
		default:
		}
	}
	if m, _ := call[mcp.Memory](t, a, "memory_get", args{"id": "m"}); m.Content != "x" || m.Source != "tester" {
		t.Errorf("%+v", m)
	}
	reader, err := newClient(nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: base + "/mcp?read_only=true&tools=memory"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }() // the server is still there
	if got := schemasOf(t, reader); len(got) != 4 {
		t.Errorf("%d tools for a reader of memory", len(got))
	}
}

// TestADaemonThatStopsEndsListening although the client goes on listening.
func TestADaemonThatStopsEndsListening(t *testing.T) {
	base, stop := serveHTTP(t, mcp.New(newNode(t), mcp.Config{}))
	session, err := newClient(&sdk.ClientOptions{
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {},
	}).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: base + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stop()              // it fails when something has to be cut off
	_ = session.Close() // there is nobody to tell
}

// TestErrorsOverHTTPAreProblems also of the SDK, which has them as plain text.
func TestErrorsOverHTTPAreProblems(t *testing.T) {
	s := mcp.New(newNode(t), mcp.Config{})
	for name, test := range map[string]struct {
		method, target, media, accept, body string
		want                                wire.Code
	}{
		"a method":             {"GET", "/mcp", "", "", "", wire.CodeMethod},
		"a type":               {"POST", "/mcp", "text/plain", "*/*", "x", wire.CodeMediaType},
		"what is not accepted": {"POST", "/mcp", "application/json", "text/html", "{}", wire.CodeBadRequest},
		"no JSON":              {"POST", "/mcp", "application/json", "application/json, text/event-stream", "x", wire.CodeBadRequest},
		"a tool":               {"POST", "/mcp?tools=x", "application/json", "", "{}", wire.CodeInvalid},
		"no upgrade":           {"GET", "/v1/mcp", "", "", "", wire.CodeBadRequest},
		"an option":            {"GET", "/v1/mcp?x=1", "", "", "", wire.CodeBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), test.method, test.target, strings.NewReader(test.body))
			r.Header.Set("Content-Type", test.media)
			r.Header.Set("Accept", test.accept)
			recorder := httptest.NewRecorder()
			s.ServeHTTP(recorder, r)
			raw, err := io.ReadAll(recorder.Body)
			if err != nil {
				t.Fatal(err)
			}
			var problem wire.Problem
			if err := json.Unmarshal(raw, &problem); err != nil || problem.Code != test.want || problem.Status != recorder.Code || recorder.Header().Get("Content-Type") != wire.ProblemType {
				t.Errorf("%d %s, want %s", recorder.Code, raw, test.want)
			}
		})
	}
}

// TestAnIDThatWouldComeBackChangedIsRefusedOverHTTP too, with the id as it was sent.
// Others come back, and what is no message, or too long, is refused as before.
func TestAnIDThatWouldComeBackChangedIsRefusedOverHTTP(t *testing.T) {
	server := mcp.New(newNode(t), mcp.Config{})
	post := func(body string) *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		server.ServeHTTP(recorder, request)
		return recorder
	}
	for id, answered := range map[string]string{"9007199254740993": "9007199254740993", "1e400": "1e400", "1.0": "1.0", "[1]": "null"} {
		for _, body := range []string{` {"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`, `[{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}]`} {
			got := post(body)
			begins := `{"jsonrpc":"2.0","id":` + answered + `,"error":{"code":-32600,"message":"the id `
			if got.Code != http.StatusBadRequest || got.Header().Get("Content-Type") != "application/json" || !strings.HasPrefix(got.Body.String(), begins) {
				t.Errorf("%s is answered by %d %s", body, got.Code, got.Body)
			}
		}
	}
	for _, id := range []string{"9007199254740991", `"9007199254740993"`} {
		if got := post(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"id":`+id) {
			t.Errorf("the id %s is answered by %d %s", id, got.Code, got.Body)
		}
	}
	var problem wire.Problem
	long := post(`{"jsonrpc":"2.0","id":1e400,"method":"` + strings.Repeat("x", wire.RequestBytesMax) + `"}`)
	if err := json.Unmarshal(long.Body.Bytes(), &problem); err != nil || problem.Code != wire.CodeTooLarge {
		t.Errorf("a message that is too long is answered by %d %.200s", long.Code, long.Body)
	}
}
