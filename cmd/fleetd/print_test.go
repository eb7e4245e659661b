package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/api/wire"
)

func TestTextOfOthersCannotDriveATerminal(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                             "plain",
		"two\nlines\r\n":                    "two lines",
		"\x1b[31mred\x1b[0m":                "[31mred [0m",
		"\u009b31m":                         "31m",
		"left\u202eright":                   `left\u202eright`,
		"zero\u200bwidth":                   `zero\u200bwidth`,
		"line\u2028separator":               "line separator",
		"family \U0001f469\u200d\U0001f467": "family \U0001f469\u200d\U0001f467",
		"技能":                                "技能",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestAConflictShowsWhatOnlyTheLoserSays(t *testing.T) {
	skill := func(body string) wire.Version { return wire.Version{Skill: &wire.Skill{Body: &body}} }
	memory := wire.Version{Memory: &wire.MemoryItem{Content: "mine"}}
	tests := map[string]struct {
		conflict wire.Conflict
		want     string
	}{
		"a line of its own":        {wire.Conflict{Winner: skill("a\nb\n"), Loser: skill("a\nc\nd\n")}, "c"},
		"nothing of its own":       {wire.Conflict{Winner: skill("a\nb\n"), Loser: skill("a\n\n")}, "(nothing of its own)"},
		"a skill against a delete": {wire.Conflict{Winner: wire.Version{}, Loser: skill("a\n")}, "a"},
		"a delete against a skill": {wire.Conflict{Winner: skill("a"), Loser: wire.Version{Envelope: wire.Envelope{Deleted: true}}}, "(delete)"},
		"memory":                   {wire.Conflict{Winner: memory, Loser: memory}, "mine"},
		"a kind that nobody knows": {wire.Conflict{}, "-"},
		"escapes are not printed":  {wire.Conflict{Winner: skill(""), Loser: skill("\x1b[2J")}, "[2J"},
		"a long line of its own":   {wire.Conflict{Loser: skill(strings.Repeat("x", 101))}, strings.Repeat("x", 99) + "…"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := lostText(test.conflict); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestADemoThatFailsSaysWhichStep(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "laptop"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "laptop", "in-the-way"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := &demo{fleet: newDemoFleet(dir, true), tell: func(string, ...any) {}}
	err := d.run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "step 1 of 6, join: laptop joins") {
		t.Errorf("got %v, want the step that failed", err)
	}
	if err := d.fleet.close(); err != nil {
		t.Error(err)
	}
	r := d.result()
	if r.Converged || len(r.Steps) != 1 || r.Steps[0].OK || r.Roots == nil {
		t.Errorf("result %+v, want one step that failed", r)
	}
}

func TestJSONCannotDriveATerminal(t *testing.T) {
	result := map[string]string{"slug": "a\u202eb\u009b2J\u200bc\U000e0041\x1b", "emoji": "\U0001f469\u200d\U0001f467"}
	var out strings.Builder
	if err := writeJSON(&out, result); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"emoji\": \"\U0001f469\u200d\U0001f467\",\n  \"slug\": \"a\\u202eb\\u009b2J\\u200bc\\udb40\\udc41\\u001b\"\n}\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	var read map[string]string
	if err := json.Unmarshal([]byte(out.String()), &read); err != nil || read["slug"] != result["slug"] {
		t.Errorf("a program reads %q, %v", read["slug"], err)
	}
}

func TestTextsKeepTheirLinesAndNothingElse(t *testing.T) {
	for text, want := range map[string]string{
		"a\n\tb\r\nc\n":  "a\n\tb\nc\n",
		"\x1b[2Jcleared": `\u001b[2Jcleared`,
		"a\rb":           `a\u000db`,
		"a\u202eb\u2028": `a\u202eb\u2028`,
		"\U000e0041":     `\U000e0041`,
	} {
		if got := manyLines(text); got != want {
			t.Errorf("manyLines(%q) = %q, want %q", text, got, want)
		}
	}
}

// A slug that lists spell out can be typed as they do.
func TestSlugsAreTypedAsTheyAreShown(t *testing.T) {
	for _, slug := range []string{"a\u202eb", "zero\u200bwidth", "tag\U000e0041", "deploy", "技能"} {
		if got := unspell(oneLine(slug)); got != slug {
			t.Errorf("%q is shown as %q, which is read as %q", slug, oneLine(slug), got)
		}
	}
	for _, text := range []string{`\u0041`, `\u20`, `C:\users`, `\U00110000`} {
		if got := unspell(text); got != text {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}
