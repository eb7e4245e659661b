package main

import (
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// cellColumnsMax is how many columns of a terminal one cell takes.
const cellColumnsMax = 100

// table writes aligned columns. Headings are bold and every cell is cut for
// people only, never when piped: lists cut what may be long themselves.
func (a *app) table(w io.Writer, heading []string, rows [][]string) {
	onTerminal := isTerminal(w)
	lines := make([][]string, 0, len(rows)+1)
	widest := make([]int, len(heading))
	for _, row := range append([][]string{heading}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = oneLine(cell)
			if onTerminal {
				cells[i] = cut(cells[i], cellColumnsMax)
			}
			widest[i] = max(widest[i], columns(cells[i]))
		}
		lines = append(lines, cells)
	}
	for i, cells := range lines {
		line := alignedLine(cells, widest)
		if i == 0 && onTerminal && a.getenv("NO_COLOR") == "" {
			line = "\x1b[1m" + line + "\x1b[0m"
		}
		say(w, "%s", line)
	}
}

func alignedLine(cells []string, widest []int) string {
	const gap = 2
	var line strings.Builder
	for i, cell := range cells {
		line.WriteString(cell)
		line.WriteString(strings.Repeat(" ", widest[i]-columns(cell)+gap))
	}
	return strings.TrimRight(line.String(), " ")
}

// excerpt is text of any length as one cell of a list.
func excerpt(text string) string {
	return cut(strings.Join(strings.Fields(oneLine(text)), " "), cellColumnsMax)
}

// cut shortens text to a number of columns.
func cut(text string, columnsMax int) string {
	if columns(text) <= columnsMax {
		return text
	}
	end, taken := 0, 0
	measure(text, func(at, width int) bool {
		if taken+width > columnsMax-1 {
			return false
		}
		taken, end = taken+width, at
		return true
	})
	return text[:end] + "…"
}

// columns is how many columns of a terminal text takes.
func columns(text string) int {
	sum := 0
	measure(text, func(_, width int) bool {
		sum += width
		return true
	})
	return sum
}

// measure calls step with the end of each character and the columns that it
// adds, until step returns false. Marks and what an emoji is joined of add
// none.
func measure(text string, step func(end, width int) bool) {
	const joiner, firstTone, lastTone = '\u200d', '\U0001f3fb', '\U0001f3ff'
	joined, wide := false, false
	for i, r := range text {
		columns := runeColumns(r)
		if joined || wide && r >= firstTone && r <= lastTone {
			columns = 0
		}
		joined, wide = r == joiner, columns == 2 || wide && columns == 0
		if !step(i+len(string(r)), columns) {
			return
		}
	}
}

func runeColumns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}
