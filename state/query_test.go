package state_test

import (
	"testing"

	"github.com/fleetsync/fleetd/state"
)

func TestQueryMatches(t *testing.T) {
	tests := []struct {
		name, query, text string
		want              bool
	}{
		{"the empty query matches all", "", "", true},
		{"white space alone is the empty query", " \t\n", "x", true},
		{"a word matches", "deploy", "how to deploy", true},
		{"a prefix of a word matches", "dep", "how to deploy", true},
		{"an infix does not", "ploy", "how to deploy", false},
		{"case does not matter", "DEPLOY", "Deploy", true},
		{"every word has to match", "deploy gone", "how to deploy", false},
		{"the order does not matter", "deploy how", "how to deploy", true},
		{"sharp s folds", "STRASSE", "die Straße", true},
		{"normal forms are equal", "cafe\u0301", "café", true},
		{"a hyphen starts a word", "bar", "foo-bar", true},
		{"an underscore starts a word", "case", "snake_case", true},
		{"a term with a hyphen is literal", "foo-b", "foo-bar", true},
		{"a term with a hyphen is not two words", "foo-bar", "foo bar", false},
		{"digits are words", "404", "error 4045", true},
		{"digits within a word are not", "04", "error 404", false},
		{"a star is literal", "dep*", "deploy", false},
		{"a literal star is found", "dep*", "use dep* here", true},
		{"a quote is literal", `"deploy"`, "deploy", false},
		{"or is a word", "a OR b", "a b", false},
		{"a column filter is literal", "name:deploy", "deploy", false},
		{"plus signs are found", "c++", "modern C++ code", true},
		{"a term of punctuation is found within a word's reach", "++", "c++", true},
		{"CJK matches anywhere", "署", "自动部署流程", true},
		{"a CJK run is contiguous", "部程", "自动部署流程", false},
		{"kana matches anywhere", "ーバ", "サーバー", true},
		{"hangul matches anywhere", "포", "배포하기", true},
		{"CJK and Latin may touch in the query", "go言語", "言語 Go", true},
		{"a Latin word after CJK starts a word", "go", "言語Go", true},
		{"a later occurrence counts", "ploy", "deploy ploy", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := state.QueryMatches(test.query, test.text); got != test.want {
				t.Errorf("query %q on %q: got %t, want %t", test.query, test.text, got, test.want)
			}
		})
	}
}

func TestATermDoesNotSpanFields(t *testing.T) {
	if state.QueryMatches("部署", "部", "署") {
		t.Error("a term was found across two fields")
	}
}
