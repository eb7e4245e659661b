package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
)

// MCPOptions choose what a session of the Model Context Protocol may use. The zero
// value is everything.
type MCPOptions struct {
	// Tools are names of tools and of groups of them.
	Tools []string
	// ReadOnly leaves out every tool that writes.
	ReadOnly bool
}

// MCP begins a session of the Model Context Protocol: JSON-RPC, one message a
// line, on a connection of its own. It lasts until either side closes it, and not
// only as long as ctx. Errors: ErrNotRunning, ErrLost, a *wire.Problem for options
// that cannot be meant.
func (c *Client) MCP(ctx context.Context, opts MCPOptions) (io.ReadWriteCloser, error) {
	query := url.Values{}
	if len(opts.Tools) > 0 {
		query.Set("tools", strings.Join(opts.Tools, ","))
	}
	if opts.ReadOnly {
		query.Set("read_only", strconv.FormatBool(true))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://fleetd/v1/mcp?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("client: make request: %w", err)
	}
	request.Header.Set("Connection", "Upgrade")
	request.Header.Set("Upgrade", wire.UpgradeMCP)
	response, err := c.patient().http.Do(request)
	if err != nil {
		return nil, c.explain(err)
	}
	if response.StatusCode == http.StatusSwitchingProtocols {
		if conn, both := response.Body.(io.ReadWriteCloser); both {
			return conn, nil
		}
	}
	defer func() { _ = response.Body.Close() }() // it was read, or is of no use
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, c.explain(err)
	}
	problem := &wire.Problem{}
	if response.Header.Get("Content-Type") != wire.ProblemType || json.Unmarshal(raw, problem) != nil {
		return nil, fmt.Errorf("%w: %s: status %d", ErrForeign, c.socket, response.StatusCode)
	}
	return nil, problem
}
