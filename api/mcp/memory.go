package mcp

import (
	"context"
	"errors"
	"time"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// MemoryEntry is a memory item in an index.
type MemoryEntry struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Snippet is the first line of the content, shortened; memory_get has all of it.
	Snippet string     `json:"snippet"`
	Bytes   int        `json:"bytes"`
	Scope   wire.Scope `json:"scope"`
	// Source is where the writer says it was learned.
	Source    string    `json:"source"`
	CreatedAt time.Time `json:"created_at"`
	// Incomplete says that the content is not all on this machine yet.
	Incomplete bool `json:"incomplete"`
	gated
	// Version is the token that if_version takes.
	Version string `json:"version"`
	Provenance
}

// Memory is a memory item with its content.
type Memory struct {
	MemoryEntry
	Content string `json:"content"`
}

// MemoryIndex is the first step of recall: what there is, without the contents.
type MemoryIndex struct {
	Items []MemoryEntry `json:"items"`
	page
}

func (s *Server) memoryEntry(it state.MemoryItem, in conflicts) MemoryEntry {
	return MemoryEntry{
		ID: it.ID, Kind: it.Kind, Snippet: snippet(it.Content), Bytes: len(it.Content), Scope: wireScope(it.Scope), Source: it.Source,
		CreatedAt: it.CreatedAt, Incomplete: it.Incomplete, gated: gatedOf(it.Secrets), Version: versionOf(it.Envelope),
		Provenance: s.provenance(it.Envelope, in[keyOfMemory(it)]),
	}
}

func (s *Server) memory(it state.MemoryItem, in conflicts) Memory {
	return Memory{s.memoryEntry(it, in), it.Content}
}

// kindText is what an entry is, for a line of text.
func (e *MemoryEntry) kindText() string {
	if e.Incomplete {
		return api.Named(e.Kind) + ", incomplete"
	}
	return api.Named(e.Kind)
}

// findMemory finds an item as the HTTP API does: in exactly one scope when
// scoped. Errors: those of state.MemoryLibrary.
func (s *Server) findMemory(ctx context.Context, id string, scope state.Scope, scoped bool) (state.MemoryItem, error) {
	library := s.node.State().MemoryLibrary()
	if scoped {
		return library.GetIn(ctx, scope, id)
	}
	return library.Get(ctx, id)
}

// memoryOf finds the item that a call names. One that is incomplete is an error
// with what is known of it.
func (c *call) memoryOf(ctx context.Context) (state.MemoryItem, error) {
	scope, scoped, err := c.args.scope()
	if err != nil {
		return state.MemoryItem{}, err
	}
	it, err := c.findMemory(ctx, c.args.text("id"), scope, scoped)
	if errors.Is(err, state.ErrIncomplete) {
		in, errConflicts := c.conflicts(ctx, keyOfMemory(it))
		if errConflicts != nil {
			return it, errConflicts
		}
		return it, &recordError{err, c.memoryEntry(it, in)}
	}
	return it, err
}
