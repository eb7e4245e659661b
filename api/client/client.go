// Package client talks to the daemon of one data directory over its Unix
// socket. It imports the shapes of package wire and nothing else of this
// module, so a program that uses it links no node.
//
// What the daemon refuses comes back as a *wire.Problem, whose Code says why.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/fleetsync/fleetd/api/wire"
)

var (
	// ErrNotRunning is returned when nobody answers on the socket. Nothing was
	// written.
	ErrNotRunning = errors.New("client: daemon not running")
	// ErrLost is returned when the daemon went away before it answered. Whether
	// a write was done is not known.
	ErrLost = errors.New("client: daemon went away before it answered")
	// ErrForeign is returned when what answers is not a fleetd.
	ErrForeign = errors.New("client: not the answer of a fleetd")
)

const (
	// replyTimeout bounds one request whose context has no deadline. It is above
	// what the daemon allows itself.
	replyTimeout = 90 * time.Second
	// idleConnections suit a program that asks from several goroutines.
	idleConnections = 16
)

// Client asks one daemon. It is safe for concurrent use.
type Client struct {
	socket string
	http   *http.Client
}

// New returns a client of the daemon that listens on a Unix socket. It connects
// when it is used.
func New(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	transport := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: idleConnections, IdleConnTimeout: time.Minute}
	return &Client{socket: socket, http: &http.Client{Transport: transport, Timeout: replyTimeout}}
}

// Close gives idle connections back. The client may be used afterwards.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// patient is the same client for requests that take as long as their context
// allows.
func (c *Client) patient() *Client {
	waiting := *c.http
	waiting.Timeout = 0
	return &Client{socket: c.socket, http: &waiting}
}

// call sends one request and decodes the reply into out, unless it is nil.
// path holds escaped segments.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, in, out any) error {
	return c.send(ctx, method, path, query, nil, in, out)
}

// deleteIf deletes a record that still is the version of a token.
func (c *Client) deleteIf(ctx context.Context, path string, scope *wire.Scope, token wire.Token) error {
	tag := token.ETag()
	if tag == "" { // it would delete whatever is there
		return &wire.Problem{Title: "Invalid value", Status: http.StatusBadRequest, Code: wire.CodeInvalid, Detail: "the token names no version"}
	}
	header := http.Header{"If-Match": {tag}}
	return c.send(ctx, http.MethodDelete, path, scopeQuery(url.Values{}, scope), header, nil, nil)
}

// send is call with further headers.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, header http.Header, in, out any) error {
	target := "http://fleetd" + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("client: encode request: %w", err)
		}
		body = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return fmt.Errorf("client: make request: %w", err)
	}
	if header != nil {
		request.Header = header
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return c.explain(err)
	}
	defer func() { _ = response.Body.Close() }() // it was read, or is of no use
	return c.read(response, out)
}

// read decodes a reply: the shape asked for, or a problem.
func (c *Client) read(response *http.Response, out any) error {
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return c.explain(err)
	}
	if response.StatusCode/100 != 2 && response.Header.Get("Content-Type") == wire.ProblemType {
		problem := &wire.Problem{}
		if err := json.Unmarshal(raw, problem); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrForeign, c.socket, err)
		}
		return problem
	}
	if out == nil && response.StatusCode/100 == 2 {
		return nil
	}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return fmt.Errorf("%w: %s: status %d", ErrForeign, c.socket, response.StatusCode)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrForeign, c.socket, err)
	}
	return nil
}

// explain sorts errors of the connection.
func (c *Client) explain(err error) error {
	var op *net.OpError
	var timeout net.Error
	dialled := errors.As(err, &op) && op.Op == "dial"
	switch {
	// EINVAL is what a path gets that is too long: nobody can listen there.
	case dialled && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EINVAL)):
		return fmt.Errorf("%w: nobody answers on %s", ErrNotRunning, c.socket)
	case dialled, errors.Is(err, context.Canceled), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("client: %w", err)
	default:
		return fmt.Errorf("%w: %s: %w", ErrLost, c.socket, err)
	}
}

// segment escapes one segment of a path. A dot is escaped too, since "." and
// ".." are ids like others and not places.
func segment(text string) string {
	return strings.ReplaceAll(url.PathEscape(text), ".", "%2E")
}

// checkText refuses text that is not UTF-8: encoding/json would replace what is
// wrong with it in silence.
func checkText(fields ...string) error {
	for _, text := range fields {
		if !utf8.ValidString(text) {
			return &wire.Problem{
				Title: "Invalid value", Status: http.StatusBadRequest, Code: wire.CodeInvalid,
				Detail: fmt.Sprintf("the text %.40q is not UTF-8; convert it first, for example with iconv", text),
			}
		}
	}
	return nil
}

// scopeQuery adds the parameters of exactly one scope; nil adds none.
func scopeQuery(query url.Values, scope *wire.Scope) url.Values {
	if scope != nil {
		query.Set("instance", scope.Instance)
		query.Set("project", scope.Project)
		query.Set("workspace", scope.Workspace)
	}
	return query
}
