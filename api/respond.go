package api

import (
	"encoding/json"
	"net/http"

	"github.com/fleetsync/fleetd/api/wire"
)

// reply is what a handler answers when nothing went wrong.
type reply struct {
	status int // 200 when zero
	body   any
	raw    []byte // JSON to be sent as it is, in the place of body
}

// ok answers 200 with a body.
func ok(body any) reply { return reply{body: body} }

// writeReply sends a reply as JSON.
func writeReply(w http.ResponseWriter, r reply) {
	status := r.status
	if status == 0 {
		status = http.StatusOK
	}
	if r.raw != nil {
		writeBytes(w, status, "application/json", r.raw)
		return
	}
	writeJSON(w, status, "application/json", r.body)
}

// writeProblem sends a problem.
func writeProblem(w http.ResponseWriter, p *wire.Problem) {
	writeJSON(w, p.Status, wire.ProblemType, p)
}

func writeJSON(w http.ResponseWriter, status int, mediaType string, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		// No shape of package wire can fail. Should one, the client still gets JSON.
		status, mediaType = http.StatusInternalServerError, wire.ProblemType
		raw = []byte(`{"title":"Internal error","status":500,"code":"internal"}`)
	}
	writeBytes(w, status, mediaType, raw)
}

func writeBytes(w http.ResponseWriter, status int, mediaType string, raw []byte) {
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// A client that went away is nobody to tell.
	_, _ = w.Write(append(raw, '\n'))
}
