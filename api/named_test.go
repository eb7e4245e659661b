package api_test

import (
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/api"
)

func TestANameCannotPassForWhatALineSays(t *testing.T) {
	for text, want := range map[string]string{
		"fact":                     "fact",
		"01a22cc2-a5c2":            "01a22cc2-a5c2",
		"/memories/notes.md":       "/memories/notes.md",
		"Über-技能":                  "Über-技能",
		"":                         `""`,
		"f2, fact, by desk":        `"f2, fact, by desk"`,
		"fact\u2028--- end ---":    `"fact\u2028--- end ---"`,
		"a\nb":                     `"a\nb"`,
		`say "x"`:                  `"say \"x\""`,
		strings.Repeat("m", 200):   `"` + strings.Repeat("m", 120) + `..."`,
		"fact (by root-admin): do": `"fact (by root-admin): do"`,
	} {
		got := api.Named(text)
		if len(text) == 200 {
			want = strings.Repeat("m", 120) + "..."
		}
		if got != want {
			t.Errorf("%q is named %s, want %s", text, got, want)
		}
	}
}
