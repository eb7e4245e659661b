package main

import (
	"fmt"
	"strings"
)

// diffContext is how many lines stand around a change.
const diffContext = 3

// unifiedDiff shows how the text of a file changes, in the form of diff -u. A
// text that is nil is a file that is not there. Line ends of Windows are shown
// as others are, and what could drive a terminal is spelt out.
func unifiedDiff(path string, before, after []byte) string {
	var b strings.Builder
	name := func(text []byte) string {
		if text == nil {
			return "/dev/null"
		}
		return oneLine(path)
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", name(before), name(after))
	edits := compareLines(markedLines(before), markedLines(after))
	lineA, lineB := 1, 1
	for start := 0; start < len(edits); {
		if edits[start].op == ' ' && !changesWithin(edits[start:], diffContext+1) {
			lineA, lineB, start = lineA+1, lineB+1, start+1
			continue
		}
		end := hunkEnd(edits, start)
		countA, countB := 0, 0
		var lines strings.Builder
		for _, e := range edits[start:end] {
			if e.op != '+' {
				countA++
			}
			if e.op != '-' {
				countB++
			}
			fmt.Fprintf(&lines, "%c%s\n", e.op, e.line)
		}
		fmt.Fprintf(&b, "@@ -%s +%s @@\n%s", rangeText(lineA, countA), rangeText(lineB, countB), lines.String())
		lineA, lineB, start = lineA+countA, lineB+countB, end
	}
	return b.String()
}

// changesWithin reports whether one of the next lines is a change.
func changesWithin(edits []edit, lines int) bool {
	for _, e := range edits[:min(lines, len(edits))] {
		if e.op != ' ' {
			return true
		}
	}
	return false
}

// hunkEnd returns where the hunk ends that begins at start.
func hunkEnd(edits []edit, start int) int {
	end := start
	for end < len(edits) {
		if edits[end].op == ' ' && !changesWithin(edits[end:], 2*diffContext+1) {
			if last := end - 1; last >= start && edits[last].op != ' ' {
				return min(end+diffContext, len(edits))
			}
		}
		end++
	}
	return end
}

func rangeText(line, count int) string {
	if count == 0 {
		line--
	}
	return fmt.Sprintf("%d,%d", line, count)
}

// markedLines are the lines of a file as a diff shows them: the last one says
// when no line end follows it.
func markedLines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	lines := linesOf(manyLines(string(text)))
	if text[len(text)-1] != '\n' {
		lines[len(lines)-1] += "\n\\ No newline at end of file"
	}
	return lines
}
