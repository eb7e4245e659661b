package merge_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFormatExample holds the example of FORMAT.md to its vector.
func TestFormatExample(t *testing.T) {
	document, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(document), "```hex\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("FORMAT.md has no hex block")
	}
	digits := regexp.MustCompile(`#.*|\s`).ReplaceAllString(block, "")
	text, err := os.ReadFile(filepath.Join(vectorFolder, "skill_first_version.txt"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := parseVector(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if want := hex.EncodeToString(v.encoded); digits != want {
		t.Errorf("the example is\n%s\nthe vector is\n%s", digits, want)
	}
	for line := range strings.Lines(v.view) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		isHash := name == "item_hash" || name == "signed_bytes_sha256"
		if isHash && !strings.Contains(string(document), value) {
			t.Errorf("FORMAT.md does not say %s %s", name, value)
		}
	}
}
