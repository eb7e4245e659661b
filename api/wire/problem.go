package wire

import "fmt"

// ProblemType is the media type of a Problem.
const ProblemType = "application/problem+json"

// Code says what went wrong, for programs. A reader treats one that it does not
// know by the HTTP status.
type Code string

// The codes, each with its HTTP status.
const (
	CodeBadRequest   Code = "bad_request"            // 400: not the form of a request
	CodeInvalid      Code = "invalid"                // 400: a value that breaks the rules of its kind
	CodeUnauthorized Code = "unauthorized"           // 401: without the token of the daemon
	CodeDenied       Code = "denied"                 // 403: no authority, another local user, or a web page
	CodeNotFound     Code = "not_found"              // 404: no such record
	CodeNoRoute      Code = "no_route"               // 404: no such path in this version
	CodeMethod       Code = "method_not_allowed"     // 405
	CodeConflict     Code = "conflict"               // 409: the record is not that version any more
	CodeAmbiguous    Code = "ambiguous"              // 409: live in several scopes
	CodeTooLarge     Code = "too_large"              // 413
	CodeMediaType    Code = "unsupported_media_type" // 415: a body that is not JSON
	CodeInternal     Code = "internal"               // 500: a fault of the daemon
	CodeUnavailable  Code = "unavailable"            // 503: starting or stopping
	CodeIncomplete   Code = "incomplete"             // 503: the record is here, its content is not yet
	CodeClock        Code = "clock"                  // 503: a clock is wrong
	CodeTimeout      Code = "timeout"                // 504
	CodeDiskFull     Code = "disk_full"              // 507
)

// Problem is the body of every reply that is not 2xx (RFC 9457). It is an
// error.
type Problem struct { //nolint:errname // RFC 9457 calls it so, and it is an error besides
	// Type is a URI of the code; nothing has to be found there.
	Type string `json:"type"`
	// Title is the same for every problem of one code.
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail says what happened to what, and what to do next.
	Detail string `json:"detail"`
	Code   Code   `json:"code"`
	// Skill or Memory is the stored record behind a conflict, where there is
	// one, and what is known of one that is incomplete.
	Skill  *Skill      `json:"skill,omitempty"`
	Memory *MemoryItem `json:"memory,omitempty"`
}

// Error returns the detail, or the title when there is none.
func (p *Problem) Error() string {
	switch {
	case p.Detail != "":
		return p.Detail
	case p.Title != "":
		return p.Title
	default:
		return fmt.Sprintf("status %d", p.Status)
	}
}
