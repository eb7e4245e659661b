package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// params reads the query of one request. The first thing wrong stays in err.
type params struct {
	values url.Values
	taken  []string
	err    error
}

func paramsOf(r *http.Request) *params {
	values, err := url.ParseQuery(r.URL.RawQuery)
	p := &params{values: values}
	if err != nil {
		p.err = newProblem(wire.CodeBadRequest, "the query cannot be read: "+err.Error())
	}
	return p
}

// text returns a parameter, "" when it is absent.
func (p *params) text(name string) string {
	p.taken = append(p.taken, name)
	values := p.values[name]
	switch {
	case len(values) == 0:
		return ""
	case len(values) > 1:
		p.fail(wire.CodeBadRequest, fmt.Sprintf("parameter %s is given %d times", name, len(values)))
	case !utf8.ValidString(values[0]):
		p.fail(wire.CodeInvalid, fmt.Sprintf("parameter %s is not UTF-8", name))
	}
	return values[0]
}

// list returns every value of a parameter.
func (p *params) list(name string) []string {
	p.taken = append(p.taken, name)
	for _, value := range p.values[name] {
		if !utf8.ValidString(value) || value == "" {
			p.fail(wire.CodeInvalid, fmt.Sprintf("parameter %s is empty or not UTF-8", name))
		}
	}
	return p.values[name]
}

// count returns a parameter that is a number from 1, 0 when it is absent.
func (p *params) count(name string) int {
	text := p.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		p.fail(wire.CodeBadRequest, fmt.Sprintf("parameter %s is %.60q, not a number from 1", name, text))
	}
	return n
}

// place returns a parameter that is a number from 0, 0 when it is absent.
func (p *params) place(name string) int64 {
	text := p.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		p.fail(wire.CodeBadRequest, fmt.Sprintf("parameter %s is %.60q, not a number from 0", name, text))
	}
	return n
}

// scope returns the scope that the query names; ok is false when it names none.
func (p *params) scope() (scope state.Scope, ok bool) {
	for _, f := range []struct {
		name  string
		field *string
	}{
		{"instance", &scope.Instance}, {"project", &scope.Project}, {"workspace", &scope.Workspace},
	} {
		*f.field = p.text(f.name)
		ok = ok || p.values.Has(f.name)
	}
	return scope, ok
}

// done returns what was wrong with the query, parameters that nobody asked for
// included: a misspelt filter that is ignored would widen what it filters.
func (p *params) done() error {
	for name := range p.values {
		if !slices.Contains(p.taken, name) {
			known := "none"
			if len(p.taken) > 0 {
				known = strings.Join(p.taken, ", ")
			}
			p.fail(wire.CodeBadRequest, fmt.Sprintf("unknown parameter %.60q; this path takes: %s", name, known))
		}
	}
	return p.err
}

func (p *params) fail(code wire.Code, detail string) {
	if p.err == nil {
		p.err = newProblem(code, detail)
	}
}
