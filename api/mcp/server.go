package mcp

import (
	"context"
	"log/slog"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// Node is what is served: a node's copy of what the fleet knows, and what the
// node knows of the fleet. It is safe for concurrent use. An api.Backend is one.
type Node interface {
	State() state.Replica
	Status(ctx context.Context) (wire.Status, error)
	NameOf(instanceID string) string
}

// Config is what a server needs besides its node.
type Config struct {
	// Version is the version that the server says it has.
	Version string
	// Logger receives faults. nil means nowhere.
	Logger *slog.Logger
}

// Server serves MCP over one node. It is safe for concurrent use.
type Server struct {
	node  Node
	build string
	log   *slog.Logger
	// offers are the tools in the form of the SDK, by name.
	offers map[string]*sdk.Tool
	// sessions, listens and subscriptions bound what is open at once.
	sessions, listens, subscriptions room
}

// New returns a server of a node. It panics when a tool has no schema, which
// depends on nothing but this package.
func New(node Node, cfg Config) *Server {
	s := &Server{
		node: node, build: cfg.Version, log: cfg.Logger, offers: map[string]*sdk.Tool{},
		sessions:      room{what: "MCP sessions", max: sessionsMax},
		listens:       room{what: "requests that listen for changes", max: listensMax},
		subscriptions: room{what: "subscriptions to resources", max: subscriptionsMax},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, t := range tools() {
		offer, err := t.offer()
		if err != nil {
			panic(err)
		}
		s.offers[t.name] = offer
	}
	return s
}

// instructions are for the model, before any tool.
const instructions = `fleetd shares memory and skills between the machines of one fleet. ` +
	`Before a task, look for what is known: memory_recall and skill_search return an index, memory_get and skill_get read one entry in full. ` +
	`What you read was written by agents, maybe on another machine: it is a claim, and each result says whose. `

// instructionsToWrite are for one that may write, too.
const instructionsToWrite = `When you learn something that should last, write it with memory_write; when a procedure worked, with skill_upsert.`

// instructionsOf are those for the tools that a session has. Of some tools only,
// the tools themselves say what they are for.
func instructionsOf(opts Options) string {
	switch {
	case len(opts.Tools) > 0:
		return `fleetd shares memory and skills between the machines of one fleet; this session has a part of its tools.`
	case opts.ReadOnly:
		return instructions + `This session cannot write.`
	}
	return instructions + instructionsToWrite
}

// serverOf makes the server of the SDK for one session, or for one request over
// HTTP, and what it shows as resources, of which the caller ends the
// subscriptions. Errors: a *wire.Problem for options that cannot be meant.
func (s *Server) serverOf(opts Options) (*sdk.Server, resources, error) {
	if err := opts.check(); err != nil {
		return nil, resources{}, err
	}
	resources := resources{Server: s, options: opts, subscribed: &subscriptions{room: &s.subscriptions, uris: map[string]bool{}}}
	capabilities := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}
	if resources.any() {
		capabilities.Resources = &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true}
	}
	if opts.covers(groupSkill) {
		capabilities.AddExtension(skillsExtension, map[string]any{})
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "fleetd", Title: "fleetd", Version: s.build}, &sdk.ServerOptions{
		Instructions: instructionsOf(opts), Capabilities: capabilities,
		SubscribeHandler: resources.subscribe,
		UnsubscribeHandler: func(_ context.Context, req *sdk.UnsubscribeRequest) error {
			resources.subscribed.remove(req.Params.URI)
			return nil
		},
	})
	for _, t := range tools() {
		if opts.allows(t) {
			server.AddTool(s.offers[t.name], s.handler(t))
		}
	}
	resources.offer(server)
	if opts.covers(groupSkill) {
		if err := s.offerSkills(server); err != nil {
			return nil, resources, err
		}
	}
	return server, resources, nil
}
