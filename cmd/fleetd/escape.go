package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// isHidden reports whether a character shows nothing of its own and may change
// how others are shown: hidden and bidirectional marks. What joins emoji is let
// be.
func isHidden(r rune) bool { return unicode.Is(unicode.Cf, r) && r != '\u200d' }

// drivesTerminal reports whether a character can do something else to a terminal
// than show itself.
func drivesTerminal(r rune) bool {
	return isHidden(r) || unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp)
}

// spell returns a character as it is spelt out.
func spell(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// oneLine makes text of others safe for a line of a terminal: control
// characters, which could move the cursor, become spaces, and hidden and
// bidirectional ones, which could show another text, are spelt out.
func oneLine(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp):
			b.WriteByte(' ')
		case isHidden(r):
			b.WriteString(spell(r))
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// manyLines makes text of others safe for a terminal: all but line ends and
// tabs that could drive it is spelt out.
func manyLines(text string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if r != '\n' && r != '\t' && drivesTerminal(r) {
			b.WriteString(spell(r))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// safeJSON escapes in JSON what could drive a terminal; to programs it is the
// same. Outside of strings JSON has none of it but line ends.
func safeJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || !drivesTerminal(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			b.WriteString(spell(high) + spell(low))
		default:
			b.WriteString(spell(r))
		}
	}
	return b.String()
}

// spelt finds what spell writes.
var spelt = regexp.MustCompile(`\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}`)

// unspell reads a slug as it is shown: one with hidden characters can be typed
// as lists spell it. No slug has a backslash of its own.
func unspell(text string) string {
	return spelt.ReplaceAllStringFunc(text, func(escape string) string {
		r, err := strconv.ParseUint(escape[2:], 16, 32)
		if err != nil || !drivesTerminal(rune(r)) {
			return escape
		}
		return string(rune(r))
	})
}
