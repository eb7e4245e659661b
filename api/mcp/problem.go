package mcp

import (
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

// failure is what the second text of a refused call holds, as JSON.
type failure struct {
	Error problem `json:"error"`
	// Current is the stored record behind a conflict, and what is known of one
	// that is incomplete.
	Current any `json:"current,omitempty"`
}

type problem struct {
	Code   wire.Code `json:"code"`
	Detail string    `json:"detail"`
	Next   string    `json:"next,omitempty"`
}

// recordError is a problem together with the record that it is about.
type recordError struct {
	error
	record any
}

// Unwrap returns the problem.
func (w *recordError) Unwrap() error { return w.error }

// refuse is the result of a call that failed.
func (s *Server) refuse(t *tool, err error) *sdk.CallToolResult {
	var about *recordError
	var record any
	if errors.As(err, &about) {
		record = about.record
	}
	if api.ProblemOf(err).Code == wire.CodeInternal {
		s.log.Error("tool failed", "tool", t.name, "err", err)
	}
	return refusal(s.named(err), record)
}

// named is an error that calls machines by their names.
func (s *Server) named(err error) error { return api.WithNames(err, s.node.NameOf) }

// refusal tells an error in the words of the HTTP API, with what to do next. It
// has no structured content: that would have to follow the schema of a success.
// The tool memory has its own words alone, which models know.
func refusal(err error, record any) *sdk.CallToolResult {
	var ofFile *fileError
	if errors.As(err, &ofFile) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: ofFile.Error()}}}
	}
	known := api.ProblemOf(err)
	f := failure{Error: problem{Code: known.Code, Detail: known.Error(), Next: nextOf(known.Code)}, Current: record}
	text := string(known.Code) + ": " + known.Error()
	if f.Error.Next != "" {
		text += "\nnext: " + f.Error.Next
	}
	res := &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	var whole strings.Builder
	enc := json.NewEncoder(&whole)
	enc.SetEscapeHTML(false)
	if enc.Encode(f) == nil { // no failure has what JSON cannot say
		res.Content = append(res.Content, &sdk.TextContent{Text: strings.TrimSpace(whole.String())})
	}
	return res
}

// nextOf says what a model can do about a problem.
func nextOf(code wire.Code) string {
	switch code {
	case wire.CodeBadRequest, wire.CodeInvalid:
		return "correct the arguments, then call again"
	case wire.CodeNotFound:
		return "memory_list, skill_list and session_list show what there is; a scope is exact"
	case wire.CodeConflict:
		return "somebody else wrote in between: read the current record, merge your change into it, and write with its version"
	case wire.CodeAmbiguous:
		return `name the scope with project, workspace or instance; scope "global" is the one without any`
	case wire.CodeDenied:
		return "the grant of this machine does not allow it: tell the user"
	case wire.CodeTooLarge:
		return "a text holds 8 MiB, and all other fields of a record 64 KiB together: shorten it, or write several"
	case wire.CodeIncomplete:
		return "the text comes by itself from a machine that has it: call again later; fleet_status says who is offline"
	case wire.CodeDiskFull:
		return "tell the user to free some space on the disk of the data directory, then repeat it"
	case wire.CodeClock:
		return "tell the user to set the clock of this machine"
	case wire.CodeNoRoute, wire.CodeMethod, wire.CodeMediaType, wire.CodeUnauthorized: // of HTTP alone
	case wire.CodeInternal, wire.CodeTimeout, wire.CodeUnavailable:
		return "call again; if it fails again, tell the user to look at the daemon's log"
	}
	return ""
}
