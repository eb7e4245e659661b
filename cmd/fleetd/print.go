package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/api/wire"
)

// outputFlag is the value of --output.
type outputFlag string

func (o *outputFlag) String() string {
	if *o == "" {
		return "text"
	}
	return string(*o)
}

func (o *outputFlag) Set(text string) error {
	if text != "text" && text != "json" {
		return errors.New("want text or json")
	}
	*o = outputFlag(text)
	return nil
}

func (*outputFlag) Type() string { return "form" }

// print writes a result: as JSON when asked for, else by what text does.
func (a *app) print(result any, text func(w io.Writer)) error {
	if a.output != "json" {
		text(a.out)
		return nil
	}
	return writeJSON(a.out, result)
}

// writeJSON writes a result of which a terminal shows everything.
func writeJSON(w io.Writer, result any) error {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(result); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	_, _ = io.WriteString(w, safeJSON(text.String())) // the stream remembers what fails
	return nil
}

// stream is standard output or error. It remembers the first error, so that
// results that reached nobody do not end as a success.
type stream struct {
	file       *os.File
	isTerminal bool
	err        error
}

func newStream(file *os.File) *stream {
	return &stream{file: file, isTerminal: isPerson(file)}
}

// Write implements io.Writer.
func (s *stream) Write(b []byte) (int, error) {
	n, err := s.file.Write(b)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// say writes one line. The stream remembers what fails.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }

// scopeText names a scope for people.
func scopeText(s wire.Scope) string {
	var parts []string
	for _, f := range [...]struct{ name, value string }{
		{"instance", s.Instance}, {"project", s.Project}, {"workspace", s.Workspace},
	} {
		if f.value != "" {
			parts = append(parts, f.name+" "+f.value)
		}
	}
	if len(parts) == 0 {
		return "global"
	}
	return strings.Join(parts, ", ")
}

// timeText is a time for people, in their zone.
func timeText(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// count says how many there are of something, in words that agree.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
