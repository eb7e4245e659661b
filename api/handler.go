package api

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetsync/fleetd/api/wire"
)

// Config is what a handler needs besides its backend.
type Config struct {
	// Version is what /v1/version says.
	Version wire.Build
	// MCP serves agents at /mcp, and at GET /v1/mcp on the connection itself. nil
	// means that there are no such paths.
	MCP http.Handler
	// Logger receives faults and, at level Debug, every request. nil means
	// nowhere.
	Logger *slog.Logger
	// Metrics is what /metrics shows. nil means that there is no such path.
	Metrics prometheus.Gatherer
	// Heartbeat is how often a watcher hears from a stream without events; zero
	// means every 15 seconds.
	Heartbeat time.Duration
}

// handler routes requests, and turns whatever happens into JSON.
type handler struct {
	mux *http.ServeMux
	api huma.API
	// nameOf is that of the backend.
	nameOf func(instanceID string) string
	log    *slog.Logger
	// openapi is the description of all operations.
	openapi []byte
}

// NewHandler returns the local API of a node. It is safe for concurrent use.
func NewHandler(backend Backend, cfg Config) http.Handler {
	return newHandler(backend, cfg)
}

func newHandler(backend Backend, cfg Config) *handler {
	oneConstructor()
	h := &handler{mux: http.NewServeMux(), log: cfg.Logger, nameOf: backend.NameOf}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	cfg.Version.SchemaVersion = wire.SchemaVersion
	h.api = humago.New(segments{h.mux}, openAPI())
	h.api.UseMiddleware(strictly)
	trust{backend: backend}.register(h)
	about{backend: backend, version: cfg.Version, openapi: func() []byte { return h.openapi }}.register(h)
	replica := backend.State()
	records{replica: replica}.register(h)
	skills{replica: replica, library: replica.SkillLibrary(), nameOf: backend.NameOf}.register(h)
	memory{replica: replica, library: replica.MemoryLibrary(), nameOf: backend.NameOf}.register(h)
	sessions{store: replica.Sessions()}.register(h)
	held{replica: replica}.register(h)
	writers{replica: replica}.register(h)
	whole{replica: replica}.register(h)
	watch{backend: backend, heartbeat: cmp.Or(cfg.Heartbeat, watchHeartbeat), room: make(chan struct{}, watchersMax)}.register(h)
	if cfg.Metrics != nil {
		metrics{metricsHandler(cfg.Metrics, h.log)}.register(h)
	}
	if cfg.MCP != nil {
		h.mux.Handle("/mcp", cfg.MCP)
		h.mux.Handle("GET /v1/mcp", cfg.MCP)
	}
	document, err := document(h.api.OpenAPI())
	if err != nil {
		panic(fmt.Sprintf("api: the description of the API: %v", err)) // it follows from the code alone
	}
	h.openapi = document
	return h
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer h.recover(w, r)
	h.log.Debug("request", "method", r.Method, "path", r.URL.Path)
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if err := peerVerdict(r.Context()); err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	// The mux redirects what is not clean, in HTML; a client of this API that
	// asks for it made a mistake.
	escaped := r.URL.EscapedPath()
	routed := routable(r)
	next, pattern := h.mux.Handler(routed)
	switch {
	case escaped != path.Clean(escaped):
		writeProblem(w, noRoute(r))
	case pattern == "":
		writeProblem(w, unrouted(next, r))
	default:
		h.mux.ServeHTTP(w, routed)
	}
}

// recover answers for a handler that panicked. net/http would drop the
// connection, and the client would know nothing.
func (h *handler) recover(w http.ResponseWriter, r *http.Request) {
	if fault := recover(); fault != nil {
		h.log.Error("handler panicked", "method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
		writeProblem(w, newProblem(wire.CodeInternal, "the daemon failed; its log says why"))
	}
}

func noRoute(r *http.Request) *wire.Problem {
	return newProblem(wire.CodeNoRoute, fmt.Sprintf("this daemon has no path %.200q", r.URL.Path))
}

// unrouted asks the mux's own answer to a request without a route whether the
// path is known under other methods.
func unrouted(answer http.Handler, r *http.Request) *wire.Problem {
	probe := headerOnly{header: http.Header{}}
	answer.ServeHTTP(&probe, r)
	if probe.status != http.StatusMethodNotAllowed {
		return noRoute(r)
	}
	methods := strings.Join(probe.header.Values("Allow"), ", ")
	return newProblem(wire.CodeMethod, fmt.Sprintf("%.200q takes %s, not %.20s", r.URL.Path, methods, r.Method))
}

// headerOnly is a response writer that keeps status and header.
type headerOnly struct {
	header http.Header
	status int
}

func (h *headerOnly) Header() http.Header         { return h.header }
func (h *headerOnly) WriteHeader(status int)      { h.status = status }
func (h *headerOnly) Write(b []byte) (int, error) { return len(b), nil }
