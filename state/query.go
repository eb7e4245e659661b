package state

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// query is a search text made ready: each of its terms must begin at the start
// of a word, or anywhere when it is CJK, which is written without spaces.
// There are no operators. Punctuation around a term does not count, so that a
// word copied out of a sentence, or quoted, is found; within a term it is
// looked for literally: "1.2.3" finds "release 1.2.3" and not "v1.2.3", where
// the digit does not start a word.
type query []term

type term struct {
	text     string // folded
	anywhere bool
}

// parseQuery splits at white space, and where CJK meets other text. A query of
// punctuation alone is literal; otherwise what is only punctuation is dropped.
func parseQuery(text string) query {
	tokens := strings.Fields(fold(text))
	var q, literal query
	for _, token := range tokens {
		literal = append(literal, term{text: token})
		for token != "" {
			first, _ := utf8.DecodeRuneInString(token)
			cjk := isCJK(first)
			end := strings.IndexFunc(token, func(r rune) bool { return isCJK(r) != cjk })
			if end < 0 {
				end = len(token)
			}
			if bare := strings.TrimFunc(token[:end], isPunctuation); bare != "" {
				q = append(q, term{text: bare, anywhere: cjk})
			}
			token = token[end:]
		}
	}
	if len(q) == 0 {
		return literal
	}
	return q
}

// isPunctuation reports whether r says nothing at the edge of a word: it ends
// sentences, quotes or marks up. Symbols that names end or begin with, as in
// C#, C++, 50% and @home, are not meant.
func isPunctuation(r rune) bool {
	switch r {
	case '#', '%', '&', '@':
		return false
	case '`', '<', '>', '|', '~', '^', '=':
		return true
	}
	return unicode.IsPunct(r)
}

// matches reports whether the fields together hold every term. A term never
// spans two fields. The empty query matches all.
func (q query) matches(fields ...string) bool {
	if len(q) == 0 {
		return true
	}
	text := fold(strings.Join(fields, "\n"))
	for _, t := range q {
		if !t.in(text) {
			return false
		}
	}
	return true
}

func (t term) in(text string) bool {
	if t.anywhere {
		return strings.Contains(text, t.text)
	}
	for from := 0; ; {
		at := strings.Index(text[from:], t.text)
		if at < 0 {
			return false
		}
		if at += from; startsWord(text, at) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		from = at + size
	}
}

// startsWord reports whether no word runs across position at: a word is a run
// of letters, digits and marks, none of them CJK.
func startsWord(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	here, _ := utf8.DecodeRuneInString(text[at:])
	return at == 0 || !inWord(before) || !inWord(here)
}

func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)) && !isCJK(r)
}

// isCJK reports whether r belongs to a script whose words are not divided by
// spaces. The prolonged sound mark and the half-width voice marks of Katakana
// belong to no script of their own.
func isCJK(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r == 'ー', r == '\uff70', r == '\uff9e', r == '\uff9f':
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}

// fold makes texts comparable that differ in case or in Unicode normal form.
func fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(s))
		}
	}
	return strings.ToLower(s)
}
