package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/fleetsync/fleetd/api/wire"
)

// Record names a record of any kind.
type Record struct {
	// Kind and Key are as in wire.Conflict.
	Kind string
	Key  string
	// Scope is exactly that of the record; nil means the only one of all scopes,
	// else the only one of all that is in conflict.
	Scope *wire.Scope
}

func (r Record) path(verb string) string {
	return "/v1/records/" + segment(r.Kind) + "/" + segment(r.Key) + "/" + verb
}

// History lists the versions of a record that the node still has, newest first.
// Codes: not_found, ambiguous.
func (c *Client) History(ctx context.Context, r Record) (wire.History, error) {
	var history wire.History
	err := c.call(ctx, http.MethodGet, r.path("versions"), scopeQuery(url.Values{}, r.Scope), nil, &history)
	return history, err
}

// Keep settles the conflicts of a record: its head stays. Codes: not_found, also
// without a conflict; ambiguous, invalid, denied.
func (c *Client) Keep(ctx context.Context, r Record) (wire.Settled, error) {
	var settled wire.Settled
	err := c.call(ctx, http.MethodPost, r.path("keep"), scopeQuery(url.Values{}, r.Scope), nil, &settled)
	return settled, err
}

// Restore writes the content of a version anew, and settles the conflicts of the
// record by it. hash may be its beginning. Codes: not_found, ambiguous also for
// a beginning that several versions have, invalid, too_large, denied.
func (c *Client) Restore(ctx context.Context, r Record, hash string) (wire.Settled, error) {
	var settled wire.Settled
	if err := checkText(hash); err != nil {
		return settled, err
	}
	err := c.call(ctx, http.MethodPost, r.path("restore"), scopeQuery(url.Values{}, r.Scope), wire.RestoreRequest{Hash: hash}, &settled)
	return settled, err
}
