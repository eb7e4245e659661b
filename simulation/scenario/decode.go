package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// field is one key of a mapping: what it may hold, and how it is read.
type field struct {
	name string
	// want says what is allowed, in errors.
	want string
	read func(d *decoder, path string, node ast.Node) error
	// below are the fields of what it holds.
	below []field
}

// decoder reads the tree of a document and remembers where each field stood.
type decoder struct {
	lines map[string]int
}

// mapping reads the fields of a mapping. Each may be there once, and none may
// be unknown.
func (d *decoder) mapping(path string, node ast.Node, fields []field) error {
	m, isMapping := node.(ast.MapNode)
	if !isMapping {
		return d.wrong(path, node, "want fields: "+names(fields))
	}
	for at := m.MapRange(); at.Next(); {
		key := at.Key().String()
		line := at.Key().GetToken().Position.Line
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		if i < 0 {
			return &Error{Line: line, Field: join(path, fmt.Sprintf("%.60s", key)), Text: "there is no such field here" + meant(key, fields) + "; there is " + names(fields)}
		}
		f := &fields[i]
		inside := join(path, f.name)
		d.lines[inside] = line
		if _, empty := at.Value().(*ast.NullNode); empty {
			return &Error{Line: line, Field: inside, Text: "it has no value; want " + f.want}
		}
		if err := f.read(d, inside, at.Value()); err != nil {
			return err
		}
	}
	return nil
}

// scalar is a field with one value.
func scalar[T any](name, want string, to *T, parse func(string) (T, error)) field {
	return field{name: name, want: want, read: func(d *decoder, path string, node ast.Node) error {
		text, isScalar := textOf(node)
		if !isScalar {
			return d.wrong(path, node, "want "+want)
		}
		v, err := parse(text)
		switch {
		case errors.Is(err, errForm) || errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange):
			return d.wrong(path, node, fmt.Sprintf("%.60q, want %s", text, want))
		case err != nil:
			return d.wrong(path, node, fmt.Sprintf("%.60q: %v", text, err))
		}
		*to = v
		return nil
	}}
}

// list is a field that holds several of the same; each begins as fresh.
func list[T any](name, want string, to *[]T, fresh func() T, fieldsOf func(*T) []field) field {
	var sample T
	return field{name: name, want: want, below: fieldsOf(&sample), read: func(d *decoder, path string, node ast.Node) error {
		sequence, isSequence := node.(*ast.SequenceNode)
		if !isSequence {
			return d.wrong(path, node, "want a list of "+want+", each behind a hyphen")
		}
		for i, item := range sequence.Values {
			one := fresh()
			inside := fmt.Sprintf("%s[%d]", path, i)
			d.lines[inside] = lineOf(item)
			if err := d.mapping(inside, item, fieldsOf(&one)); err != nil {
				return err
			}
			*to = append(*to, one)
		}
		return nil
	}}
}

// words is a field that holds a list of names, or one name.
func words(name, want string, set func([]string) error) field {
	return field{name: name, want: want, read: func(d *decoder, path string, node ast.Node) error {
		values := []ast.Node{node}
		if sequence, isSequence := node.(*ast.SequenceNode); isSequence {
			values = sequence.Values
		}
		var all []string
		for _, v := range values {
			text, isScalar := textOf(v)
			if !isScalar {
				return d.wrong(path, v, "want "+want)
			}
			all = append(all, text)
		}
		if set(all) != nil {
			return d.wrong(path, node, fmt.Sprintf("%d names, want %s", len(all), want))
		}
		return nil
	}}
}

// group is a field that holds fields.
func group(name string, fields []field) field {
	return field{name: name, want: "fields: " + names(fields), below: fields, read: func(d *decoder, path string, node ast.Node) error {
		return d.mapping(path, node, fields)
	}}
}

// textOf returns a scalar as it was written, without quotes.
func textOf(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return node.GetToken().Value, true
	default:
		return "", false
	}
}

func (d *decoder) wrong(path string, node ast.Node, text string) error {
	return &Error{Line: lineOf(node), Field: path, Text: text}
}

// lineOf is where a node begins.
func lineOf(node ast.Node) int {
	if m, isMapping := node.(ast.MapNode); isMapping {
		if at := m.MapRange(); at.Next() {
			return at.Key().GetToken().Position.Line
		}
	}
	if t := node.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

func names(fields []field) string {
	var all []string
	for _, f := range fields {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}

// meant names the field that a mistyped one is nearest to.
func meant(key string, fields []field) string {
	for _, f := range fields {
		if near(key, f.name) {
			return ", did you mean " + f.name + "?"
		}
	}
	return ""
}

// near reports whether two words differ in up to two letters, an exchange of
// neighbours being two.
func near(a, b string) bool {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)] <= 2 && row[len(b)] < len(b)
}
