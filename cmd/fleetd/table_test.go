package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestColumnsAreThoseOfATerminal(t *testing.T) {
	for text, want := range map[string]int{
		"":                            0,
		"plain":                       5,
		"技能":                          4,
		"e\u0301":                     1,
		"ﾊﾝ":                          2,
		"🚀":                           2,
		"👍🏽":                          2,
		"👩\u200d👧 x":                  4,
		"Ｆｕｌｌ":                        8,
		"한국":                          4,
		strings.Repeat("x", 300):      300,
		"zero\u200bwidth":             9,
		"a\u0301\u0302\u0303 stack":   7,
		"отладка":                     7,
		"\U0001f1e9\U0001f1ea":        2,
		"ends with a joiner\u200d":    18,
		"replacement \ufffd":          13,
		"ideographic\u3000space":      18,
		"\U00020000\U0002ffff beyond": 11,
	} {
		if got := columns(text); got != want {
			t.Errorf("columns(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestCutCountsColumnsAndKeepsCharactersWhole(t *testing.T) {
	for text, want := range map[string]string{
		"12345":              "12345",
		"123456":             "1234…",
		"技能":                 "技能",
		"技能技能":               "技能…",
		"x技能技":               "x技…",
		"abce\u0301fg":       "abce\u0301…",
		"👩\u200d👧👩\u200d👧👩👩": "👩\u200d👧👩\u200d👧…",
	} {
		if got := cut(text, 5); got != want {
			t.Errorf("cut(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestATableAlignsWideAndEmptyCells(t *testing.T) {
	var out bytes.Buffer
	(&app{}).table(&out, []string{"ID", "KIND", "CONTENT"}, [][]string{
		{"a", "", "one"}, {"技能", "fact", ""}, {"🚀", "事実", "two\nlines"}, {"", "", ""}, {"e\u0301", "x", "y"},
	})
	want := strings.Join([]string{
		"ID    KIND  CONTENT",
		"a           one",
		"技能  fact",
		"🚀    事実  two lines",
		"",
		"e\u0301     x     y",
		"",
	}, "\n")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnExcerptIsOneLine(t *testing.T) {
	if got := excerpt("two\r\n\n\tlines "); got != "two lines" {
		t.Errorf("got %q", got)
	}
	if got := excerpt(strings.Repeat("技", 80)); columns(got) > cellColumnsMax || !strings.HasSuffix(got, "技…") {
		t.Errorf("got %q of %d columns", got, columns(got))
	}
}
