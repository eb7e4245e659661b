package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

// tool is one tool as it is offered.
type tool struct {
	name, title, group string
	// about tells a model what the tool does and when to use it.
	about string
	args  []argument
	// readOnly, destructive and idempotent are what its annotations say.
	readOnly, destructive, idempotent bool
	// output is the schema of what run returns as value.
	output func() (*jsonschema.Schema, error)
	run    func(ctx context.Context, c *call) (result, error)
}

// result is what a tool answers: the structured value, and a text that says the
// same to a model that reads no structure.
type result struct {
	value any
	text  string
}

// call is one call of a tool.
type call struct {
	*Server
	args values
	// client is the name of the program that calls; it may be empty.
	client string
}

// tools are all tools, in the order in which they are documented. The memory
// tools come first: they are what an agent needs most.
func tools() []*tool {
	var all []*tool
	all = append(all, memoryTools()...)
	all = append(all, fileTool())
	all = append(all, skillTools()...)
	all = append(all, sessionTools()...)
	return append(all, fleetTools()...)
}

// ReadOnly reports whether a tool writes nothing; false for a name that is none.
func ReadOnly(name string) bool {
	for _, t := range tools() {
		if t.name == name {
			return t.readOnly
		}
	}
	return false
}

// schemaOf derives the output schema of a tool from the type of its value.
func schemaOf[T any]() (*jsonschema.Schema, error) { return jsonschema.For[T](nil) }

// offer is the tool in the form of the SDK. Errors: those of a type that has no
// schema, which a test rules out.
func (t *tool) offer() (*sdk.Tool, error) {
	output, err := t.output()
	if err != nil {
		return nil, fmt.Errorf("mcp: tool %s: %w", t.name, err)
	}
	no := false
	destructive := t.destructive
	return &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about,
		InputSchema: inputSchema(t.args), OutputSchema: output,
		Annotations: &sdk.ToolAnnotations{
			Title: t.title, ReadOnlyHint: t.readOnly, IdempotentHint: t.idempotent,
			DestructiveHint: &destructive, OpenWorldHint: &no,
		},
	}, nil
}

// handler answers calls of the tool. Whatever goes wrong is a result that says
// so: an error of the protocol would not reach the model.
func (s *Server) handler(t *tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		args, err := decode(t.name, t.args, req.Params.Arguments)
		if err != nil {
			return refusal(err, nil), nil
		}
		c := &call{Server: s, args: args}
		if info := req.ClientInfo(); info != nil {
			c.client = info.Name
		}
		res, err := s.runTool(ctx, t, c)
		if err != nil {
			return s.refuse(t, err), nil
		}
		structured, err := json.Marshal(res.value)
		if err != nil {
			return s.refuse(t, err), nil
		}
		return &sdk.CallToolResult{
			Content: []sdk.Content{&sdk.TextContent{Text: res.text}}, StructuredContent: json.RawMessage(structured),
		}, nil
	}
}

// runTool runs a tool, and makes a panic an error: it must not end the daemon.
func (s *Server) runTool(ctx context.Context, t *tool, c *call) (res result, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			s.log.Error("tool panicked", "tool", t.name, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
			err = api.NewProblem(wire.CodeInternal, "the daemon failed; its log says why")
		}
	}()
	return t.run(ctx, c)
}
