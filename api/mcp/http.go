package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/mcp/relay"
	"github.com/fleetsync/fleetd/api/wire"
)

// serverKey is the context key of the server that answers one request.
type serverKey struct{}

// ServeHTTP implements http.Handler: MCP at /mcp, and at any other path a session
// on the connection of the request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/mcp" {
		s.serveMessage(w, r)
		return
	}
	s.upgrade(w, r)
}

// serveMessage serves MCP over HTTP, one POST for one message: no session is kept, so
// that a daemon that was restarted is the same to its clients. The query says
// the options of the request.
func (s *Server) serveMessage(w http.ResponseWriter, r *http.Request) {
	streamable := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		server, _ := r.Context().Value(serverKey{}).(*sdk.Server)
		return server
	}, &sdk.StreamableHTTPOptions{Stateless: true, MaxRequestBodyBytes: wire.RequestBytesMax, PropagateRequestCancellation: true})
	if refusesID(w, r) {
		return
	}
	opts, err := ParseOptions(r.URL.RawQuery)
	if err != nil {
		writeProblem(w, err)
		return
	}
	server, shown, err := s.serverOf(opts)
	if err != nil {
		writeProblem(w, err)
		return
	}
	defer shown.subscribed.end()
	shown.listenOverHTTP(w, server)
	plain := &plainErrors{ResponseWriter: w}
	streamable.ServeHTTP(plain, r.WithContext(context.WithValue(r.Context(), serverKey{}, server)))
	plain.finish()
}

// refusesID answers a message of which the id would come back changed, as the relay
// does: the SDK takes numbers for float64, and the answer would belong to no request.
// It reads the body, and leaves it as it was, an error in it too.
func refusesID(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	body := r.Body
	text, err := io.ReadAll(io.LimitReader(body, wire.RequestBytesMax+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), body), body}
	if err != nil {
		return false // whoever reads on meets it again
	}
	answer := relay.RefuseID(text)
	if answer == nil {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(answer) // a client that went away is nobody to tell
	return true
}

// listenOverHTTP makes a request that listens for changes get notices: as long
// as it lasts, its connection has no deadline and the stream is watched.
func (r resources) listenOverHTTP(w http.ResponseWriter, server *sdk.Server) {
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method != "subscriptions/listen" || !r.any() {
				return next(ctx, method, req)
			}
			if err := r.listens.take(); err != nil {
				return nil, rpcError(err)
			}
			defer r.listens.give()
			after, err := api.Newest(ctx, r.node.State().Log())
			if err != nil {
				return nil, rpcError(err)
			}
			control := http.NewResponseController(w)
			// A writer without deadlines needs none.
			_ = errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{}))
			ctx, cancel := untilStop(ctx)
			defer cancel()
			defer r.notifying(ctx, server, after)()
			return next(ctx, method, req)
		}
	})
}

// plainErrors makes a problem of each error that the SDK answers as plain text:
// everything else that this API answers is JSON.
type plainErrors struct {
	http.ResponseWriter
	status int
	text   bytes.Buffer
}

// Unwrap lets an http.ResponseController reach the connection.
func (p *plainErrors) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Flush implements http.Flusher, which the SDK asks for.
func (p *plainErrors) Flush() {
	if p.status == 0 {
		// A connection that cannot be flushed is slower, and right.
		_ = http.NewResponseController(p.ResponseWriter).Flush()
	}
}

// WriteHeader implements http.ResponseWriter.
func (p *plainErrors) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(p.Header().Get("Content-Type"), "text/plain") {
		p.status = status
		return
	}
	p.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (p *plainErrors) Write(b []byte) (int, error) {
	if p.status != 0 {
		return p.text.Write(b)
	}
	return p.ResponseWriter.Write(b)
}

// finish sends the problem of an error that was held back.
func (p *plainErrors) finish() {
	if p.status == 0 {
		return
	}
	code := wire.CodeBadRequest
	switch p.status {
	case http.StatusMethodNotAllowed:
		code = wire.CodeMethod
	case http.StatusUnsupportedMediaType:
		code = wire.CodeMediaType
	case http.StatusRequestEntityTooLarge:
		code = wire.CodeTooLarge
	}
	if p.status >= http.StatusInternalServerError {
		code = wire.CodeInternal
	}
	writeProblem(p.ResponseWriter, api.NewProblem(code, strings.TrimSpace(p.text.String())))
}

func writeProblem(w http.ResponseWriter, err error) {
	problem := api.ProblemOf(err)
	w.Header().Set("Content-Type", wire.ProblemType)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Del("Content-Length")
	w.WriteHeader(problem.Status)
	_ = json.NewEncoder(w).Encode(problem) // a client that went away is nobody to tell
}
