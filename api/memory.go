package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// memory serves /v1/memory.
type memory struct {
	replica state.Replica
	library state.MemoryLibrary
}

func (m memory) list(r *http.Request) (reply, error) {
	p := paramsOf(r)
	query, kind, limit := p.text("q"), p.text("kind"), p.count("limit")
	scope, scoped := p.scope()
	if err := p.done(); err != nil {
		return reply{}, err
	}
	// Recall takes the zero scope for every scope, and knows no kind: what it
	// cannot narrow is narrowed here, and then the limit has to wait.
	keep := func(it state.MemoryItem) bool {
		return (kind == "" || it.Kind == kind) && (!scoped || it.Scope == scope)
	}
	recallLimit := limit
	if kind != "" || scoped {
		recallLimit = 0
	}
	found, err := m.library.Recall(r.Context(), state.RecallQuery{Query: query, Scope: scope, Limit: recallLimit})
	if err != nil {
		return reply{}, err
	}
	list := wire.MemoryList{SchemaVersion: wire.SchemaVersion, Items: []wire.MemoryItem{}}
	for _, it := range found {
		if limit > 0 && len(list.Items) == limit {
			break
		}
		if keep(it) {
			list.Items = append(list.Items, wireMemory(it))
		}
	}
	return ok(list), nil
}

func (m memory) get(r *http.Request) (reply, error) {
	p := paramsOf(r)
	scope, scoped := p.scope()
	if err := p.done(); err != nil {
		return reply{}, err
	}
	var it state.MemoryItem
	var err error
	if scoped {
		it, err = m.library.GetIn(r.Context(), scope, r.PathValue("id"))
	} else {
		it, err = m.library.Get(r.Context(), r.PathValue("id"))
	}
	if errors.Is(err, state.ErrIncomplete) {
		problem, known := problemOf(err), wireMemory(it)
		problem.Memory = &known
		return reply{}, problem
	}
	if err != nil {
		return reply{}, err
	}
	return ok(memoryReply(it)), nil
}

func (m memory) post(w http.ResponseWriter, r *http.Request) (reply, error) {
	written, err := m.write(w, r, "")
	return reply{status: http.StatusCreated, body: written}, err
}

func (m memory) put(w http.ResponseWriter, r *http.Request) (reply, error) {
	written, err := m.write(w, r, r.PathValue("id"))
	return ok(written), err
}

// write stores what the request holds. pathID is the id that the path names, if
// it names one.
func (m memory) write(w http.ResponseWriter, r *http.Request, pathID string) (wire.MemoryReply, error) {
	var in wire.MemoryWrite
	_, err := readBody(w, r, &in)
	if err := errors.Join(paramsOf(r).done(), err); err != nil {
		return wire.MemoryReply{}, err
	}
	if pathID != "" && in.ID != "" && in.ID != pathID {
		return wire.MemoryReply{}, newProblem(wire.CodeInvalid, "the body's id is not that of the path")
	}
	token, err := stateToken(in.Token)
	if err != nil {
		return wire.MemoryReply{}, err
	}
	if pathID != "" {
		in.ID = pathID
	}
	if reason := in.Fault(); reason != "" {
		return wire.MemoryReply{}, newProblem(wire.CodeInvalid, reason)
	}
	it := state.MemoryItem{
		ID: in.ID, Kind: in.Kind, Content: in.Content, Scope: stateScope(in.Scope),
		Source: in.Source, Envelope: token,
	}
	written, err := m.library.Write(r.Context(), it)
	if errors.Is(err, state.ErrConflict) {
		return wire.MemoryReply{}, m.conflict(r.Context(), it, err)
	}
	if err != nil {
		return wire.MemoryReply{}, err
	}
	return memoryReply(written), nil
}

// conflict adds the stored record to the problem of a conflict.
func (m memory) conflict(ctx context.Context, it state.MemoryItem, err error) error {
	problem := problemOf(err)
	if current, errGet := m.library.GetIn(ctx, it.Scope, it.ID); errGet == nil {
		stored := wireMemory(current)
		problem.Memory = &stored
	}
	return problem
}

func (m memory) delete(r *http.Request) (reply, error) {
	p := paramsOf(r)
	scope, scoped := p.scope()
	if err := p.done(); err != nil {
		return reply{}, err
	}
	gone := reply{status: http.StatusNoContent}
	if scoped {
		return gone, m.library.DeleteIn(r.Context(), scope, r.PathValue("id"))
	}
	return gone, m.library.Delete(r.Context(), r.PathValue("id"))
}

// history lists the versions of an item, of a deleted one too.
func (m memory) history(r *http.Request) (reply, error) {
	p := paramsOf(r)
	scope, scoped := p.scope()
	if err := p.done(); err != nil {
		return reply{}, err
	}
	key := merge.Key{Kind: "memory", Scope: scope, ID: merge.NewID(r.PathValue("id"))}
	if scoped {
		versions, err := m.replica.History(r.Context(), key)
		if err != nil {
			return reply{}, err
		}
		return ok(wireHistory(key, versions)), nil
	}
	versions, err := m.library.History(r.Context(), r.PathValue("id"))
	if err != nil {
		return reply{}, err
	}
	for _, v := range versions {
		if v.Memory != nil {
			key.Scope, key.ID = v.Memory.Scope, merge.NewID(v.Memory.ID)
			break
		}
	}
	return ok(wireHistory(key, versions)), nil
}

func memoryReply(it state.MemoryItem) wire.MemoryReply {
	return wire.MemoryReply{SchemaVersion: wire.SchemaVersion, MemoryItem: wireMemory(it)}
}
