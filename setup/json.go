package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/tailscale/hujson"
)

const byteOrderMark = "\ufeff"

// isBlank reports whether a text holds no document.
func isBlank(text []byte) bool {
	return len(bytes.Trim(bytes.TrimPrefix(text, []byte(byteOrderMark)), " \t\r\n")) == 0
}

// node is one value of a JSON text, which may have comments and trailing commas,
// by its place in the text.
type node struct {
	kind       byte // '{', '[', or another for a value that holds none
	start, end int
	items      []item
	// commented says that there is a comment somewhere inside.
	commented bool
}

// item is a member of an object, or an element of an array.
type item struct {
	name  string
	start int // of the name, or of the element
	value *node
	comma int // where the comma after it is, -1 for none
}

// parseJSON reads a text that is not blank.
func parseJSON(text []byte) (*node, error) {
	body := bytes.TrimPrefix(text, []byte(byteOrderMark))
	value, err := hujson.Parse(body)
	if err != nil {
		// A line comment may end with the file.
		ended, errEnded := hujson.Parse(append(bytes.Clone(body), '\n'))
		if errEnded != nil {
			return nil, atLine(err)
		}
		value = ended
	}
	return nodeOf(&value, len(text)-len(body)), nil
}

// place is where a parser says that a text is wrong.
var place = regexp.MustCompile(`^hujson: line ([0-9]+), column ([0-9]+): `)

func atLine(err error) error {
	text := err.Error()
	if found := place.FindStringSubmatch(text); found != nil {
		return fmt.Errorf("line %s, column %s: %s", found[1], found[2], strings.TrimPrefix(text, found[0]))
	}
	return err
}

func nodeOf(v *hujson.Value, shift int) *node {
	n := &node{kind: byte(v.Value.Kind()), start: v.StartOffset + shift, end: v.EndOffset + shift}
	var rest hujson.Extra
	switch c := v.Value.(type) {
	case *hujson.Object:
		rest = c.AfterExtra
		for i := range c.Members {
			m := &c.Members[i]
			name, _ := m.Name.Value.(hujson.Literal) // the grammar has no other
			n.commented = n.commented || hasComment(m.Name.BeforeExtra) || hasComment(m.Name.AfterExtra)
			n.add(item{name: name.String(), start: m.Name.StartOffset + shift}, &m.Value, i == len(c.Members)-1, shift)
		}
	case *hujson.Array:
		rest = c.AfterExtra
		for i := range c.Elements {
			n.add(item{start: c.Elements[i].StartOffset + shift}, &c.Elements[i], i == len(c.Elements)-1, shift)
		}
	}
	n.commented = n.commented || hasComment(rest)
	return n
}

func (n *node) add(it item, v *hujson.Value, isLast bool, shift int) {
	it.value, it.comma = nodeOf(v, shift), -1
	if !isLast || v.AfterExtra != nil {
		it.comma = it.value.end + len(v.AfterExtra)
	}
	n.commented = n.commented || it.value.commented || hasComment(v.BeforeExtra) || hasComment(v.AfterExtra)
	n.items = append(n.items, it)
}

func hasComment(extra []byte) bool { return bytes.IndexByte(extra, '/') >= 0 }

// member returns the index of the last member of a name, as programs read it,
// or -1.
func (n *node) member(name string) int {
	for i := len(n.items) - 1; i >= 0; i-- {
		if n.items[i].name == name {
			return i
		}
	}
	return -1
}

// decode returns a value as encoding/json does, nil for one that it refuses.
func (n *node) decode(text []byte) any {
	plain, err := hujson.Standardize(bytes.Clone(text[n.start:n.end]))
	if err != nil {
		return nil
	}
	var v any
	if json.Unmarshal(plain, &v) != nil {
		return nil
	}
	return v
}

// commentEnd returns where the last comment of white space and comments ends, 0
// for none, and whether it runs to the end of its line.
func commentEnd(extra []byte) (end int, toLineEnd bool) {
	for i := 0; i < len(extra); {
		switch {
		case bytes.HasPrefix(extra[i:], []byte("//")):
			length := bytes.IndexByte(extra[i:], '\n')
			if length < 0 {
				return len(extra), true
			}
			end, toLineEnd = i+len(bytes.TrimSuffix(extra[i:i+length], []byte("\r"))), true
			i += length
		case bytes.HasPrefix(extra[i:], []byte("/*")):
			length := bytes.Index(extra[i+2:], []byte("*/"))
			if length < 0 {
				return len(extra), false
			}
			i += length + 4
			end, toLineEnd = i, false
		default:
			i++
		}
	}
	return end, toLineEnd
}
