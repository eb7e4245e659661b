package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
)

// Guard admits requests of a listener on loopback. Unlike the socket, that one is
// within reach of every program of this machine, and of every web page that
// somebody looks at on it, also by a name that leads here (DNS rebinding). So a
// request must know the token, ask for this machine by its address, and be of no
// foreign page. It is safe for concurrent use.
type Guard struct {
	// Addr is where the listener is.
	Addr netip.AddrPort
	// Token is what each request carries as "Authorization: Bearer TOKEN".
	Token string
}

// Wrap returns a handler that lets through to next what the guard admits.
func (g Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if problem := g.refusal(r); problem != nil {
			if problem.Code == wire.CodeUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			writeProblem(w, problem)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, wire.ImportBytesMax)
		next.ServeHTTP(w, r)
	})
}

// refusal returns why a request is not admitted; nil when it is. The token comes
// last: whoever is refused for another reason learns nothing about it.
func (g Guard) refusal(r *http.Request) *wire.Problem {
	switch origins := r.Header.Values("Origin"); {
	case !g.isOwnHost(r.Host):
		return newProblem(wire.CodeDenied, fmt.Sprintf("the request asks for the host %.100q; ask for %s", r.Host, g.Addr))
	case len(origins) > 1, len(origins) == 1 && !g.isOwnOrigin(origins[0]):
		return newProblem(wire.CodeDenied, fmt.Sprintf("a page of %.100q may not ask this daemon", strings.Join(origins, ", ")))
	case !isOwnSite(r.Header.Values("Sec-Fetch-Site")):
		return newProblem(wire.CodeDenied, "a page of another site may not ask this daemon")
	case hasBody(r) && !isJSON(r.Header):
		return newProblem(wire.CodeMediaType, "the body must be JSON in UTF-8, not encoded further: send Content-Type: application/json, and no Content-Encoding")
	case !g.knowsToken(r.Header.Values("Authorization")):
		return newProblem(wire.CodeUnauthorized, "send the token of this daemon, which stands in api.token in its data directory: Authorization: Bearer TOKEN")
	}
	return nil
}

// isOwnHost reports whether a Host header names the listener. Names other than
// localhost are nobody's here, whatever they lead to.
func (g Guard) isOwnHost(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil || port != strconv.Itoa(int(g.Addr.Port())) {
		return false
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr == g.Addr.Addr()
}

// isOwnOrigin reports whether a page comes from the daemon itself.
func (g Guard) isOwnOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && g.isOwnHost(u.Host) && origin == "http://"+u.Host
}

// isOwnSite reads the header by which newer browsers say from where a request
// comes; programs do not send it.
func isOwnSite(sites []string) bool {
	return len(sites) == 0 || len(sites) == 1 && (sites[0] == "same-origin" || sites[0] == "none")
}

// hasBody reports whether a request has a body, or may have one.
func hasBody(r *http.Request) bool { return r.ContentLength != 0 }

// isJSON reports whether a body is said to be JSON in UTF-8, as it stands: none other
// is read.
func isJSON(h http.Header) bool {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, isNamed := params["charset"]
	return err == nil && media == "application/json" && len(h.Values("Content-Type")) == 1 &&
		(!isNamed || strings.EqualFold(charset, "utf-8")) && len(h.Values("Content-Encoding")) == 0
}

// knowsToken compares in the same time however much of the token is right.
func (g Guard) knowsToken(headers []string) bool {
	if len(headers) != 1 || g.Token == "" {
		return false
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	given, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(given[:], want[:]) == 1
}
