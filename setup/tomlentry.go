package setup

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlEntry is a table of a TOML text, with a header of its own.
type tomlEntry struct {
	// path is the name of the table.
	path  []string
	value object
	// written is that of jsonEntry.
	written func(decoded any) bool
}

func (e tomlEntry) what() string { return strings.Join(e.path, ".") }

// ErrForm is returned when an entry is there in a form that setup does not edit.
var ErrForm = errors.New("setup: not in a form that can be edited")

func (e tomlEntry) lines() []string {
	lines := []string{"[" + strings.Join(e.path, ".") + "]"}
	for _, m := range e.value {
		lines = append(lines, m.name+" = "+tomlValue(m.value))
	}
	return lines
}

// tomlValue writes a value: what JSON writes is a basic string in TOML, too, but
// for a slash that JSON does not escape either.
func tomlValue(v any) string {
	return strings.ReplaceAll(layout{oneLine: true}.value(v), "\u007f", `\u007f`)
}

func decodeTOML(text []byte) (map[string]any, error) {
	v := map[string]any{}
	err := toml.Unmarshal(bytes.TrimPrefix(text, []byte(byteOrderMark)), &v)
	var broken *toml.DecodeError
	if errors.As(err, &broken) {
		row, column := broken.Position()
		return nil, fmt.Errorf("line %d, column %d: %s", row, column, strings.TrimPrefix(broken.Error(), "toml: "))
	}
	return v, err
}

// look returns what a document has at the path, nil for nothing, and the
// document without it: also without the tables on the path that hold nothing
// else.
func (e tomlEntry) look(document map[string]any) (found any, rest map[string]any) {
	return without(document, e.path)
}

func without(document map[string]any, path []string) (found any, rest map[string]any) {
	rest = map[string]any{}
	for name, value := range document {
		if name != path[0] {
			rest[name] = value
			continue
		}
		table, isTable := value.(map[string]any)
		switch {
		case len(path) == 1:
			found = value
		case !isTable:
			rest[name] = value
		default:
			inner, left := without(table, path[1:])
			if found = inner; len(left) > 0 {
				rest[name] = left
			}
		}
	}
	return found, rest
}

func (e tomlEntry) find(text []byte) (State, bool, error) {
	document, err := decodeTOML(text)
	if err != nil {
		return Absent, false, err
	}
	found, _ := e.look(document)
	if found == nil {
		return Absent, false, nil
	}
	commented := false
	if start, end, _ := e.span(text); start >= 0 {
		commented = !bytes.Equal(
			bytes.ReplaceAll(text[start:end], []byte("\r\n"), []byte("\n")),
			[]byte(strings.Join(tomlEntry{path: e.path, value: orderOf(found)}.lines(), "\n")),
		)
	}
	switch {
	case isValue(found, e.value):
		return Wanted, commented, nil
	case e.written(found):
		return Written, commented, nil
	default:
		return Changed, commented, nil
	}
}

// orderOf is a decoded table in the order in which setup writes one; a table of
// another kind gives one that is like none.
func orderOf(found any) object {
	table, _ := found.(map[string]any)
	command, _ := table["command"].(string)
	list, _ := table["args"].([]any)
	args := make([]string, 0, len(list))
	for _, arg := range list {
		text, _ := arg.(string)
		args = append(args, text)
	}
	return object{{"command", command}, {"args", args}}
}

// header is a line that begins a table.
type header struct {
	key []string
	at  int
}

// headers returns those of a document, which a line within a text of several
// lines is not.
func headers(text []byte) ([]header, error) {
	body := bytes.TrimPrefix(text, []byte(byteOrderMark))
	shift := len(text) - len(body)
	var found []header
	var p unstable.Parser
	p.Reset(body)
	for p.NextExpression() {
		x := p.Expression()
		if x.Kind != unstable.Table && x.Kind != unstable.ArrayTable {
			continue
		}
		h := header{at: -1}
		for part := x.Key(); part.Next(); {
			if h.at < 0 {
				h.at = shift + bytes.LastIndexByte(body[:part.Node().Raw.Offset], '\n') + 1
			}
			h.key = append(h.key, string(part.Node().Data))
		}
		found = append(found, h)
	}
	return found, p.Error()
}

// span returns where the table and those below it stand: from its header to the
// end of its last line that is not blank or a comment. start is -1 when it has
// no header of its own, or when its tables stand apart.
func (e tomlEntry) span(text []byte) (start, end int, err error) {
	all, err := headers(text)
	if err != nil {
		return -1, -1, err
	}
	isOurs := func(h header) bool {
		return len(h.key) >= len(e.path) && slices.Equal(h.key[:len(e.path)], e.path)
	}
	first := slices.IndexFunc(all, isOurs)
	if first < 0 || len(all[first].key) > len(e.path) {
		return -1, -1, nil
	}
	next := first
	for next < len(all) && isOurs(all[next]) {
		next++
	}
	start, end = all[first].at, len(text)
	if next < len(all) {
		end = all[next].at
		if slices.ContainsFunc(all[next:], isOurs) {
			return -1, -1, nil
		}
	}
	return start, start + lastLine(text[start:end]), nil
}

// lastLine returns where the last line ends that is not blank or a comment.
func lastLine(text []byte) int {
	end, at := 0, 0
	for line := range bytes.Lines(text) {
		content := bytes.TrimRight(line, "\r\n")
		if trimmed := bytes.TrimSpace(content); len(trimmed) > 0 && trimmed[0] != '#' {
			end = at + len(content)
		}
		at += len(line)
	}
	return end
}

func (e tomlEntry) put(file content) (content, error) {
	before, err := decodeTOML(file.text)
	if err != nil {
		return file, err
	}
	if found, _ := e.look(before); found == nil {
		after := appendBlock(file, e.lines())
		return after, e.check(before, after, true)
	}
	start, end, err := e.span(file.text)
	if err != nil || start < 0 {
		return file, e.formError()
	}
	after := present(apply(file.text, change{start, end, strings.Join(e.lines(), lineEnd(file.text))}))
	return after, e.check(before, after, true)
}

func (e tomlEntry) remove(file content) (content, error) {
	before, err := decodeTOML(file.text)
	if err != nil {
		return file, err
	}
	if found, _ := e.look(before); found == nil {
		return file, nil
	}
	start, end, err := e.span(file.text)
	if err != nil || start < 0 {
		return file, e.formError()
	}
	after := cutBlock(file.text, start, end)
	return after, e.check(before, after, false)
}

func (e tomlEntry) formError() error {
	return fmt.Errorf("%w: %s is no table with one header of its own: change it by hand", ErrForm, e.what())
}

// check holds that nothing else than the entry changed.
func (e tomlEntry) check(before map[string]any, after content, isThere bool) error {
	document, err := decodeTOML(after.text)
	if err != nil {
		return e.formError()
	}
	_, want := e.look(before)
	found, rest := e.look(document)
	if !reflect.DeepEqual(rest, want) || isThere != (found != nil) || isThere && !isValue(found, e.value) {
		return e.formError()
	}
	return nil
}
