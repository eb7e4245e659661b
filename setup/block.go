package setup

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// appendBlock adds lines at the end of a text, after an empty one. They end
// without a line end where the text did, so that cutBlock knows.
func appendBlock(file content, lines []string) content {
	eol := lineEnd(file.text)
	block := strings.Join(lines, eol)
	switch {
	case !file.exists:
		block += eol
	case len(file.text) == 0: // its end stays as it is
	case bytes.HasSuffix(file.text, []byte("\n")):
		block = eol + block + eol
	default:
		block = eol + eol + block
	}
	return present(append(bytes.Clone(file.text), block...))
}

// cutBlock takes out what appendBlock added: the lines from start to end, without
// the last line end.
func cutBlock(text []byte, start, end int) content {
	eol := []byte(lineEnd(text[start:]))
	before, after := text[:start], text[end:]
	blank := bytes.Repeat(eol, 2)
	switch {
	case len(after) == 0:
		before = bytes.TrimSuffix(before, blank)
	case bytes.HasPrefix(after, eol):
		after = after[len(eol):]
		if bytes.HasSuffix(before, append([]byte("\n"), eol...)) {
			before = bytes.TrimSuffix(before, eol)
		}
		if len(before)+len(after) == 0 {
			return content{}
		}
	}
	return present(append(bytes.Clone(before), after...))
}

// blockEntry is a few marked lines in a text that people write, such as
// AGENTS.md.
type blockEntry struct {
	begin, end string
	lines      []string
}

func (e blockEntry) what() string { return "the block " + e.begin }

func (e blockEntry) all() []string {
	return append(append([]string{e.begin}, e.lines...), e.end)
}

var errNoEnd = errors.New("the block has no end")

// span returns where the block stands, without its last line end; start is -1
// when there is none.
func (e blockEntry) span(text []byte) (start, end int, err error) {
	start, at := -1, 0
	for line := range bytes.Lines(text) {
		switch content := string(bytes.TrimRight(bytes.TrimPrefix(line, []byte(byteOrderMark)), "\r\n")); {
		case content == e.begin && start < 0:
			start = at + bytes.Index(line, []byte(e.begin))
		case content == e.end && start >= 0:
			return start, at + len(e.end), nil
		}
		at += len(line)
	}
	if start >= 0 {
		return 0, 0, fmt.Errorf("line %d: %w: add the line %s after it", lineOf(text, start), errNoEnd, e.end)
	}
	return -1, -1, nil
}

func (e blockEntry) find(text []byte) (State, bool, error) {
	start, end, err := e.span(text)
	switch {
	case err != nil || start < 0:
		return Absent, false, err
	case strings.ReplaceAll(string(text[start:end]), "\r\n", "\n") == strings.Join(e.all(), "\n"):
		return Wanted, false, nil
	default:
		return Changed, false, nil
	}
}

func (e blockEntry) put(file content) (content, error) {
	start, end, err := e.span(file.text)
	if err != nil {
		return file, err
	}
	if start < 0 {
		return appendBlock(file, e.all()), nil
	}
	return present(apply(file.text, change{start, end, strings.Join(e.all(), lineEnd(file.text[start:]))})), nil
}

func (e blockEntry) remove(file content) (content, error) {
	start, end, err := e.span(file.text)
	if err != nil || start < 0 {
		return file, err
	}
	return cutBlock(file.text, start, end), nil
}
