package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/fleetsync/fleetd/api/mcp"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a node over a store in memory.
type node struct{ replica state.Replica }

func newNode(tb testing.TB) *node {
	tb.Helper()
	provider := state.NewMemory()
	tb.Cleanup(func() {
		if err := provider.Close(); err != nil {
			tb.Error(err)
		}
	})
	replica, isReplica := provider.(state.Replica)
	if !isReplica {
		tb.Fatalf("NewMemory returned a %T", provider)
	}
	return &node{replica}
}

func (n *node) State() state.Replica { return n.replica }

func (n *node) Status(context.Context) (wire.Status, error) {
	return wire.Status{InSync: true, Verdict: "in sync with 0 of 0 members", ID: "local", Name: "desk", Members: []wire.Member{
		{ID: "local", Name: "desk", State: wire.StateSelf},
	}}, nil
}

func (n *node) NameOf(id string) string { return strings.Replace(id, "local", "desk", 1) }

// agent is a client with a session.
type agent struct {
	*sdk.ClientSession
	schemas map[string]*jsonschema.Resolved
}

// connect begins a session of a server on a connection of its own.
func connect(tb testing.TB, s *mcp.Server, opts mcp.Options) *agent {
	tb.Helper()
	return attach(tb, s, opts, newClient(nil), nil)
}

// connectVersion is connect by a version of the protocol.
func connectVersion(tb testing.TB, s *mcp.Server, version string, client *sdk.ClientOptions) *agent {
	tb.Helper()
	return attach(tb, s, mcp.Options{}, newClient(client), &sdk.ClientSessionOptions{ProtocolVersion: version})
}

// connectSkills is connect for a client of the Skills extension.
func connectSkills(tb testing.TB, s *mcp.Server) *agent {
	tb.Helper()
	client := newClient(nil)
	for _, method := range []string{"skills/list", "skills/get"} {
		if err := sdk.AddSendingCustomMethod[*skillsParams, *skillsResult](client, method); err != nil {
			tb.Fatal(err)
		}
	}
	return attach(tb, s, mcp.Options{}, client, nil)
}

func newClient(opts *sdk.ClientOptions) *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, opts)
}

// attach connects a client, and reads the schemas of the tools.
func attach(tb testing.TB, s *mcp.Server, opts mcp.Options, client *sdk.Client, how *sdk.ClientSessionOptions) *agent {
	tb.Helper()
	ours, theirs := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.ServeConn(tb.Context(), theirs, opts) }()
	session, err := client.Connect(tb.Context(), &sdk.IOTransport{Reader: ours, Writer: ours, MaxLineLength: 64 << 20}, how)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = session.Close() // the other end may be gone
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			tb.Errorf("the session ended with %v", err)
		}
	})
	return &agent{session, schemasOf(tb, session)}
}

// schemasOf reads the output schemas of the tools that a session lists.
func schemasOf(tb testing.TB, session *sdk.ClientSession) map[string]*jsonschema.Resolved {
	tb.Helper()
	tools, err := session.ListTools(tb.Context(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	schemas := map[string]*jsonschema.Resolved{}
	for _, t := range tools.Tools {
		raw, err := json.Marshal(t.OutputSchema)
		if err != nil {
			tb.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(raw, &schema); err != nil {
			tb.Fatal(err)
		}
		if schemas[t.Name], err = schema.Resolve(nil); err != nil {
			tb.Fatalf("%s: %v", t.Name, err)
		}
	}
	return schemas
}

// args are arguments of a call.
type args = map[string]any

// call calls a tool that has to succeed. The result has to follow its schema.
func call[T any](tb testing.TB, a *agent, name string, in args) (out T, text string) {
	tb.Helper()
	res, err := a.CallTool(tb.Context(), &sdk.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		tb.Fatalf("%s %.300v: %v", name, in, err)
	}
	if text = textOf(res); res.IsError {
		tb.Fatalf("%s %.300v: %.300s", name, in, text)
	}
	if err := a.schemas[name].Validate(res.StructuredContent); err != nil {
		tb.Errorf("%s: %v in %v", name, err, res.StructuredContent)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		tb.Fatal(err)
	}
	return out, text
}

// failing calls a tool that has to refuse, and returns the texts of its result.
func failing(tb testing.TB, a *agent, name string, in args, want string) string {
	tb.Helper()
	res, err := a.CallTool(tb.Context(), &sdk.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		tb.Fatalf("%s %.300v: %v", name, in, err)
	}
	text := textOf(res)
	if !res.IsError || !strings.Contains(text, want) || res.StructuredContent != nil {
		tb.Errorf("%s %.300v: error %t, %.1000q, want an error with %q", name, in, res.IsError, text, want)
	}
	return text
}

func textOf(res *sdk.CallToolResult) string {
	var texts []string
	for _, c := range res.Content {
		if t, isText := c.(*sdk.TextContent); isText {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func callParams(name string, in args) *sdk.CallToolParams {
	return &sdk.CallToolParams{Name: name, Arguments: in}
}

// expect compares a value.
func expect(tb testing.TB, what string, want, got any) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// contains looks for texts in a text.
func contains(tb testing.TB, text string, wanted ...string) {
	tb.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			tb.Errorf("%.2000q lacks %q", text, want)
		}
	}
}
