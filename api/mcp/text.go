package mcp

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what one call answers. A model pays for every line of an index,
// also those that it does not need.
const (
	// limitDefault and limitMax are how many entries of an index one call returns.
	limitDefault = 20
	limitMax     = 200
	// indexBytesMax bounds the text of an index.
	indexBytesMax = 24 << 10
	// turnBytesMax bounds the contents of a page of turns. One turn is always
	// returned, whatever its length.
	turnBytesMax = 64 << 10
	// snippetRunesMax is how much of a text its entry in an index shows.
	snippetRunesMax = 160
	// textBytesMax is the longest content that a result repeats as text beside
	// the structured one.
	textBytesMax = 2 << 20
)

// snippet is the first line of a text that says something, shortened.
func snippet(text string) string {
	line, rest, _ := strings.Cut(strings.TrimLeftFunc(text, unicode.IsSpace), "\n")
	line = strings.TrimSpace(line)
	cut := strings.TrimSpace(rest) != ""
	if utf8.RuneCountInString(line) > snippetRunesMax {
		line, cut = string([]rune(line)[:snippetRunesMax]), true
	}
	if cut {
		line += " ..."
	}
	return line
}

// shown is a content in the text of a result. What is too long to be said twice
// is in the structured content alone.
func shown(content string) string {
	if len(content) <= textBytesMax {
		return content
	}
	cut := textBytesMax
	for !utf8.RuneStart(content[cut]) {
		cut--
	}
	return content[:cut] + fmt.Sprintf("\n... %d of %d bytes; the structured content of this result has all of it", cut, len(content))
}

// page says how an index was cut that is read in pages: to count all would be to
// read all.
type page struct {
	Returned int `json:"returned"`
	// More says that there are others beyond these.
	More bool `json:"more"`
	// Cursor, when it is there, gets the next ones.
	Cursor string `json:"next_cursor,omitempty"`
}

// said says how an index was cut, and how to go on.
func (p *page) said(one, many string) string {
	text := plural(p.Returned, one, many)
	switch {
	case p.Cursor != "":
		return text + ", and there are more; cursor " + p.Cursor + " gets the next"
	case p.More:
		return text + ", and there are more; more words in the query narrow it"
	}
	return text
}

// counted says how an index was cut of which all is known.
type counted struct {
	// Total is how many there are, of which the result has Returned.
	Total    int `json:"total"`
	Returned int `json:"returned"`
}

// lines collects the entries of an index up to its bounds.
type lines struct {
	text  strings.Builder
	limit int
	n     int
}

func newLines(limit int) *lines { return &lines{limit: min(max(limit, 1), limitMax)} }

// add adds an entry, and reports whether there was room. The first always has.
func (l *lines) add(format string, args ...any) bool {
	line := fmt.Sprintf(format, args...)
	if l.n == l.limit || l.n > 0 && l.text.Len()+len(line) > indexBytesMax {
		return false
	}
	l.text.WriteString(line + "\n")
	l.n++
	return true
}

// end adds what is left to say.
func (l *lines) end(format string, args ...any) string {
	return l.text.String() + fmt.Sprintf(format, args...)
}

// plural says how many, in words that agree.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
