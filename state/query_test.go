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
		{"a star at the end is punctuation", "dep*", "deploy", true},
		{"a star within is literal", "d*y", "deploy", false},
		{"quotes around are punctuation", `"port 5432"`, "port 5432 free.", true},
		{"a full stop at the end does not matter", "5432.", "port 5432 free.", true},
		{"nor does a question mark", "port?", "port 5432 free.", true},
		{"nor does a comma", "mail,", "the e-mail", true},
		{"nor do brackets and code marks", "(`port`)", "port 5432 free.", true},
		{"nor do those of CJK", "「部署」。", "自动部署流程", true},
		{"punctuation between CJK and Latin does not matter", "部署:deploy", "deploy 部署", true},
		{"punctuation within is literal", "1.2.3", "release 1.2.3", true},
		{"and no wildcard", "1.2.3", "release 1-2-3", false},
		{"a digit after a letter does not start a word", "1.2.3", "v1.2.3", false},
		{"a token of punctuation among others is dropped", "port - 5432", "port 5432 free.", true},
		{"and dropped when nothing else matches", ". missing", "port 5432 free.", false},
		{"punctuation alone is literal", "...", "wait...", true},
		{"and matches nothing else", "...", "port 5432 free.", false},
		{"a sharp sign belongs to the word", "c#", "modern C++ code", false},
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
