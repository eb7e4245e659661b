package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

// FuzzRequest holds that whatever arrives is answered with JSON, that no input
// of a client is a fault of the daemon, and that text comes back as it was sent.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "/v1/skills?q=a&limit=1", ""},
		{"PUT", "/v1/skills/deploy", `{"body":"x","tags":["a"],"scope":{"project":"p"}}`},
		{"POST", "/v1/memory", `{"kind":"fact","content":"\ud83d\ude00","sync_version":1,"updated_hlc":"1.0"}`},
		{"DELETE", "/v1/memory/%2E%2E?project=", ""},
		{"POST", "/v1/invitations", `{"ttl_seconds":60}`},
		{"POST", "/v1/sessions", `{"id":"s","title":"t"}`},
		{"POST", "/v1/sessions/s/turns", `{"id":"t","role":"user","content":"x"}`},
		{"POST", "/v1/records/skill/deploy/restore?project=p", `{"hash":"ab"}`},
		{"GET", "/v1/records/session.turn/s%2Ft%252F/versions", ""},
		{"POST", "/v1/skills/deploy/outcomes?project=p", `{"won":true}`},
		{"POST", "/v1/writers/local/revert?since=1.0", ""},
		{"POST", "/v1/state", `{"snapshot":{"sessions":[{"ID":"s"}],"turns":[{"ID":"t","SessionID":"s","Seq":1}],"skills":[{"Slug":"x"}],"items":[{"ID":"m"}]}}`},
		{"GET", "/v1/skills?cursor=1WyJza2lsbHMiLCJhIiwiIiwiIiwiIl0&limit=2", ""},
		{"GET", "/v1/memory?cursor=1WyJtZW1vcnkiLCIyMDI2LTAxLTAyVDAzOjA0OjA1WiIsImEiLCIiLCIiLCIiXQ", ""},
		{"GET", "/v1/conflicts?limit=1&cursor=1", ""},
		{"GET", "/v1/sessions?limit=1", ""},
		{"GET", "/v1/sessions/s/turns?after=1&limit=1", ""},
		{"GET", "/v1/watch?after=1-25bf8e1a&kind=memory&project=", ""},
		{"GET", "/v1/watch?after=now", ""},
		{"GET", "/openapi.json", ""},
		{"POST", "/v1/compare?member=a&member=b&timeout_ms=1", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	h := api.NewHandler(newBackend(f), api.Config{})
	f.Fuzz(func(t *testing.T, method, target, body string) {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://fleetd"+target, strings.NewReader(body))
		if err != nil {
			t.Skip("not a request")
		}
		request.Header.Set("Content-Type", "application/json")
		if isWatch := strings.HasPrefix(request.URL.Path, "/v1/watch"); isWatch {
			// A stream has no end: this one is left soon.
			ctx, leave := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer leave()
			request = request.WithContext(ctx)
		}
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		a := answer{recorder.Code, recorder.Header(), recorder.Body.String()}
		switch {
		case request.Context().Err() != nil && a.status == http.StatusGatewayTimeout:
		case a.status >= http.StatusInternalServerError:
			t.Errorf("status %d: %s", a.status, a.body)
		case a.status >= http.StatusBadRequest:
			refused(t, a, decode[wire.Problem](t, a, a.status).Code)
		case a.header.Get("Content-Type") == "text/event-stream":
		case a.status != http.StatusNoContent && !json.Valid([]byte(a.body)):
			t.Errorf("%q is not JSON", a.body)
		}
	})
}

// FuzzSurrogates compares the scan for halves of pairs with what encoding/json
// does with them.
func FuzzSurrogates(f *testing.F) {
	f.Add(`\ud83d\ude00`)
	f.Add(`\\ud83d`)
	f.Fuzz(func(t *testing.T, escaped string) {
		quoted := []byte(`"` + escaped + `"`)
		var text string
		if !utf8.Valid(quoted) ||
			strings.Contains(strings.ToLower(escaped), "fffd") || strings.Contains(escaped, "\ufffd") ||
			json.Unmarshal(quoted, &text) != nil {
			t.Skip("not a string that shows it")
		}
		if got, want := api.HasLoneSurrogate(quoted), strings.Contains(text, "\ufffd"); got != want {
			t.Errorf("%s: %t, but encoding/json replaced something: %t", quoted, got, want)
		}
	})
}
