package setup

import (
	"bytes"
	"fmt"
	"strings"
)

// jsonEntry is a member of an object, or an element of an array, in a JSON text.
type jsonEntry struct {
	// path leads from the root to the container.
	path []string
	// name is that of the member; an element has none.
	name  string
	value object
	// written reports whether a decoded value is one that setup writes, with
	// other paths and numbers.
	written func(decoded any) bool
	// mine reports whether an element is the entry, changed or not.
	mine func(decoded any) bool
	// with is what the root needs besides: it goes after the first container of
	// the path when that is made and the root has none, and leaves with it.
	with *member
}

func (e jsonEntry) isElement() bool { return e.name == "" }

func (e jsonEntry) what() string {
	return strings.Trim(strings.Join(e.path, ".")+"."+e.name, ".")
}

// trail is the way from the root of a text to an entry, as far as it goes.
type trail struct {
	// containers are the root and those on the path that are there.
	containers []*node
	// at is the index of each within the one before it; at[0] is of no use.
	at []int
	// index is that of the entry in the last container, -1 for none.
	index int
}

func (t *trail) last() *node { return t.containers[len(t.containers)-1] }

// seek follows the path. A text without a document has no trail.
func (e jsonEntry) seek(text []byte) (*trail, error) {
	if isBlank(text) {
		return nil, nil //nolint:nilnil // there is nothing to follow
	}
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	t := &trail{containers: []*node{root}, at: []int{0}, index: -1}
	for depth := 0; ; depth++ {
		want, called := byte('{'), "an object"
		if depth == len(e.path) && e.isElement() {
			want, called = '[', "a list"
		}
		if t.last().kind != want {
			return nil, fmt.Errorf("line %d: %s is not %s", lineOf(text, t.last().start), pathText(e.path[:depth]), called)
		}
		if depth == len(e.path) {
			break
		}
		i := t.last().member(e.path[depth])
		if i < 0 {
			return t, nil
		}
		t.containers, t.at = append(t.containers, t.last().items[i].value), append(t.at, i)
	}
	t.index = e.indexIn(t.last(), text)
	return t, nil
}

func (e jsonEntry) indexIn(n *node, text []byte) int {
	if !e.isElement() {
		return n.member(e.name)
	}
	for i, it := range n.items {
		if decoded := it.value.decode(text); isValue(decoded, e.value) || e.mine(decoded) {
			return i
		}
	}
	return -1
}

func pathText(path []string) string {
	if len(path) == 0 {
		return "the whole"
	}
	return strings.Join(path, ".")
}

func lineOf(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }

func (e jsonEntry) find(text []byte) (State, bool, error) {
	t, err := e.seek(text)
	if err != nil || t == nil || t.index < 0 {
		return Absent, false, err
	}
	value := t.last().items[t.index].value
	decoded := value.decode(text)
	switch {
	case isValue(decoded, e.value):
		return Wanted, value.commented, nil
	case e.written(decoded):
		return Written, value.commented, nil
	default:
		return Changed, value.commented, nil
	}
}

func (e jsonEntry) put(file content) (content, error) {
	t, err := e.seek(file.text)
	if err != nil {
		return file, err
	}
	if t == nil {
		return present(e.fill(file)), nil
	}
	unit, eol := unitOf(file.text, t.containers[0]), lineEnd(file.text)
	if t.index >= 0 {
		value := t.last().items[t.index].value
		l := layout{indent: indentAt(file.text, value.start), unit: unit, eol: eol, oneLine: !bytes.Contains(file.text[value.start:value.end], []byte("\n"))}
		return present(apply(file.text, change{value.start, value.end, l.value(e.value)})), nil
	}
	return present(insert(file.text, t.last(), unit, eol, func(l layout) []string {
		return e.below(l, len(t.containers)-1, t.containers[0])
	})), nil
}

// fill makes the document of a file that has none. Undo takes a file away that
// ends with a line end after it.
func (e jsonEntry) fill(file content) []byte {
	l := layout{unit: "  ", eol: lineEnd(file.text)}
	document := "{" + l.inside(e.below(l.deeper(), 0, &node{})...) + "}"
	if !file.exists {
		document += l.eol
	}
	return append(bytes.Clone(file.text), document...)
}

// below writes what goes into the container of a depth.
func (e jsonEntry) below(l layout, depth int, root *node) []string {
	if depth == len(e.path) {
		if e.isElement() {
			return []string{l.value(e.value)}
		}
		return []string{l.member(e.name, e.value)}
	}
	open, closing := "{", "}"
	if depth+1 == len(e.path) && e.isElement() {
		open, closing = "[", "]"
	}
	items := []string{quoteJSON(e.path[depth]) + ": " + open + l.inside(e.below(l.deeper(), depth+1, root)...) + closing}
	if depth == 0 && e.with != nil && root.member(e.with.name) < 0 {
		items = append(items, l.member(e.with.name, e.with.value))
	}
	return items
}

func (e jsonEntry) remove(file content) (content, error) {
	t, err := e.seek(file.text)
	if err != nil || t == nil || t.index < 0 {
		return file, err
	}
	text := file.text
	first, last := t.index, t.index
	for depth := len(t.containers) - 1; ; depth-- {
		c := t.containers[depth]
		if last-first+1 < len(c.items) || !wasMade(text, c) {
			return present(cut(text, c, first, last)), nil
		}
		if depth == 0 {
			break
		}
		first, last = t.at[depth], t.at[depth]
		if next := last + 1; depth == 1 && e.with != nil && next < len(t.containers[0].items) {
			it := t.containers[0].items[next]
			if it.name == e.with.name && isValue(it.value.decode(text), e.with.value) {
				last = next
			}
		}
	}
	root := t.containers[0]
	rest := text[root.end:]
	if root.start == 0 && string(rest) == lineEnd(text) {
		return content{}, nil
	}
	return present(apply(text, change{root.start, root.end, ""})), nil
}
