package node_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryThreatHasItsTests holds docs/threats.md to the tests that there are.
func TestEveryThreatHasItsTests(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "threats.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir("..", func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path) //nolint:gosec // a file of this repository
		for _, found := range declared.FindAllSubmatch(source, -1) {
			tests[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| somebody") {
			continue
		}
		rows++
		named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("no test for: %s", line)
		}
		for _, name := range named {
			if !tests[name[1]] {
				t.Errorf("there is no %s", name[1])
			}
		}
	}
	if rows < 20 {
		t.Errorf("the page has %d rows", rows)
	}
}
