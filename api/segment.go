package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// segments routes paths whose segments are ids of any characters. The mux takes a
// segment that is an escaped slash alone, the id "/", for the slash at the end of a
// path; so it is shown another one there, and the handler gets the id back.
type segments struct{ *http.ServeMux }

// originalKey is the context key of the URL as it was asked for.
type originalKey struct{}

// standIn is what the mux is shown in place of an escaped slash: another segment
// that no path of this API has. It never leaves the mux.
const standIn = "%2F%2F"

// routable returns a request as the mux is to see it.
func routable(r *http.Request) *http.Request {
	parts := strings.Split(r.URL.EscapedPath(), "/")
	altered := false
	for i, part := range parts {
		if strings.EqualFold(part, "%2F") {
			parts[i], altered = standIn, true
		}
	}
	if !altered {
		return r
	}
	shown := *r.URL
	shown.RawPath = strings.Join(parts, "/")
	plain, err := url.PathUnescape(shown.RawPath)
	if err != nil {
		return r // a URL that was read has none such
	}
	shown.Path = plain
	routed := r.WithContext(context.WithValue(r.Context(), originalKey{}, r.URL))
	routed.URL = &shown
	return routed
}

// HandleFunc implements humago.Mux: the handler sees the URL and the values of the
// path as they were asked for.
func (s segments) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	_, route, _ := strings.Cut(pattern, " ")
	names := strings.Split(route, "/")
	s.ServeMux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if original, altered := r.Context().Value(originalKey{}).(*url.URL); altered {
			r.URL = original
			for i, part := range strings.Split(original.EscapedPath(), "/") {
				name, isName := strings.CutPrefix(names[i], "{")
				if value, err := url.PathUnescape(part); isName && err == nil {
					r.SetPathValue(strings.TrimSuffix(name, "}"), value)
				}
			}
		}
		handler(w, r)
	})
}
