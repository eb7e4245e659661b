package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
)

// failure is an error with its exit code and what to do next.
type failure struct {
	text string
	code int
	next string
	// kind is the code for programs; empty stands for that of the exit code.
	kind string
	// details are what a person may want to know after what to do next.
	details string
	// result goes to standard output in place of the error when JSON is wanted.
	result any
	// told says that standard output has the result already.
	told bool
}

func (f *failure) Error() string { return f.text }

// usage is the failure of a command line that cannot be meant.
func usage(text, next string) error { return &failure{text: text, code: exitUsage, next: next} }

// failed is any other failure that knows what to do next.
func failed(code int, next, format string, args ...any) error {
	return &failure{text: plain(fmt.Errorf(format, args...)), code: code, next: next}
}

// Codes of failures that have one of their own.
const (
	kindInterrupted = "interrupted" // ended by a signal
	kindKeyGone     = "key_gone"    // a data directory without its identity.key
)

// exitKinds names the exit codes for programs that read JSON.
func exitKinds() map[int]string {
	return map[int]string{
		exitError: "error", exitUsage: "usage", exitNotRunning: "not_running", exitNotFound: "not_found",
		exitConflict: "conflict", exitNotConverged: "not_converged", exitDenied: "denied",
	}
}

// errorResult is what standard output carries in place of a result.
type errorResult struct {
	SchemaVersion int       `json:"schema_version"`
	Error         errorBody `json:"error"`
}

// errorBody is one error. Code is that of package wire where the daemon refused,
// else a name of the exit code.
type errorBody struct {
	Code    string `json:"code"`
	Exit    int    `json:"exit"`
	Message string `json:"message"`
	Next    string `json:"next,omitempty"`
}

// report prints an error, what to do next in a line of its own, and returns the
// exit code.
func (a *app) report(err error) int {
	if err == nil {
		return exitOK
	}
	f := a.explain(err)
	// An error of usage begins with the command, which says the program too.
	a.note("fleetd%s", strings.TrimPrefix(oneLine(": "+f.text), ": fleetd"))
	if f.next != "" {
		a.note("next: %s", oneLine(f.next))
	}
	if f.details != "" {
		a.note("%s", oneLine(f.details))
	}
	if a.output == outputJSON && a.out.err == nil && !f.told {
		a.reportJSON(f)
	}
	return f.code
}

// reportJSON puts a failure on standard output. One that cannot be written has
// been told on standard error already.
func (a *app) reportJSON(f *failure) {
	result := f.result
	if result == nil {
		kind := f.kind
		if kind == "" {
			kind = exitKinds()[f.code]
		}
		result = errorResult{wire.SchemaVersion, errorBody{Code: kind, Exit: f.code, Message: f.text, Next: f.next}}
	}
	_ = a.print(result, nil)
}

// note prints one line to the person, beside the output.
func (a *app) note(format string, args ...any) { say(a.errOut, format, args...) }

// outputJSON is the value of --output for programs.
const outputJSON = "json"

// wantsJSON reports whether a command line that could not be read asks for JSON.
func wantsJSON(args []string) bool {
	for i, arg := range args {
		switch arg {
		case "-ojson", "-o=json", "--output=json":
			return true
		case "-o", "--output":
			return slices.Contains(args[i+1:min(i+2, len(args))], outputJSON)
		}
	}
	return false
}
