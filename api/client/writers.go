package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/fleetsync/fleetd/api/wire"
)

// WrittenBy lists what Revert would do.
func (c *Client) WrittenBy(ctx context.Context, writer, since string) (wire.ChangeList, error) {
	var list wire.ChangeList
	err := c.call(ctx, http.MethodGet, "/v1/writers/"+segment(writer)+"/changes", sinceQuery(since), nil, &list)
	return list, err
}

// Revert undoes what an instance has written since a stamp, such as
// "1790000000000.0" (empty: ever), as far as it still shows, and keeps what
// others wrote later. When it fails, some may be done: it may be repeated.
// Codes: invalid.
func (c *Client) Revert(ctx context.Context, writer, since string) (wire.ChangeList, error) {
	var list wire.ChangeList
	err := c.call(ctx, http.MethodPost, "/v1/writers/"+segment(writer)+"/revert", sinceQuery(since), nil, &list)
	return list, err
}

func sinceQuery(since string) url.Values {
	query := url.Values{}
	setText(query, "since", since)
	return query
}
