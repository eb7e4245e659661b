package skillfs

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// FrontmatterBytesMax bounds what is given to YAML, in bytes, both fences
// included. The longest description takes 4 KiB in any script, the longest
// compatibility 2 KiB; the rest is for other keys.
const FrontmatterBytesMax = 16 << 10

const fence = "---"

var byteOrderMark = []byte("\xEF\xBB\xBF")

// cutFrontmatter returns the lines between the two fences without their line
// endings. It accepts LF, CRLF and CR, also mixed, and one byte order mark.
func cutFrontmatter(raw []byte) ([]string, error) {
	if wideEncoded(raw) {
		return nil, fmt.Errorf("%w: the file is UTF-16 or UTF-32, save it as UTF-8", ErrEncoding)
	}
	rest := bytes.TrimPrefix(raw, byteOrderMark)
	capped := len(rest) > FrontmatterBytesMax
	if capped {
		rest = rest[:FrontmatterBytesMax]
	}
	first, rest, _ := cutLine(rest)
	if !isFence(first) {
		return nil, fmt.Errorf("%w: the file must begin with a line of three hyphens", ErrNoFrontmatter)
	}
	var lines []string
	for len(rest) > 0 {
		line, after, ended := cutLine(rest)
		// The cap may have cut the last line: "---" could be "---x".
		if isFence(line) && (ended || !capped) {
			return lines, nil
		}
		if !utf8.Valid(line) && (ended || !capped) {
			return nil, fmt.Errorf("%w: line %d of the frontmatter", ErrEncoding, len(lines)+2)
		}
		lines = append(lines, string(line))
		rest = after
	}
	if capped {
		return nil, fmt.Errorf("%w: no closing line of three hyphens within %d bytes", ErrTooLarge, FrontmatterBytesMax)
	}
	return nil, fmt.Errorf("%w: no closing line of three hyphens", ErrNoFrontmatter)
}

// wideEncoded recognises UTF-16 and UTF-32 by their byte order mark or, where
// that is missing, by the zero bytes round the first hyphen.
func wideEncoded(raw []byte) bool {
	for _, prefix := range []string{"\xFF\xFE", "\xFE\xFF", "\x00", "-\x00"} {
		if bytes.HasPrefix(raw, []byte(prefix)) {
			return true
		}
	}
	return false
}

// cutLine splits off the first line; ended is false when no line ending
// followed it.
func cutLine(text []byte) (line, rest []byte, ended bool) {
	i := bytes.IndexAny(text, "\r\n")
	if i < 0 {
		return text, nil, false
	}
	line, rest = text[:i], text[i+1:]
	if text[i] == '\r' && len(rest) > 0 && rest[0] == '\n' {
		rest = rest[1:]
	}
	return line, rest, true
}

func isFence(line []byte) bool {
	return strings.TrimRight(string(line), " \t") == fence
}
