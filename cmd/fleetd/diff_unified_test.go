package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAUnifiedDiffHasTheFormThatToolsRead(t *testing.T) {
	lines := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	}
	tests := map[string]struct{ before, after, want string }{
		"a new file":       {"-", "a\nb\n", "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		"a file that goes": {"a\n", "-", "--- f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"},
		"two places": {
			lines(1, 20), "0\n" + lines(1, 14) + lines(16, 20),
			"--- f\n+++ f\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -12,7 +13,6 @@\n 12\n 13\n 14\n-15\n 16\n 17\n 18\n",
		},
		"the end of the last line": {"a", "a\n", "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		"what drives a terminal":   {"", "\x1b[2J\r\n", "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+\\u001b[2J\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, unifiedDiff("f", textOrNil(test.before), textOrNil(test.after))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func textOrNil(text string) []byte {
	if text == "-" {
		return nil
	}
	return []byte(text)
}

// TestAUnifiedDiffLeadsFromOneTextToTheOther reads the hunks as patch does.
func TestAUnifiedDiffLeadsFromOneTextToTheOther(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) []byte {
		var b bytes.Buffer
		for range rapid.IntRange(0, 40).Draw(t, "lines") {
			b.WriteString(rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "line") + "\n")
		}
		return b.Bytes()
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		diff := unifiedDiff("f", before, after)
		old := markedLines(before)
		var got []string
		at := 0
		for _, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n")[2:] {
			if strings.HasPrefix(line, "@@ ") {
				var startA, countA, startB, countB int
				if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &startA, &countA, &startB, &countB); err != nil {
					t.Fatal(err)
				}
				if countA == 0 {
					startA++
				}
				got = append(got, old[at:startA-1]...)
				at = startA - 1
				continue
			}
			if line[0] != '+' {
				if old[at] != line[1:] {
					t.Fatalf("line %d is %q, not %q", at, old[at], line[1:])
				}
				at++
			}
			if line[0] != '-' {
				got = append(got, line[1:])
			}
		}
		if d := cmp.Diff(markedLines(after), append(got, old[at:]...)); d != "" && len(after) > 0 {
			t.Fatalf("(-want +got)\n%s\n%s", d, diff)
		}
	})
}
