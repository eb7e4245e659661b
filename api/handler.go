package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
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
}

// handler routes requests, and turns whatever happens into JSON.
type handler struct {
	mux *http.ServeMux
	log *slog.Logger
}

// NewHandler returns the local API of a node. It is safe for concurrent use.
func NewHandler(backend Backend, cfg Config) http.Handler {
	h := &handler{mux: http.NewServeMux(), log: cfg.Logger}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	cfg.Version.SchemaVersion = wire.SchemaVersion
	a := about{backend: backend, version: cfg.Version}
	h.read("GET /livez", a.live)
	h.read("GET /readyz", a.ready)
	h.read("GET /v1/version", a.versions)
	h.read("GET /v1/status", a.status)
	h.read("GET /v1/members", a.members)
	h.read("GET /v1/conflicts", a.conflicts)
	h.read("POST /v1/probe", a.probe)
	h.write("POST /v1/verify", a.verify)
	h.write("POST /v1/compare", a.compare)
	h.write("POST /v1/invitations", a.invite)
	h.serveRecords(backend.State())
	if cfg.Metrics != nil {
		h.mux.Handle("GET /metrics", metricsHandler(cfg.Metrics, h.log))
	}
	if cfg.MCP != nil {
		h.mux.Handle("/mcp", cfg.MCP)
		h.mux.Handle("GET /v1/mcp", cfg.MCP)
	}
	return h
}

// serveRecords registers what is about records.
func (h *handler) serveRecords(replica state.Replica) {
	rs := records{replica: replica}
	h.read("GET /v1/records/{kind}/{key}/versions", rs.history)
	h.read("POST /v1/records/{kind}/{key}/keep", rs.keep)
	h.write("POST /v1/records/{kind}/{key}/restore", rs.restore)
	s := skills{replica: replica, library: replica.SkillLibrary()}
	h.read("GET /v1/skills", s.list)
	h.read("GET /v1/skills/{ref}", s.get)
	h.write("PUT /v1/skills/{ref}", s.put)
	h.read("DELETE /v1/skills/{ref}", s.delete)
	h.read("GET /v1/skills/{ref}/versions", s.history)
	h.write("POST /v1/skills/{ref}/outcomes", s.outcome)
	h.read("GET /v1/report", s.report)
	m := memory{replica: replica, library: replica.MemoryLibrary()}
	h.read("GET /v1/memory", m.list)
	h.write("POST /v1/memory", m.post)
	h.read("GET /v1/memory/{id}", m.get)
	h.write("PUT /v1/memory/{id}", m.put)
	h.read("DELETE /v1/memory/{id}", m.delete)
	h.read("GET /v1/memory/{id}/versions", m.history)
	ss := sessions{store: replica.Sessions()}
	h.read("GET /v1/sessions", ss.list)
	h.write("POST /v1/sessions", ss.post)
	h.read("GET /v1/sessions/{id}", ss.get)
	h.read("DELETE /v1/sessions/{id}", ss.delete)
	h.read("GET /v1/sessions/{id}/turns", ss.turns)
	h.write("POST /v1/sessions/{id}/turns", ss.append)
	ws := writers{replica: replica}
	h.read("GET /v1/writers/{id}/changes", ws.changes)
	h.read("POST /v1/writers/{id}/revert", ws.revert)
	st := whole{replica: replica}
	h.read("GET /v1/state", st.export)
	h.write("POST /v1/state", st.importing)
}

// read registers an endpoint that takes no body.
func (h *handler) read(pattern string, serve func(*http.Request) (reply, error)) {
	h.write(pattern, func(_ http.ResponseWriter, r *http.Request) (reply, error) { return serve(r) })
}

// write registers an endpoint that reads a body through readBody.
func (h *handler) write(pattern string, serve func(http.ResponseWriter, *http.Request) (reply, error)) {
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		reply, err := serve(w, r)
		if err != nil {
			h.refuse(w, r, err)
			return
		}
		writeReply(w, reply)
	})
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer h.recover(w, r)
	h.log.Debug("request", "method", r.Method, "path", r.URL.Path)
	if err := peerVerdict(r.Context()); err != nil {
		h.refuse(w, r, err)
		return
	}
	// The mux redirects what is not clean, in HTML; a client of this API that
	// asks for it made a mistake.
	escaped := r.URL.EscapedPath()
	next, pattern := h.mux.Handler(r)
	switch {
	case escaped != path.Clean(escaped):
		h.refuse(w, r, noRoute(r))
	case pattern == "":
		h.refuse(w, r, unrouted(next, r))
	default:
		h.mux.ServeHTTP(w, r)
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

// refuse answers with the problem that err is.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	problem := problemOf(err)
	if problem.Code == wire.CodeInternal {
		h.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "err", err)
	}
	writeProblem(w, problem)
}

func noRoute(r *http.Request) *wire.Problem {
	return newProblem(wire.CodeNoRoute, fmt.Sprintf("this daemon has no path %.200q", r.URL.Path))
}

// unrouted asks the mux's own answer to a request without a route whether the
// path is known under other methods.
func unrouted(answer http.Handler, r *http.Request) error {
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
