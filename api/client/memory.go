package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/fleetsync/fleetd/api/wire"
)

// MemoryQuery selects memory items. The zero value selects all.
type MemoryQuery struct {
	// Text matches items that hold every word of it.
	Text string
	// Kind selects one kind; empty means all.
	Kind string
	// Scope narrows to exactly one scope; nil means every scope.
	Scope *wire.Scope
	// Limit caps the result; <= 0 means no cap.
	Limit int
	// Cursor is where a page begins: the NextCursor of the one before.
	Cursor string
}

// Memories lists the live items that match, newest first.
func (c *Client) Memories(ctx context.Context, q MemoryQuery) (wire.MemoryList, error) {
	query := scopeQuery(url.Values{}, q.Scope)
	setText(query, "q", q.Text)
	setText(query, "kind", q.Kind)
	setPage(query, q.Limit, q.Cursor)
	var list wire.MemoryList
	err := c.call(ctx, http.MethodGet, "/v1/memory", query, nil, &list)
	return list, err
}

// Memory returns the live item of an id; see Skill for the scope. Codes:
// not_found, ambiguous.
func (c *Client) Memory(ctx context.Context, id string, scope *wire.Scope) (wire.MemoryReply, error) {
	var reply wire.MemoryReply
	err := c.call(ctx, http.MethodGet, "/v1/memory/"+segment(id), scopeQuery(url.Values{}, scope), nil, &reply)
	return reply, err
}

// WriteMemory creates an item, with a minted id when w has none, or replaces
// the one of that id. Codes: conflict, with the stored item; invalid,
// too_large, denied.
func (c *Client) WriteMemory(ctx context.Context, w wire.MemoryWrite) (wire.MemoryReply, error) {
	var reply wire.MemoryReply
	err := checkText(w.ID, w.Kind, w.Content, w.Source, w.Scope.Instance, w.Scope.Project, w.Scope.Workspace)
	if err != nil {
		return reply, err
	}
	method, path := http.MethodPost, "/v1/memory"
	if w.ID != "" {
		method, path = http.MethodPut, path+"/"+segment(w.ID)
	}
	err = c.call(ctx, method, path, nil, w, &reply)
	return reply, err
}

// DeleteMemory deletes an item; see Skill for the scope. Codes: not_found,
// ambiguous, denied.
func (c *Client) DeleteMemory(ctx context.Context, id string, scope *wire.Scope) error {
	return c.call(ctx, http.MethodDelete, "/v1/memory/"+segment(id), scopeQuery(url.Values{}, scope), nil, nil)
}

// DeleteMemoryIf is DeleteMemory for a caller that has read the item: it succeeds
// only if the item still is the version of this token, which is not zero. Codes:
// conflict besides, with the stored item.
func (c *Client) DeleteMemoryIf(ctx context.Context, id string, scope *wire.Scope, token wire.Token) error {
	return c.deleteIf(ctx, "/v1/memory/"+segment(id), scope, token)
}

// MemoryHistory is SkillHistory for memory items.
func (c *Client) MemoryHistory(ctx context.Context, id string, scope *wire.Scope) (wire.History, error) {
	var history wire.History
	err := c.call(ctx, http.MethodGet, "/v1/memory/"+segment(id)+"/versions", scopeQuery(url.Values{}, scope), nil, &history)
	return history, err
}
