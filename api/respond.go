package api

import (
	"encoding/json"
	"net/http"

	"github.com/fleetsync/fleetd/api/wire"
)

// writeProblem answers a request that reaches no operation with a problem.
func writeProblem(w http.ResponseWriter, p *wire.Problem) {
	raw, err := json.Marshal(p)
	if err != nil {
		// No shape of package wire can fail. Should one, the client still gets JSON.
		raw = []byte(`{"title":"Internal error","status":500,"code":"internal"}`)
	}
	header := w.Header()
	header.Set("Content-Type", wire.ProblemType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(p.Status)
	// A client that went away is nobody to tell.
	_, _ = w.Write(append(raw, '\n'))
}
