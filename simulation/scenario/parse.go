package scenario

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// ErrScenario is wrapped by every error that the text of a scenario is to
// blame for, each an *Error.
var ErrScenario = errors.New("scenario")

// Error is what is wrong with a scenario.
type Error struct {
	// Line is where, from 1; 0 when no line of the text is to blame.
	Line int
	// Field is which, such as sites[0].agents; empty for the whole text.
	Field string
	// Text says what is wrong and what is allowed.
	Text string
}

// Error implements error.
func (e *Error) Error() string {
	var at []string
	if e.Line > 0 {
		at = append(at, fmt.Sprintf("line %d", e.Line))
	}
	if e.Field != "" {
		at = append(at, e.Field)
	}
	return strings.Join(append(at, e.Text), ": ")
}

// Unwrap returns ErrScenario.
func (e *Error) Unwrap() error { return ErrScenario }

// Read reads a scenario from a file. Errors: ErrScenario behind the name of the
// file, and those of reading.
func Read(path string) (*Scenario, error) {
	file, err := os.Open(path) //nolint:gosec // the caller names the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	s, err := Parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Parse reads a scenario in YAML, with every default filled in. Errors:
// ErrScenario, and those of reading.
func Parse(r io.Reader) (*Scenario, error) {
	text, err := io.ReadAll(io.LimitReader(r, bytesMax+1))
	if err != nil {
		return nil, err
	}
	if len(text) > bytesMax {
		return nil, &Error{Text: fmt.Sprintf("it is larger than %d bytes", bytesMax)}
	}
	// Some editors begin every text with a byte order mark.
	root, err := parseTree(strings.TrimPrefix(string(text), "\ufeff"))
	if err != nil {
		return nil, err
	}
	s := defaults()
	d := &decoder{lines: map[string]int{}}
	if err := d.mapping("", root, s.fields()); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, d.locate(err)
	}
	return &s, nil
}

// parseTree returns the one mapping of a document. The library has panicked on
// malformed input before: a panic is an unreadable text.
func parseTree(text string) (root ast.Node, err error) {
	defer func() {
		if recover() != nil {
			root, err = nil, &Error{Text: "it is no YAML that can be read"}
		}
	}()
	tokens := lexer.Tokenize(text)
	if err := refuse(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, notYAML(err)
	}
	switch {
	case len(file.Docs) > 1:
		return nil, &Error{Line: file.Docs[1].Start.Position.Line, Text: "a second document begins here; a scenario is one"}
	case len(file.Docs) == 0 || file.Docs[0].Body == nil:
		return nil, &Error{Text: "it is empty; a scenario has sites, see docs/scenarios.md"}
	}
	return file.Docs[0].Body, nil
}

// refuse finds what must not reach the parser, or means nothing here: aliases
// expand, and an alias of itself overflows the stack.
func refuse(tokens token.Tokens) error {
	depth := 0
	for _, t := range tokens {
		line := 0
		if t.Position != nil {
			line = t.Position.Line
		}
		switch t.Type {
		case token.AliasType, token.AnchorType, token.TagType, token.MergeKeyType:
			return &Error{Line: line, Text: "anchors, aliases and tags are not supported; write it out"}
		case token.SequenceStartType, token.MappingStartType:
			if depth++; depth > depthMax {
				return &Error{Line: line, Text: fmt.Sprintf("brackets nest deeper than %d", depthMax)}
			}
		case token.SequenceEndType, token.MappingEndType:
			depth--
		default:
		}
	}
	return nil
}

// notYAML is the first line of what the library says: its own text draws the
// source over several lines.
func notYAML(err error) error {
	e := &Error{}
	text := err.Error()
	var located yaml.Error
	if errors.As(err, &located) {
		text = located.GetMessage()
		if t := located.GetToken(); t != nil && t.Position != nil {
			e.Line = t.Position.Line
		}
	}
	text, _, _ = strings.Cut(text, "\n")
	e.Text = fmt.Sprintf("it is no YAML: %.200s", text) // it may quote a line of any length
	return e
}

// locate adds the line of a field to an error, or that of what it stands in.
func (d *decoder) locate(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	located := *e
	for path := e.Field; path != "" && located.Line == 0; path = path[:max(strings.LastIndexAny(path, ".["), 0)] {
		located.Line = d.lines[path]
	}
	return &located
}
