package setup

import (
	"bytes"
	"slices"
)

// content is what a file holds, or that there is none.
type content struct {
	text   []byte
	exists bool
}

func present(text []byte) content { return content{text: text, exists: true} }

func (c content) is(other content) bool {
	return c.exists == other.exists && bytes.Equal(c.text, other.text)
}

// change replaces the bytes from start to end.
type change struct {
	start, end int
	with       string
}

// apply makes changes, which do not overlap, and of which those at one place are
// in order.
func apply(text []byte, changes ...change) []byte {
	slices.SortStableFunc(changes, func(a, b change) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, c := range changes {
		out = append(append(out, text[at:c.start]...), c.with...)
		at = c.end
	}
	return append(out, text[at:]...)
}

// lineEnd is how the lines of a text end.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// State is what a file has of an entry.
type State int

// The states.
const (
	Absent  State = iota // nothing
	Wanted               // just what it should be
	Written              // what setup writes, with other paths or numbers
	Changed              // somebody changed it
)

// entry is one thing of fleetd's in a file.
type entry interface {
	// what names it for people.
	what() string
	// find tells what a text has of it. commented says that there are comments
	// inside, which taking it out would lose.
	find(text []byte) (state State, commented bool, err error)
	// put adds it, or replaces what is there.
	put(file content) (content, error)
	// remove takes it out, however it is.
	remove(file content) (content, error)
}
