package setup

import (
	"encoding/json"
	"reflect"
	"strings"
)

// object is a JSON object in the order in which it is written.
type object []member

// member is one member of an object. Its value is an object, a list of strings
// or of objects, a string, a number or a bool.
type member struct {
	name  string
	value any
}

// layout says how a value is written.
type layout struct {
	// indent is that of the line on which the value begins, unit what one more
	// level adds, and eol the line end.
	indent, unit, eol string
	// oneLine keeps all on one line.
	oneLine bool
}

// deeper is the layout of what a container holds.
func (l layout) deeper() layout {
	l.indent += l.unit
	return l
}

// inside writes what a container holds between its brackets, with white space
// before the closing one: by that undo knows that setup made the container.
func (l layout) inside(items ...string) string {
	if l.oneLine {
		return " " + strings.Join(items, ", ") + " "
	}
	between := l.eol + l.indent + l.unit
	return between + strings.Join(items, ","+between) + l.eol + l.indent
}

func (l layout) value(v any) string {
	switch v := v.(type) {
	case object:
		items := make([]string, 0, len(v))
		for _, m := range v {
			items = append(items, l.deeper().member(m.name, m.value))
		}
		return "{" + l.inside(items...) + "}"
	case []object:
		items := make([]string, 0, len(v))
		for _, o := range v {
			items = append(items, l.deeper().value(o))
		}
		return "[" + l.inside(items...) + "]"
	case []string:
		items := make([]string, 0, len(v))
		for _, s := range v {
			items = append(items, quoteJSON(s))
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		return quoteJSON(v)
	}
}

func (l layout) member(name string, v any) string { return quoteJSON(name) + ": " + l.value(v) }

// quoteJSON writes a string, a number or a bool.
func quoteJSON(v any) string {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // these can be written
	return strings.TrimSuffix(text.String(), "\n")
}

// isValue reports whether a decoded value is the one that is written.
func isValue(decoded, written any) bool {
	var want any
	if json.Unmarshal([]byte(layout{oneLine: true}.value(written)), &want) != nil {
		return false
	}
	return reflect.DeepEqual(decoded, want)
}
