package secrets

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// TextBytesMax is how much of a text is looked at: what comes after it is not.
const TextBytesMax = 8 << 20

// Finding is one secret in a text.
type Finding struct {
	// Rule is the id of the rule that found it.
	Rule string
	// Start and End are the bytes that it takes: text[Start:End]. It is the secret
	// alone, without what told that it is one, where that can be told apart: of a
	// connection string the password.
	Start, End int
}

// Find returns the secrets in a text in their order; nil for none. They do not
// overlap. It is safe for concurrent use.
func Find(text string) []Finding {
	text = text[:min(len(text), TextBytesMax)]
	if isBinary(text) {
		return nil
	}
	return apart(scan(text))
}

// Rules returns the ids of the rules of findings, each once, in order.
func Rules(findings []Finding) []string {
	ids := make([]string, 0, len(findings))
	for _, f := range findings {
		ids = append(ids, f.Rule)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Redact returns the text with each finding of Find in it replaced by
// "[redacted: RULE]". What comes to light by a replacement is replaced too. It
// is safe for concurrent use.
func Redact(text string, findings []Finding) string {
	for len(findings) > 0 {
		text = replace(text, findings)
		findings = Find(text)
	}
	return text
}

func replace(text string, findings []Finding) string {
	var b strings.Builder
	done := 0
	for _, f := range findings {
		b.WriteString(text[done:f.Start])
		b.WriteString("[redacted: " + f.Rule + "]")
		done = f.End
	}
	b.WriteString(text[done:])
	return b.String()
}

// isBinary reports whether a text is none.
func isBinary(text string) bool {
	return strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(trimPartial(text))
}

// trimPartial takes a character from the end of a text that was cut within it.
func trimPartial(text string) string {
	if len(text) < TextBytesMax {
		return text
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if utf8.RuneStart(text[len(text)-n]) {
			if !utf8.FullRuneInString(text[len(text)-n:]) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// apart joins findings that overlap: the one that begins first has the name, and of
// one secret the rule that knows its issuer.
func apart(found []Finding) []Finding {
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(a.Start-b.Start, b.End-a.End, carried(a.Rule)-carried(b.Rule), strings.Compare(a.Rule, b.Rule))
	})
	kept := found[:0]
	for _, f := range found {
		if last := len(kept) - 1; last >= 0 && f.Start < kept[last].End {
			kept[last].End = max(kept[last].End, f.End)
			continue
		}
		kept = append(kept, f)
	}
	return kept
}
