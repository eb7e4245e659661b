package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestThePageIsWhatTheCodeGives runs the small sizes again: the page must have
// their rows as they are.
func TestThePageIsWhatTheCodeGives(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run([]string{"3", "10"}, &out); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, "| 3 |") && !strings.HasPrefix(line, "| 10 |") {
			continue
		}
		rows++
		if !strings.Contains(string(text), line) {
			t.Errorf("docs/scale.md lacks the row %sRun make scale.", line)
		}
	}
	if rows != 8 {
		t.Errorf("%d rows of two sizes in two tables, with gossip and without, want 8", rows)
	}
}

func TestSizes(t *testing.T) {
	for _, arg := range []string{"2", "1001", "ten", "-3", ""} {
		if _, err := sizesOf([]string{arg}); err == nil {
			t.Errorf("%q is taken for a size", arg)
		}
	}
}
