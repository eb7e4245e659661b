package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/fleetsync/fleetd/api/wire"
)

// problem is a wire.Problem as huma sends errors. Its name is that of the schema.
type problem struct {
	*wire.Problem
	header http.Header
}

func (p *problem) GetStatus() int               { return p.Status }
func (p *problem) ContentType(string) string    { return wire.ProblemType }
func (p *problem) GetHeaders() http.Header      { return p.header }
func (p *problem) Unwrap() error                { return p.Problem }
func refusing(p *wire.Problem) *problem         { return &problem{Problem: p} }
func refused(code wire.Code, d string) *problem { return refusing(newProblem(code, d)) }

// oneConstructor makes huma's constructors of errors ours. They are variables of
// its package, so this is done once, before the first handler is made.
var oneConstructor = sync.OnceFunc(func() {
	huma.NewErrorWithContext = func(ctx huma.Context, _ int, msg string, errs ...error) huma.StatusError {
		return humaProblem(fieldsOf(ctx.Operation()), msg, errs)
	}
	huma.NewError = func(_ int, msg string, errs ...error) huma.StatusError { return humaProblem("", msg, errs) }
	huma.DefaultArrayNullable = false // lists are never null here
})

// humaProblem is the one place where what huma finds wrong with a request
// becomes a Problem: the first of its findings, and an unknown field before
// all, since what is misspelt is missing, too. fields are those that the body
// takes.
func humaProblem(fields, msg string, errs []error) huma.StatusError {
	for _, err := range errs {
		var known *problem
		if errors.As(err, &known) {
			return known
		}
	}
	unknown := slices.IndexFunc(errs, func(err error) bool {
		var found *huma.ErrorDetail
		return errors.As(err, &found) && found.Message == validation.MsgUnexpectedProperty
	})
	if unknown > 0 {
		errs = errs[unknown:]
	}
	var tooLarge *http.MaxBytesError
	var detail *huma.ErrorDetail
	switch {
	case errors.As(errors.Join(errs...), &tooLarge):
		return refused(wire.CodeTooLarge, fmt.Sprintf("the request has more than %d bytes", tooLarge.Limit))
	case len(errs) > 0 && errors.As(errs[0], &detail):
		return refusing(findingOf(fields, detail))
	case msg == "cannot read request body", msg == "request body read timeout":
		return refused(wire.CodeBadRequest, "the body did not arrive: "+errors.Join(append(errs, errors.New(msg))...).Error())
	case msg == "request body is required":
		return refused(wire.CodeBadRequest, notTheObject+": it is empty")
	}
	return refused(wire.CodeInternal, "the daemon failed; its log says why")
}

const notTheObject = "the body is not the JSON object that this path takes"

// findingOf says what is wrong with one value. Locations are as in huma:
// "query.limit", "body", "body.scopes[0].project".
func findingOf(fields string, d *huma.ErrorDetail) *wire.Problem {
	place, name, _ := strings.Cut(d.Location, ".")
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	lacking, isLacking := strings.CutPrefix(d.Message, before)
	lacking, cut := strings.CutSuffix(lacking, after)
	switch {
	case place == "":
		return newProblem(wire.CodeBadRequest, d.Message)
	case place == "query":
		return newProblem(wire.CodeBadRequest, fmt.Sprintf("parameter %s is %.60q: %s", name, fmt.Sprint(d.Value), d.Message))
	case place != "body":
		return newProblem(wire.CodeBadRequest, fmt.Sprintf("%s %s is %.60q: %s", place, name, fmt.Sprint(d.Value), d.Message))
	case isLacking && cut && name == "":
		return newProblem(wire.CodeInvalid, fmt.Sprintf("the field %q is missing", lacking))
	case isLacking && cut:
		return newProblem(wire.CodeInvalid, fmt.Sprintf("the field %q of %s is missing", lacking, name))
	case d.Message == errNotUTF8.Error(), d.Message == errSurrogate.Error():
		return newProblem(wire.CodeInvalid, d.Message)
	case d.Message == validation.MsgUnexpectedProperty:
		if strings.ContainsAny(name, ".[") {
			return newProblem(wire.CodeBadRequest, fmt.Sprintf("%s: unknown field %.60q", notTheObject, name))
		}
		return newProblem(wire.CodeBadRequest, fmt.Sprintf("%s: unknown field %.60q; it takes: %s", notTheObject, name, fields))
	case name == "":
		return newProblem(wire.CodeBadRequest, notTheObject+": "+d.Message)
	case d.Value == nil:
		return newProblem(wire.CodeInvalid, fmt.Sprintf("the field %q is null, which is no value: %s", name, d.Message))
	}
	return newProblem(wire.CodeBadRequest, fmt.Sprintf("%s: field %q: %s", notTheObject, name, d.Message))
}

// fieldsKey is the metadata of an operation that fieldsOf returns.
const fieldsKey = "fields"

// fieldsOf returns the names of the fields that the body of an operation has.
func fieldsOf(op *huma.Operation) string {
	fields, _ := op.Metadata[fieldsKey].(string)
	return fields
}

// refuse turns the error of an operation into what huma sends, and logs faults
// of the daemon.
func (h *handler) refuse(ctx context.Context, path string, err error) error {
	var known *problem
	if errors.As(err, &known) {
		return known
	}
	p := problemOf(WithNames(err, h.nameOf))
	if p.Code == wire.CodeInternal {
		h.log.ErrorContext(ctx, "request failed", "path", path, "err", err)
	}
	return refusing(p)
}
