package main

import (
	"errors"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

func everyMutant(t *testing.T) []mutant {
	t.Helper()
	mutants, err := readMutants(".")
	if err != nil {
		t.Fatal(err)
	}
	return mutants
}

// TestEveryMutantFits holds that each patch still applies to the source as it
// is, and gives source.
func TestEveryMutantFits(t *testing.T) {
	for _, m := range everyMutant(t) {
		files, err := m.apply(root)
		if err != nil {
			t.Error(err)
		}
		for file, text := range files {
			formatted, err := format.Source([]byte(text))
			if err != nil {
				t.Errorf("%s in %s: %v", m.Name, file, err)
			} else if string(formatted) != text {
				t.Errorf("%s leaves %s unformatted", m.Name, file)
			}
		}
	}
}

// TestTableListsEveryMutant holds that the page was written since mutants were
// added, taken away or described otherwise.
func TestTableListsEveryMutant(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", tableFile))
	if err != nil {
		t.Fatal(err)
	}
	mutants := everyMutant(t)
	var got, want []string
	for _, m := range mutants {
		want = append(want, m.Name+": "+m.Breaks)
	}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 || cells[0] == "| mutant" {
			continue
		}
		name := strings.TrimPrefix(cells[0], "| ")
		got = append(got, name+": "+cells[1])
		if at := slices.IndexFunc(mutants, func(m mutant) bool { return m.Name == name }); at >= 0 && !slices.Contains(mutants[at].Notices, cells[2]) {
			t.Errorf("%s was noticed by %s, its patch says %q", name, cells[2], mutants[at].Notices)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not of these mutants, run make mutants (- patches, + page):\n%s", tableFile, diff)
	}
}

// TestSomeMutantsAreCaught keeps the way that make mutants goes in order: a few
// that the first seeds find.
func TestSomeMutantsAreCaught(t *testing.T) {
	chosen, err := choose(everyMutant(t), []string{"history-not-written", "last-writer-wins", "no-timeout"})
	if err != nil {
		t.Fatal(err)
	}
	top, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := huntAll(t.Context(), t.Output(), top, seedsMax, chosen); err != nil {
		t.Error(err)
	}
}

// TestUnfitPatches holds that a patch which says too little, or no longer
// belongs to the source, is an error that names it.
func TestUnfitPatches(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.go"), []byte("one\ntwo\none\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const head = "Breaks it.\nNoticed by: I1 agreement\n\n--- a.go\n@@\n"
	for name, c := range map[string]struct{ text, want string }{
		"a hunk that fits":           {head + " two\n-one\n+four\n", "one\ntwo\nfour\nthree\n"},
		"a first line":               {head + "-one\n+four\n two\n", "four\ntwo\none\nthree\n"},
		"nothing such":               {head + "-five\n+four\n", "does not fit a.go any more"},
		"part of a line":             {head + "-ree\n+four\n", "does not fit a.go any more"},
		"two places":                 {head + "-one\n+four\n", "in more than one place"},
		"no change":                  {head + " two\n", "changes nothing"},
		"no file":                    {strings.ReplaceAll(head, "a.go", "b.go") + "-one\n", "b.go"},
		"no sentence":                {"Noticed by: I1 agreement\n--- a.go\n@@\n-two\n", "wants a sentence"},
		"nobody notices":             {"Breaks it.\n--- a.go\n@@\n-two\n", "wants a sentence"},
		"no hunk":                    {"Breaks it.\nNoticed by: I1 agreement\n", "wants a sentence"},
		"a line of nothing":          {head + "two\n", "line 6: neither context nor change"},
		"two hunks, one after other": {head + "-two\n+four\n@@\n-four\n+five\n", "one\nfive\none\nthree\n"},
	} {
		m, err := parse("unfit", c.text)
		var files map[string]string
		if err == nil {
			files, err = m.apply(folder)
		}
		got := files["a.go"]
		if err != nil {
			got = err.Error()
			if !errors.Is(err, errPatch) || !strings.Contains(got, "unfit") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
