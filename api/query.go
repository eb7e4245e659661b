package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// strictly is the middleware of all operations: it refuses what huma takes in
// silence. Of a parameter that is given twice huma reads the first, it decodes
// what it can of a query that is malformed, and takes a body without a media
// type for JSON. (It can refuse unknown parameters, but does not say which are
// known.)
func strictly(ctx huma.Context, next func(huma.Context)) {
	fault := checkQuery(ctx)
	if fault == nil {
		fault = checkHeaders(ctx)
	}
	if fault == nil && ctx.Operation().RequestBody != nil {
		if r, _ := humago.Unwrap(ctx); !isJSON(r.Header) {
			fault = newProblem(wire.CodeMediaType, "the body must be JSON in UTF-8, not encoded further: send Content-Type: application/json, and no Content-Encoding")
		}
	}
	if fault != nil {
		_, w := humago.Unwrap(ctx)
		writeProblem(w, fault)
		return
	}
	if ctx.Operation().RequestBody != nil {
		// huma has a limit, too, which leaves the connection without a word: then a
		// client that goes on sending does not read the answer.
		r, w := humago.Unwrap(ctx)
		r.Body = http.MaxBytesReader(w, r.Body, ctx.Operation().MaxBodyBytes-1)
	}
	next(oneFormat{ctx})
}

// oneFormat hides what the client accepts. There is one representation of
// everything, so nothing is negotiated: huma would answer in the name of any of
// its formats.
type oneFormat struct{ humaContext }

// humaContext has a name that no method of it has.
type humaContext huma.Context

// Unwrap returns the context under it.
func (c oneFormat) Unwrap() huma.Context { return c.humaContext }

func (c oneFormat) Header(name string) string {
	if name == "Accept" {
		return ""
	}
	return c.humaContext.Header(name)
}

// checkQuery returns what is wrong with a query as a whole. Parameters that
// nobody asked for are: a misspelt filter that is ignored would widen what it
// filters.
func checkQuery(ctx huma.Context) *wire.Problem {
	u := ctx.URL()
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return newProblem(wire.CodeBadRequest, "the query cannot be read: "+err.Error())
	}
	known := []string{}
	for _, p := range ctx.Operation().Parameters {
		if p.In != "query" {
			continue
		}
		known = append(known, p.Name)
		given := values[p.Name]
		lists := p.Explode != nil && *p.Explode
		switch {
		case len(given) > 1 && !lists:
			return newProblem(wire.CodeBadRequest, fmt.Sprintf("parameter %s is given %d times", p.Name, len(given)))
		case slices.ContainsFunc(given, func(value string) bool { return !utf8.ValidString(value) || lists && value == "" }):
			return newProblem(wire.CodeInvalid, fmt.Sprintf("parameter %s is empty or not UTF-8", p.Name))
		}
	}
	for name := range values {
		if !slices.Contains(known, name) {
			takes := "none"
			if len(known) > 0 {
				takes = strings.Join(known, ", ")
			}
			return newProblem(wire.CodeBadRequest, fmt.Sprintf("unknown parameter %.60q; this path takes: %s", name, takes))
		}
	}
	return nil
}

// checkHeaders refuses a header twice of which huma would read the first.
func checkHeaders(ctx huma.Context) *wire.Problem {
	r, _ := humago.Unwrap(ctx)
	for _, name := range []string{"If-Match", "If-None-Match"} {
		// To huma one that is empty is absent, and the write would be unconditional.
		if values := r.Header.Values(name); len(values) > 0 && strings.TrimSpace(values[0]) == "" {
			return newProblem(wire.CodeInvalid, "header "+name+" is empty: leave it out, or send one ETag as it came, or *")
		}
	}
	for _, p := range ctx.Operation().Parameters {
		if n := len(r.Header.Values(p.Name)); p.In == "header" && n > 1 {
			return newProblem(wire.CodeBadRequest, fmt.Sprintf("header %s is given %d times", p.Name, n))
		}
	}
	return nil
}

// ScopeQuery are the parameters that name a scope: exactly that one as soon as
// one of them is given, even if empty, else every scope. It is exported for
// huma, which looks at exported fields alone.
type ScopeQuery struct {
	Instance  string `query:"instance" doc:"Of the scope: its instance. As soon as one of instance, project and workspace is given, even if empty, only exactly that scope counts; else every scope does."`
	Project   string `query:"project" doc:"Of the scope: its project."`
	Workspace string `query:"workspace" doc:"Of the scope: its workspace."`

	scoped bool
}

// Resolve implements huma.Resolver: a parameter that is given and empty is one
// that is absent to huma.
func (q *ScopeQuery) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	values := u.Query()
	q.scoped = values.Has("instance") || values.Has("project") || values.Has("workspace")
	return nil
}

// scope returns the scope that the query names; ok is false when it names none.
func (q *ScopeQuery) scope() (scope state.Scope, ok bool) {
	return state.Scope{Instance: q.Instance, Project: q.Project, Workspace: q.Workspace}, q.scoped
}
