package api

import (
	"cmp"
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
	nameOf  func(instanceID string) string
}

func (m memory) register(h *handler) {
	register(h, operation{
		route: "GET /v1/memory", id: "list-memory", tag: "memory", summary: "Every live item that matches, newest first",
		codes: []wire.Code{wire.CodeInvalid},
	}, m.list)
	register(h, operation{
		route: "POST /v1/memory", id: "create-memory", tag: "memory", summary: "Create an item",
		text:   "With the id of an item it replaces that one. A token in the body makes it conditional.",
		status: http.StatusCreated, codes: writeCodes(),
	}, m.post)
	register(h, operation{
		route: "GET /v1/memory/{id}", id: "get-memory", tag: "memory", summary: "One item",
		codes: readCodes(), responses: notModified(),
	}, m.get)
	register(h, operation{
		route: "PUT /v1/memory/{id}", id: "put-memory", tag: "memory", summary: "Create an item, or replace it",
		text: conditionalText, codes: writeCodes(),
	}, m.put)
	register(h, operation{
		route: "DELETE /v1/memory/{id}", id: "delete-memory", tag: "memory", summary: "Delete an item",
		text: deleteText, status: http.StatusNoContent, codes: deleteCodes(), responses: gone(),
	}, m.delete)
	register(h, operation{
		route: "GET /v1/memory/{id}/versions", id: "list-memory-versions", tag: "memory",
		summary: "The history of an item, also of a deleted one", codes: readCodes(),
	}, m.history)
}

// What the operations of skills and memory items share.
const (
	conditionalText = "A token in the body, or If-Match with the ETag of the version that was read, makes the write conditional, and " +
		"If-None-Match: * makes it create only. A write whose condition fails is a conflict: the answer holds the current record, and its ETag."
	deleteText = "If-Match makes it conditional: then it deletes what a GET of the same address shows, and a condition that fails " +
		"is a conflict that holds the current record."
)

func readCodes() []wire.Code {
	return []wire.Code{wire.CodeInvalid, wire.CodeNotFound, wire.CodeAmbiguous, wire.CodeIncomplete}
}

func writeCodes() []wire.Code {
	return []wire.Code{wire.CodeConflict, wire.CodeInvalid, wire.CodeIncomplete, wire.CodeClock, wire.CodeDiskFull}
}

func deleteCodes() []wire.Code {
	return []wire.Code{
		wire.CodeInvalid, wire.CodeNotFound, wire.CodeAmbiguous, wire.CodeConflict, wire.CodeIncomplete, wire.CodeClock, wire.CodeDiskFull,
	}
}

type memoryListInput struct {
	Query string `query:"q" doc:"Words that an item holds, in its content, kind or source: all of them."`
	Kind  string `query:"kind" doc:"Items of this kind alone."`
	ScopeQuery
	PageQuery
}

type memoryListOutput struct{ Body wire.MemoryList }

func (m memory) list(ctx context.Context, in *memoryListInput) (*memoryListOutput, error) {
	after, err := MemoryPlace(in.Cursor)
	if err != nil {
		return nil, err
	}
	page := state.MemoryPage{Query: in.Query, Kind: in.Kind, After: after, Limit: in.Limit}
	if scope, scoped := in.scope(); scoped {
		page.Scope = &scope
	}
	found, more, err := m.library.Page(ctx, page)
	if err != nil {
		return nil, err
	}
	list := wire.MemoryList{SchemaVersion: wire.SchemaVersion, Items: make([]wire.MemoryItem, 0, len(found))}
	for i := range found {
		list.Items = append(list.Items, wireMemory(found[i]))
	}
	if more {
		list.NextCursor = MemoryCursor(found[len(found)-1].Place())
	}
	return &memoryListOutput{list}, nil
}

type memoryGetInput struct {
	ID string `path:"id" doc:"The id of the item."`
	ScopeQuery
	IfNoneMatch
}

type memoryOutput struct {
	ETag string `header:"ETag" doc:"Stands for this version of the item."`
	Body wire.MemoryReply
}

func (m memory) get(ctx context.Context, in *memoryGetInput) (*memoryOutput, error) {
	it, err := m.find(ctx, in.ID, &in.ScopeQuery)
	if errors.Is(err, state.ErrIncomplete) {
		problem, known := problemOf(WithNames(err, m.nameOf)), wireMemory(it)
		problem.Memory = &known
		return nil, problem
	}
	if err != nil {
		return nil, err
	}
	out := memoryReply(it)
	if err := in.unchanged(out.ETag); err != nil {
		return nil, err
	}
	return out, nil
}

// find returns an item of exactly one scope, or else the one that the id leads
// to.
func (m memory) find(ctx context.Context, id string, q *ScopeQuery) (state.MemoryItem, error) {
	if scope, scoped := q.scope(); scoped {
		return m.library.GetIn(ctx, scope, id)
	}
	return m.library.Get(ctx, id)
}

type memoryPostInput struct{ Body wire.MemoryWrite }

func (m memory) post(ctx context.Context, in *memoryPostInput) (*memoryOutput, error) {
	return m.write(ctx, in.Body, in.Body.Token, false)
}

type memoryPutInput struct {
	ID string `path:"id" doc:"The id of the item."`
	Conditions
	Body wire.MemoryWrite
}

func (m memory) put(ctx context.Context, in *memoryPutInput) (*memoryOutput, error) {
	if in.Body.ID != "" && in.Body.ID != in.ID {
		return nil, newProblem(wire.CodeInvalid, "the body's id is not that of the path")
	}
	in.Body.ID = in.ID
	token, exists, err := in.token(in.Body.Token)
	if err != nil {
		return nil, err
	}
	return m.write(ctx, in.Body, token, exists)
}

// write stores an item under a condition. exists is that of Conditions.
func (m memory) write(ctx context.Context, in wire.MemoryWrite, condition wire.Token, exists bool) (*memoryOutput, error) {
	token, err := stateToken(condition)
	if err != nil {
		return nil, err
	}
	if reason := in.Fault(); reason != "" {
		return nil, newProblem(wire.CodeInvalid, reason)
	}
	it := state.MemoryItem{
		ID: in.ID, Kind: cmp.Or(in.Kind, wire.MemoryKindDefault), Content: in.Content, Scope: stateScope(in.Scope), Source: in.Source, Envelope: token,
	}
	if exists {
		current, err := m.library.GetIn(ctx, it.Scope, it.ID)
		if err != nil && !errors.Is(err, state.ErrIncomplete) {
			return nil, absent(err)
		}
		it.Envelope = current.Envelope
	}
	written, err := m.library.Write(ctx, it)
	if errors.Is(err, state.ErrConflict) {
		return nil, m.conflict(ctx, it.Scope, it.ID, err)
	}
	if err != nil {
		return nil, err
	}
	return memoryReply(written), nil
}

// absent makes a conflict of an If-Match for what does not exist.
func absent(err error) error {
	if errors.Is(err, state.ErrNotFound) {
		return newProblem(wire.CodeConflict, "version conflict: If-Match: * for a record that does not exist")
	}
	return err
}

// conflict adds the stored record to the problem of a conflict.
func (m memory) conflict(ctx context.Context, scope state.Scope, id string, err error) error {
	p := problemOf(err)
	if current, errGet := m.library.GetIn(ctx, scope, id); errGet == nil {
		stored := wireMemory(current)
		p.Memory = &stored
	}
	return tagged(p)
}

type memoryDeleteInput struct {
	ID string `path:"id" doc:"The id of the item."`
	ScopeQuery
	IfMatch
}

func (m memory) delete(ctx context.Context, in *memoryDeleteInput) (*done, error) {
	condition, err := in.token()
	if err != nil {
		return nil, err
	}
	scope, scoped := in.scope()
	if in.IfMatch.IfMatch == "" {
		if scoped {
			return nil, m.library.DeleteIn(ctx, scope, in.ID)
		}
		return nil, m.library.Delete(ctx, in.ID)
	}
	token, err := stateToken(condition)
	if err != nil {
		return nil, err
	}
	it, err := m.find(ctx, in.ID, &in.ScopeQuery)
	if err != nil && !errors.Is(err, state.ErrIncomplete) {
		return nil, err
	}
	if err = m.library.DeleteIf(ctx, it.Scope, it.ID, token); errors.Is(err, state.ErrConflict) {
		return nil, m.conflict(ctx, it.Scope, it.ID, err)
	}
	return nil, err
}

type memoryHistoryInput struct {
	ID string `path:"id" doc:"The id of the item."`
	ScopeQuery
	PageQuery
}

// history lists the versions of an item, of a deleted one too.
func (m memory) history(ctx context.Context, in *memoryHistoryInput) (*historyOutput, error) {
	scope, scoped := in.scope()
	key := merge.Key{Kind: "memory", Scope: scope, ID: merge.NewID(in.ID)}
	if scoped {
		versions, err := m.replica.History(ctx, key)
		if err != nil {
			return nil, err
		}
		return historyPage(key, versions, &in.PageQuery)
	}
	versions, err := m.library.History(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		if v.Memory != nil {
			key.Scope, key.ID = v.Memory.Scope, merge.NewID(v.Memory.ID)
			break
		}
	}
	return historyPage(key, versions, &in.PageQuery)
}

func memoryReply(it state.MemoryItem) *memoryOutput {
	w := wireMemory(it)
	return &memoryOutput{ETag: w.ETag(), Body: wire.MemoryReply{SchemaVersion: wire.SchemaVersion, MemoryItem: w}}
}
