package client

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/fleetsync/fleetd/api/wire"
)

// Export returns the state of the node as one snapshot, in the JSON of package
// state. It holds all of it in memory, as the node does meanwhile.
func (c *Client) Export(ctx context.Context) (json.RawMessage, error) {
	var snapshot json.RawMessage
	err := c.call(ctx, http.MethodGet, "/v1/state", nil, nil, &snapshot)
	return snapshot, err
}

// Import writes what a part of a snapshot holds and the node does not: a whole
// one goes part by part, each within wire.ImportBytesMax. Records that are
// refused are in the reply, and no error. Codes: invalid, too_large for a part.
func (c *Client) Import(ctx context.Context, part wire.ImportRequest) (wire.ImportReply, error) {
	var reply wire.ImportReply
	if err := checkText(string(part.Snapshot)); err != nil {
		return reply, err
	}
	err := c.call(ctx, http.MethodPost, "/v1/state", nil, part, &reply)
	return reply, err
}
