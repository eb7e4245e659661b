package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/fleetsync/fleetd/api/wire"
)

// Sessions lists the live sessions, oldest first.
func (c *Client) Sessions(ctx context.Context) (wire.SessionList, error) {
	var list wire.SessionList
	err := c.call(ctx, http.MethodGet, "/v1/sessions", nil, nil, &list)
	return list, err
}

// Session returns the live session of an id. Codes: not_found.
func (c *Client) Session(ctx context.Context, id string) (wire.SessionReply, error) {
	var reply wire.SessionReply
	err := c.call(ctx, http.MethodGet, "/v1/sessions/"+segment(id), nil, nil, &reply)
	return reply, err
}

// CreateSession creates a session, with a minted id when w has none. Codes:
// conflict for an id that exists, a deleted one too; invalid, too_large, denied.
func (c *Client) CreateSession(ctx context.Context, w wire.SessionWrite) (wire.SessionReply, error) {
	var reply wire.SessionReply
	if err := checkText(w.ID, w.Title, w.Model); err != nil {
		return reply, err
	}
	err := c.call(ctx, http.MethodPost, "/v1/sessions", nil, w, &reply)
	return reply, err
}

// TurnQuery selects turns of a session. The zero value selects all.
type TurnQuery struct {
	// After selects turns whose Seq is larger: the Seq of the last of a page selects
	// the next page.
	After int64
	// Limit caps the result, but for turns that share the Seq of the last; <= 0
	// means no cap.
	Limit int
	// Cursor is where a page begins, in the place of After: the NextCursor of the
	// one before.
	Cursor string
}

// Turns returns the transcript of a live session, or a page of it. Codes:
// not_found; bad_request for a negative After.
func (c *Client) Turns(ctx context.Context, sessionID string, q TurnQuery) (wire.TurnList, error) {
	query := url.Values{}
	if q.After != 0 {
		query.Set("after", strconv.FormatInt(q.After, 10))
	}
	setPage(query, q.Limit, q.Cursor)
	var list wire.TurnList
	err := c.call(ctx, http.MethodGet, "/v1/sessions/"+segment(sessionID)+"/turns", query, nil, &list)
	return list, err
}

// AppendTurn adds a turn to a session, with a minted id when w has none. Codes:
// not_found; conflict for another turn of that id; invalid, too_large, denied.
func (c *Client) AppendTurn(ctx context.Context, sessionID string, w wire.TurnWrite) (wire.TurnReply, error) {
	var reply wire.TurnReply
	if err := checkText(w.ID, w.Role, w.Content); err != nil {
		return reply, err
	}
	err := c.call(ctx, http.MethodPost, "/v1/sessions/"+segment(sessionID)+"/turns", nil, w, &reply)
	return reply, err
}

// DeleteSession deletes a session, and hides its turns. Codes: not_found,
// denied.
func (c *Client) DeleteSession(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/v1/sessions/"+segment(id), nil, nil, nil)
}
