package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/fleetsync/fleetd/api/wire"
)

// Held lists what the gate for secrets holds back on the node, by key.
func (c *Client) Held(ctx context.Context) (wire.HeldList, error) {
	var list wire.HeldList
	err := c.call(ctx, http.MethodGet, "/v1/secrets", nil, nil, &list)
	return list, err
}

func heldPath(r Record, verb string) string {
	return "/v1/secrets/" + segment(r.Kind) + "/" + segment(r.Key) + verb
}

// ShowHeld says where in a held record the secrets are. The scope of the record is
// the one that it is meant for; nil means the only one. Codes: not_found, ambiguous.
func (c *Client) ShowHeld(ctx context.Context, r Record) (wire.HeldDetail, error) {
	var detail wire.HeldDetail
	err := c.call(ctx, http.MethodGet, heldPath(r, ""), scopeQuery(url.Values{}, r.Scope), nil, &detail)
	return detail, err
}

// Release shares a held record, secrets and all, as long as it still is what its hash
// says. Codes: conflict besides, denied.
func (c *Client) Release(ctx context.Context, r Record, hash string) (wire.Released, error) {
	return c.letOut(ctx, r, "/release", hash)
}

// Redact is Release without the secrets. Codes: invalid besides, for a secret in a
// name.
func (c *Client) Redact(ctx context.Context, r Record, hash string) (wire.Released, error) {
	return c.letOut(ctx, r, "/redact", hash)
}

func (c *Client) letOut(ctx context.Context, r Record, verb, hash string) (wire.Released, error) {
	var released wire.Released
	err := c.call(ctx, http.MethodPost, heldPath(r, verb), scopeQuery(url.Values{}, r.Scope), wire.HeldRequest{Hash: hash}, &released)
	return released, err
}
