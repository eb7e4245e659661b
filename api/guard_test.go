package api_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

const guardToken = "correct-horse-battery-staple"

// guarded serves a backend over loopback behind a guard, and returns where.
func guarded(t *testing.T, b api.Backend) netip.AddrPort {
	t.Helper()
	listener, at, err := api.ListenLoopback(t.Context(), netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	h := api.Guard{Addr: at, Token: guardToken}.Wrap(api.NewHandler(b, api.Config{}))
	go func() { done <- api.Serve(ctx, listener, h, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return at
}

// call sends one request with these headers; one that is empty is left out.
func call(t *testing.T, at netip.AddrPort, method, path, body string, headers map[string]string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+at.String()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if host, isSet := headers["Host"]; isSet {
		r.Host = host
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

// TestGuardTable holds the rows of a web page against the local API: every
// combination of whom a request asks for, from which page it comes and what it
// knows (case 68). A name that leads here is none of this machine's.
func TestGuardTable(t *testing.T) {
	at := guarded(t, newBackend(t))
	port := strings.TrimPrefix(at.String(), "127.0.0.1")
	hosts := map[string]bool{"127.0.0.1" + port: true, "localhost" + port: true, "evil.example" + port: false, "127.0.0.1:1": false, "[::1]" + port: false}
	origins := map[string]bool{"": true, "http://127.0.0.1" + port: true, "http://evil.example": false, "null": false}
	tokens := map[string]bool{"Bearer " + guardToken: true, "": false}
	rows := 0
	for host, isOwn := range hosts {
		for origin, isOurs := range origins {
			for token, isRight := range tokens {
				rows++
				a := call(t, at, http.MethodPost, "/v1/memory", `{"content":"x"}`, map[string]string{
					"Host": host, "Origin": origin, "Authorization": token, "Content-Type": "application/json",
				})
				want := http.StatusCreated
				switch {
				case !isOwn || !isOurs:
					want = http.StatusForbidden
				case !isRight:
					want = http.StatusUnauthorized
				}
				if a.status != want {
					t.Errorf("host %q, origin %q, token %q: %d, want %d: %s", host, origin, token, a.status, want, a.body)
				}
				if want != http.StatusCreated {
					refused(t, a, decode[wire.Problem](t, a, want).Code)
				}
			}
		}
	}
	if rows != 40 {
		t.Errorf("%d rows, want 40", rows)
	}
}

// TestGuardRefuses holds what is left: each request is right but in one thing.
func TestGuardRefuses(t *testing.T) {
	b := newBackend(t)
	at := guarded(t, b)
	port := strings.TrimPrefix(at.String(), "127.0.0.1")
	for name, c := range map[string]struct {
		header, value string
		want          int
	}{
		"nothing":                      {"Accept", "*/*", http.StatusCreated},
		"the name in capitals":         {"Host", "LOCALHOST" + port, http.StatusCreated},
		"a name of this machine":       {"Host", "localhost.localdomain" + port, http.StatusForbidden},
		"localhost as a root name":     {"Host", "localhost." + port, http.StatusForbidden},
		"a host without a port":        {"Host", "127.0.0.1", http.StatusForbidden},
		"another loopback address":     {"Host", "127.0.0.2" + port, http.StatusForbidden},
		"the address in another form":  {"Host", "127.1" + port, http.StatusForbidden},
		"the address within IPv6":      {"Host", "[::ffff:127.0.0.1]" + port, http.StatusForbidden},
		"every address":                {"Host", "0.0.0.0" + port, http.StatusForbidden},
		"an origin of another scheme":  {"Origin", "https://127.0.0.1" + port, http.StatusForbidden},
		"an origin of another port":    {"Origin", "http://127.0.0.1:1", http.StatusForbidden},
		"an origin with a path":        {"Origin", "http://127.0.0.1" + port + "/x", http.StatusForbidden},
		"an origin with a user":        {"Origin", "http://evil@127.0.0.1" + port, http.StatusForbidden},
		"a page of another site":       {"Sec-Fetch-Site", "cross-site", http.StatusForbidden},
		"a page of a sister site":      {"Sec-Fetch-Site", "same-site", http.StatusForbidden},
		"the own page":                 {"Sec-Fetch-Site", "same-origin", http.StatusCreated},
		"a form":                       {"Content-Type", "text/plain", http.StatusUnsupportedMediaType},
		"no type":                      {"Content-Type", "", http.StatusUnsupportedMediaType},
		"another scheme":               {"Authorization", "Basic " + guardToken, http.StatusUnauthorized},
		"the scheme in lower case":     {"Authorization", "bearer " + guardToken, http.StatusCreated},
		"the beginning of the token":   {"Authorization", "Bearer " + guardToken[:8], http.StatusUnauthorized},
		"the token and more":           {"Authorization", "Bearer " + guardToken + "x", http.StatusUnauthorized},
		"the token without its scheme": {"Authorization", guardToken, http.StatusUnauthorized},
	} {
		headers := map[string]string{"Authorization": "Bearer " + guardToken, "Content-Type": "application/json"}
		headers[c.header] = c.value
		if a := call(t, at, http.MethodPost, "/v1/memory", `{"content":"x"}`, headers); a.status != c.want {
			t.Errorf("%s: %d, want %d: %s", name, a.status, c.want, a.body)
		}
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics", "/openapi.json", "/v1/status", "/mcp", "/nowhere"} {
		if a := call(t, at, http.MethodGet, path, "", nil); a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s without a token: %d", path, a.status)
		}
	}
	if a := call(t, at, http.MethodOptions, "/v1/memory", "", map[string]string{"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}); a.status != http.StatusForbidden || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a preflight: %d, %v", a.status, a.header)
	}
}

func TestGuardBoundsBodies(t *testing.T) {
	at := guarded(t, newBackend(t))
	headers := map[string]string{"Authorization": "Bearer " + guardToken, "Content-Type": "application/json"}
	body := `{"content":"` + strings.Repeat("x", wire.ImportBytesMax) + `"}`
	a := call(t, at, http.MethodPost, "/v1/memory", body, headers)
	if p := decode[wire.Problem](t, a, http.StatusRequestEntityTooLarge); p.Code != wire.CodeTooLarge {
		t.Errorf("code %s", p.Code)
	}
}

func TestListenLoopback(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "192.0.2.1:0", "[::]:0"} {
		if l, _, err := api.ListenLoopback(t.Context(), netip.MustParseAddrPort(addr)); err == nil {
			_ = l.Close()
			t.Errorf("it listens on %s", addr)
		}
	}
	l, at, err := api.ListenLoopback(t.Context(), netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test is over
	var op *net.OpError
	if _, _, err := api.ListenLoopback(t.Context(), at); !errors.As(err, &op) {
		t.Errorf("a port in use: %v", err)
	}
}
