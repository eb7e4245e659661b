package setup

import (
	"bytes"
	"strings"
)

// gap returns where the white space and comments before an item begin.
func (n *node) gap(i int) int {
	if i == 0 {
		return n.start + 1
	}
	return n.items[i-1].comma + 1
}

// insert adds items at the end of a container.
func insert(text []byte, c *node, unit, eol string, write func(layout) []string) []byte {
	if len(c.items) == 0 {
		// Without white space before the bracket, so that undo leaves the container.
		l := layout{unit: unit, eol: eol, oneLine: true}
		return apply(text, change{c.end - 1, c.end - 1, strings.Join(write(l), ", ")})
	}
	last := c.items[len(c.items)-1]
	between := c.between(text, eol)
	from := last.value.end
	if last.comma >= 0 {
		from = last.comma + 1
	}
	end, toLineEnd := commentEnd(text[from : c.end-1])
	if toLineEnd && !strings.Contains(between, "\n") {
		between = eol + indentAt(text, c.start) + unit
	}
	l := layout{unit: unit, eol: eol, oneLine: !strings.Contains(between, "\n")}
	if !l.oneLine {
		l.indent = between[strings.LastIndexByte(between, '\n')+1:]
	}
	items := write(l)
	added := between + strings.Join(items, ","+between)
	if last.comma >= 0 {
		return apply(text, change{from + end, from + end, added + ","})
	}
	return apply(text, change{from, from, ","}, change{from + end, from + end, added})
}

// between is the white space before an item that is added: that before the last
// one.
func (n *node) between(text []byte, eol string) string {
	i := len(n.items) - 1
	extra := text[n.gap(i):n.items[i].start]
	end, _ := commentEnd(extra)
	space := extra[end:]
	if at := bytes.LastIndexByte(space, '\n'); at >= 0 {
		return eol + string(space[at+1:])
	}
	if isTight := n.kind == '{' && text[n.items[i].value.start-1] == ':'; i == 0 && !isTight && len(space) == 0 {
		return " "
	}
	return string(space)
}

// wasMade reports whether setup made a container: it then has white space before
// its closing bracket, and no comments outside of its items.
func wasMade(text []byte, c *node) bool {
	if len(c.items) == 0 {
		return false
	}
	last := c.items[len(c.items)-1]
	from := last.value.end
	if last.comma >= 0 {
		from = last.comma + 1
	}
	after := text[from : c.end-1]
	if len(after) == 0 || hasComment(after) {
		return false
	}
	for i, it := range c.items {
		if hasComment(text[c.gap(i):it.start]) || it.comma >= 0 && hasComment(text[it.value.end:it.comma]) {
			return false
		}
	}
	return true
}

// cut takes the items from first to last out of a container.
func cut(text []byte, c *node, first, last int) []byte {
	var changes []change
	drop := func(start, end int) {
		if start < end {
			changes = append(changes, change{start, end, ""})
		}
	}
	from := c.gap(first)
	end, toLineEnd := commentEnd(text[from:c.items[first].start])
	from += end
	if len(c.items) == last-first+1 {
		from = c.items[first].start
	}
	stop := c.items[last].value.end
	if comma := c.items[last].comma; comma >= 0 {
		drop(comma, comma+1)
		if len(bytes.TrimSpace(text[stop:comma])) == 0 {
			stop = comma // nothing but white space stands between
		}
	} else if first > 0 {
		comma := c.items[first-1].comma
		drop(comma, comma+1)
	}
	if toLineEnd && from < c.items[first].start && !startsLine(text[stop:], c.items[last].comma == stop) {
		from += bytes.IndexByte(text[from:], '\n') + 1 // the comment must not swallow what follows
	}
	drop(from, stop)
	return apply(text, changes...)
}

// startsLine reports whether a text, but for a comma at its beginning, goes on
// on the next line.
func startsLine(text []byte, hasComma bool) bool {
	if hasComma {
		text = text[1:]
	}
	text = bytes.TrimLeft(text, " \t\r")
	return len(text) == 0 || text[0] == '\n'
}

// indentAt is the white space at the beginning of the line of a place.
func indentAt(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unitOf is what one level of a document is indented by.
func unitOf(text []byte, root *node) string {
	for i, it := range root.items {
		if bytes.IndexByte(text[root.gap(i):it.start], '\n') >= 0 {
			if unit := indentAt(text, it.start); unit != "" && len(unit) <= 8 {
				return unit
			}
		}
	}
	return "  "
}
