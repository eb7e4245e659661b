package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

// upgrade serves one MCP session on the connection of a request that asks for
// the protocol wire.UpgradeMCP: from then on it carries JSON-RPC, one message a
// line, until either side closes it or the daemon stops. The query says the
// options of the session.
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request) {
	opts, err := ParseOptions(r.URL.RawQuery)
	if err == nil && !strings.EqualFold(r.Header.Get("Upgrade"), wire.UpgradeMCP) {
		err = api.NewProblem(wire.CodeBadRequest, "this path carries MCP sessions: send Connection: Upgrade and Upgrade: "+wire.UpgradeMCP+", or use /mcp")
	}
	if err != nil {
		writeProblem(w, err)
		return
	}
	if err := s.sessions.take(); err != nil {
		writeProblem(w, err)
		return
	}
	defer s.sessions.give()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		writeProblem(w, err)
		return
	}
	defer func() { _ = conn.Close() }() // the session has ended
	ctx, cancel := untilStop(r.Context())
	defer cancel()
	if err := s.switchProtocols(ctx, conn, buffered, opts); err != nil {
		s.log.Debug("mcp session ended", "err", err)
	}
}

func (s *Server) switchProtocols(ctx context.Context, conn net.Conn, buffered *bufio.ReadWriter, opts Options) error {
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", wire.UpgradeMCP); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return s.ServeConn(ctx, struct {
		io.Reader
		io.WriteCloser
	}{buffered.Reader, conn}, opts)
}

// ServeConn serves one session on a connection, until the client closes it or
// ctx ends. It closes the connection. Errors: a *wire.Problem for options that
// cannot be meant, those of the connection and of the SDK, that of ctx.
func (s *Server) ServeConn(ctx context.Context, conn io.ReadWriteCloser, opts Options) error {
	server, shown, err := s.serverOf(opts)
	if err != nil {
		return err
	}
	defer shown.subscribed.end()
	s.endListening(ctx, server)
	after, err := api.Newest(ctx, s.node.State().Log())
	if err != nil {
		return err
	}
	defer shown.notifying(ctx, server, after)()
	return server.Run(ctx, &sdk.IOTransport{
		Reader: io.NopCloser(conn), Writer: conn,
		// The SDK counts what it has read of the next message, too.
		MaxLineLength: wire.MCPLineBytesMax + 1<<20,
	})
}

// endListening ends the requests that listen for changes when a session does. The
// SDK ends those that it knows of at that moment, and then waits for all: one that
// is just beginning would keep the session, and the daemon, for ever. One that is
// one too many is refused.
func (s *Server) endListening(ctx context.Context, server *sdk.Server) {
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(request context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "subscriptions/listen" {
				if err := s.listens.take(); err != nil {
					return nil, rpcError(err)
				}
				defer s.listens.give()
				listening, end := context.WithCancel(request)
				defer end()
				defer context.AfterFunc(ctx, end)()
				request = listening
			}
			return next(request, method, req)
		}
	})
}
