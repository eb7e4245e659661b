package api

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// namedRunesMax is enough for what a machine calls a record.
const namedRunesMax = 120

// Named is an id or a kind in a line of text. Whoever wrote the record chose it, maybe
// on another machine: one that is more than a word stands in quotes, so that it
// cannot pass for what the line says, and a long one is cut.
func Named(text string) string {
	if utf8.RuneCountInString(text) > namedRunesMax {
		text = string([]rune(text)[:namedRunesMax]) + "..."
	}
	isWord := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:@+#~", r)
	}
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return !isWord(r) }) {
		return strconv.Quote(text)
	}
	return text
}
