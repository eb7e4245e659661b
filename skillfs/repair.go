package skillfs

import (
	"regexp"
	"strings"
)

// repairDepthMax bounds how far repair descends: metadata is one level below the
// frontmatter, and nothing known lies deeper than two.
const repairDepthMax = 3

// keyLine matches "key: value" and "key:" at the start of a line.
var keyLine = regexp.MustCompile(`^([\pL\pN_.-]+):(?:[ \t]+(.*))?$`)

// entry is one key of a mapping with the lines that belong to it.
type entry struct {
	key   string
	value string // the rest of the key's line, trimmed
	lines []string
}

// entries splits the lines of a mapping at the keys that start in the first
// column. Lines before the first key come back as an entry without one.
func entries(lines []string) []entry {
	var found []entry
	for _, line := range lines {
		match := keyLine.FindStringSubmatch(line)
		switch {
		case match != nil:
			found = append(found, entry{key: match[1], value: strings.TrimSpace(match[2]), lines: []string{line}})
		case len(found) == 0:
			found = append(found, entry{lines: []string{line}})
		default:
			last := &found[len(found)-1]
			last.lines = append(last.lines, line)
		}
	}
	return found
}

// repair quotes each value that YAML refuses when its entry stands alone, such
// as a description with a colon in it, and returns the keys that it touched. It
// leaves alone what it does not understand: YAML then gives the reason.
func repair(lines []string, depth int) (repaired, keys []string) {
	for _, e := range entries(lines) {
		if _, err := readYAML(e.lines); err == nil || e.key == "" {
			repaired = append(repaired, e.lines...)
			continue
		}
		if e.value != "" {
			repaired = append(repaired, e.quoted())
			keys = append(keys, e.key)
			continue
		}
		below, touched := repairChildren(e.lines[1:], depth+1)
		repaired = append(append(repaired, e.lines[0]), below...)
		for _, key := range touched {
			keys = append(keys, e.key+"."+key)
		}
	}
	return repaired, keys
}

// repairChildren repairs the mapping that is indented below a key.
func repairChildren(lines []string, depth int) (repaired, keys []string) {
	indent := commonIndent(lines)
	if indent == "" || depth >= repairDepthMax {
		return lines, nil
	}
	dedented := make([]string, len(lines))
	for i, line := range lines {
		dedented[i] = strings.TrimPrefix(line, indent)
	}
	repaired, keys = repair(dedented, depth)
	for i, line := range repaired {
		if line != "" {
			repaired[i] = indent + line
		}
	}
	return repaired, keys
}

// commonIndent is the indentation of the first line that has text, when every
// other line with text has at least that; otherwise it is empty.
func commonIndent(lines []string) string {
	indent, known := "", false
	for _, line := range lines {
		text := strings.TrimLeft(line, " ")
		if text == "" {
			continue
		}
		if !known {
			indent, known = line[:len(line)-len(text)], true
		}
		if !strings.HasPrefix(line, indent) {
			return ""
		}
	}
	return indent
}

// quoted is the entry with its value as one single-quoted line. The lines of the
// value are joined by spaces, as YAML folds them; a hash in it is text, since a
// writer who forgot the quotes meant it so.
func (e entry) quoted() string {
	words := []string{e.value}
	for _, line := range e.lines[1:] {
		if text := strings.TrimSpace(line); text != "" {
			words = append(words, text)
		}
	}
	return e.key + ": '" + strings.ReplaceAll(strings.Join(words, " "), "'", "''") + "'"
}

// writtenValue is the value of a key in the first column as it was written,
// without a comment behind it.
func writtenValue(lines []string, key string) string {
	for _, e := range entries(lines) {
		if e.key == key {
			value, _, _ := strings.Cut(e.value, " #")
			return strings.TrimSpace(value)
		}
	}
	return ""
}
