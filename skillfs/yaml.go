package skillfs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// flowDepthMax bounds nested brackets. The parser needs time that grows with
// the square of the depth; real frontmatter nests two or three deep.
const flowDepthMax = 32

// decodeFrontmatter reads the lines as YAML and, where that fails, once more
// with the values that YAML refuses taken as plain text.
func decodeFrontmatter(lines []string) (map[string]any, []Warning, error) {
	values, err := readYAML(lines)
	if err == nil {
		return values, nil, nil
	}
	repaired, keys := repair(lines, 0)
	if len(keys) == 0 {
		return nil, nil, err
	}
	values, errRepaired := readYAML(repaired)
	if errRepaired != nil {
		return nil, nil, err
	}
	text := fmt.Sprintf("is not valid YAML (%s); read as plain text: %s", reasonOf(err), summary(strings.Join(keys, ", ")))
	return values, []Warning{{About: "frontmatter", Text: text}}, nil
}

// readYAML parses one mapping. The library has panicked on malformed input
// before, and a document from a stranger must not stop the program: a panic of
// the parser, or of its error's text, is an unreadable document.
func readYAML(lines []string) (values map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			values, err = nil, yamlError("the parser failed")
		}
	}()
	text := strings.Join(lines, "\n") + "\n"
	if reason := excess(lexer.Tokenize(text)); reason != "" {
		return nil, yamlError(reason)
	}
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		return nil, yamlError(explain(err))
	}
	return values, nil
}

// excess says why tokens must not reach the parser. It expands an alias
// wherever it stands, so that a few lines can fill the memory, and one that
// contains itself has overflowed the stack, which nothing can recover from.
func excess(tokens token.Tokens) string {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.AliasType:
			return fmt.Sprintf("line %d: aliases are not supported", lineOf(t))
		case token.SequenceStartType, token.MappingStartType:
			if depth++; depth > flowDepthMax {
				return fmt.Sprintf("line %d: brackets nest deeper than %d", lineOf(t), flowDepthMax)
			}
		case token.SequenceEndType, token.MappingEndType:
			depth--
		default:
		}
	}
	return ""
}

// explain is the first line of the library's message, with the line of the file:
// its own text draws the source over several lines.
func explain(err error) string {
	var located yaml.Error
	if !errors.As(err, &located) {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return summary(first)
	}
	message, _, _ := strings.Cut(located.GetMessage(), "\n")
	if t := located.GetToken(); t != nil {
		return fmt.Sprintf("line %d: %s", lineOf(t), summary(message))
	}
	return summary(message)
}

// lineOf is the line in the file: the opening fence is its first.
func lineOf(t *token.Token) int {
	if t.Position == nil {
		return 1
	}
	return t.Position.Line + 1
}

// unreadable is ErrYAML with its reason kept apart, for warnings.
type unreadable struct{ reason string }

func yamlError(reason string) error { return &unreadable{reason: reason} }

// Error is the sentinel's text and the reason.
func (e *unreadable) Error() string { return ErrYAML.Error() + ": " + e.reason }

// Unwrap makes errors.Is find ErrYAML.
func (e *unreadable) Unwrap() error { return ErrYAML }

func reasonOf(err error) string {
	var e *unreadable
	if errors.As(err, &e) {
		return e.reason
	}
	return err.Error()
}
