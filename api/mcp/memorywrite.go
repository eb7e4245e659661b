package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// Deleted is a record that was deleted, as it was.
type Deleted struct {
	Kind  string     `json:"kind"`
	ID    string     `json:"id"`
	Scope wire.Scope `json:"scope"`
	// Deleted is true.
	Deleted bool `json:"deleted"`
	Provenance
}

func writeMemory(ctx context.Context, c *call) (result, error) {
	it, err := c.memoryToWrite(ctx)
	if err != nil {
		return result{}, err
	}
	return c.writtenMemory(ctx, it)
}

// memoryToWrite is the item that a call asks for. What it does not say of an item
// that is there stays.
func (c *call) memoryToWrite(ctx context.Context) (state.MemoryItem, error) {
	scope, scoped, err := c.args.scope()
	if err != nil {
		return state.MemoryItem{}, err
	}
	token, err := c.args.token()
	if err != nil {
		return state.MemoryItem{}, err
	}
	it := state.MemoryItem{ID: c.args.text("id"), Kind: wire.MemoryKindDefault, Source: c.client, Scope: scope}
	if it.ID != "" {
		known, err := c.findMemory(ctx, it.ID, scope, scoped)
		switch {
		case err == nil, errors.Is(err, state.ErrIncomplete):
			it.Kind, it.Source, it.Scope = known.Kind, known.Source, meantFor(known.Scope, known.Secrets, scoped)
		case !errors.Is(err, state.ErrNotFound):
			return it, err
		}
	}
	it.Content, it.Envelope = c.args.text("content"), token
	for name, field := range map[string]*string{"kind": &it.Kind, "source": &it.Source} {
		if c.args.has(name) && (name != "kind" || c.args.text(name) != "") { // models name what they leave empty
			*field = c.args.text(name)
		}
	}
	fault := wire.MemoryWrite{ID: it.ID, Kind: it.Kind, Content: it.Content, Scope: wireScope(it.Scope), Source: it.Source}.Fault()
	if fault != "" {
		return it, api.NewProblem(wire.CodeInvalid, fault)
	}
	return it, nil
}

// writtenMemory writes an item. A conflict is an error with the stored record.
func (c *call) writtenMemory(ctx context.Context, it state.MemoryItem) (result, error) {
	written, err := c.node.State().MemoryLibrary().Write(ctx, it)
	if errors.Is(err, state.ErrConflict) {
		return result{}, c.memoryConflict(ctx, it.Scope, it.ID, err)
	}
	if err != nil {
		return result{}, err
	}
	in, err := c.conflicts(ctx, keyOfMemory(written))
	if err != nil {
		return result{}, err
	}
	m := c.memoryEntry(written, in)
	return result{m, fmt.Sprintf("remembered %s (%s)%s, %d bytes\nversion %s, %s", api.Named(m.ID), api.Named(m.Kind), scopeText(written.Scope), m.Bytes, m.Version, m.Provenance) + m.note()}, nil
}

// memoryConflict adds the stored record to the error of a conflict.
func (s *Server) memoryConflict(ctx context.Context, scope state.Scope, id string, err error) error {
	current, errGet := s.node.State().MemoryLibrary().GetIn(ctx, scope, id)
	if errGet != nil {
		return err
	}
	in, errConflicts := s.conflicts(ctx, keyOfMemory(current))
	if errConflicts != nil {
		return err
	}
	return &recordError{err, s.memory(current, in)}
}

func deleteMemory(ctx context.Context, c *call) (result, error) {
	token, err := c.args.token()
	if err != nil {
		return result{}, err
	}
	it, err := c.memoryOf(ctx)
	if err != nil && !errors.Is(err, state.ErrIncomplete) { // it can be deleted all the same
		return result{}, err
	}
	library := c.node.State().MemoryLibrary()
	if token.SyncVersion != 0 {
		err = library.DeleteIf(ctx, it.Scope, it.ID, token)
	} else {
		err = library.DeleteIn(ctx, it.Scope, it.ID)
	}
	if errors.Is(err, state.ErrConflict) {
		return result{}, c.memoryConflict(ctx, it.Scope, it.ID, err)
	}
	if err != nil {
		return result{}, err
	}
	gone := Deleted{"memory", it.ID, wireScope(it.Scope), true, c.provenance(it.Envelope, false)}
	return result{gone, fmt.Sprintf("deleted %s (%s)%s in the whole fleet; it was written %s", api.Named(it.ID), api.Named(it.Kind), scopeText(it.Scope), gone.Provenance)}, nil
}
