package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// problemKind is what all problems of one code share.
type problemKind struct {
	status int
	title  string
}

// problemKinds is the whole table of codes.
func problemKinds() map[wire.Code]problemKind {
	return map[wire.Code]problemKind{
		wire.CodeBadRequest:   {http.StatusBadRequest, "Not a request that this path takes"},
		wire.CodeInvalid:      {http.StatusBadRequest, "Invalid value"},
		wire.CodeUnauthorized: {http.StatusUnauthorized, "Not authorized"},
		wire.CodeDenied:       {http.StatusForbidden, "Not allowed"},
		wire.CodeNotFound:     {http.StatusNotFound, "Not found"},
		wire.CodeNoRoute:      {http.StatusNotFound, "No such path"},
		wire.CodeMethod:       {http.StatusMethodNotAllowed, "Method not allowed"},
		wire.CodeConflict:     {http.StatusConflict, "Conflict"},
		wire.CodeAmbiguous:    {http.StatusConflict, "Ambiguous"},
		wire.CodeTooLarge:     {http.StatusRequestEntityTooLarge, "Too large"},
		wire.CodeMediaType:    {http.StatusUnsupportedMediaType, "Unsupported media type"},
		wire.CodeInternal:     {http.StatusInternalServerError, "Internal error"},
		wire.CodeUnavailable:  {http.StatusServiceUnavailable, "Unavailable"},
		wire.CodeIncomplete:   {http.StatusServiceUnavailable, "Not all here yet"},
		wire.CodeClock:        {http.StatusServiceUnavailable, "A clock is wrong"},
		wire.CodeTimeout:      {http.StatusGatewayTimeout, "Timeout"},
		wire.CodeDiskFull:     {http.StatusInsufficientStorage, "Disk full"},
	}
}

// NewProblem returns a problem of this code, which is one of package wire, for
// what else answers in the words of this API.
func NewProblem(code wire.Code, detail string) *wire.Problem { return newProblem(code, detail) }

// ProblemOf returns the problem that any error of package state, node or context
// is, as this API tells it.
func ProblemOf(err error) *wire.Problem { return problemOf(err) }

// newProblem returns a problem of this code. The code is one of the table.
func newProblem(code wire.Code, detail string) *wire.Problem {
	kind := problemKinds()[code]
	return &wire.Problem{
		Type:   "urn:fleetd:problem:" + strings.ReplaceAll(string(code), "_", "-"),
		Title:  kind.title,
		Status: kind.status,
		Detail: detail,
		Code:   code,
	}
}

// problemOf turns any error of a handler into the problem that it is. An error
// that nobody foresaw is a fault of the daemon: its text stays in the log.
func problemOf(err error) *wire.Problem {
	var known *wire.Problem
	if errors.As(err, &known) {
		return known
	}
	for _, k := range []struct {
		sentinel error
		code     wire.Code
	}{
		{state.ErrNotFound, wire.CodeNotFound},
		{state.ErrConflict, wire.CodeConflict},
		{state.ErrAmbiguous, wire.CodeAmbiguous},
		{state.ErrTooLarge, wire.CodeTooLarge},
		{state.ErrDenied, wire.CodeDenied},
		{state.ErrIncomplete, wire.CodeIncomplete},
		{state.ErrInvalid, wire.CodeInvalid},
		{store.ErrFull, wire.CodeDiskFull},
		{hlc.ErrClockAhead, wire.CodeClock},
		{hlc.ErrClockDrift, wire.CodeClock},
		{context.DeadlineExceeded, wire.CodeTimeout},
		{context.Canceled, wire.CodeUnavailable},
	} {
		if errors.Is(err, k.sentinel) {
			return newProblem(k.code, detailOf(err, k.sentinel))
		}
	}
	return newProblem(wire.CodeInternal, "the daemon failed; its log says why")
}

// WithNames returns an error that calls the writers of records by what nameOf says,
// which is empty for an id that has no name; one that tells of no writer as it is.
func WithNames(err error, nameOf func(instanceID string) string) error {
	var lacks *state.IncompleteError
	if !errors.As(err, &lacks) {
		return err
	}
	named := *lacks
	named.Writer = nameOf(lacks.WriterID)
	return &named
}

// detailOf is the text of an error for people: without the name of the package
// that returned it.
func detailOf(err, sentinel error) string {
	text := err.Error()
	if name, _, found := strings.Cut(sentinel.Error(), ": "); found {
		text = strings.Replace(text, name+": ", "", 1)
	}
	return text
}
