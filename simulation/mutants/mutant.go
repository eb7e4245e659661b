package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mutant is a fault to be planted in production code: a patch that stands in a
// file of its own.
type mutant struct {
	// Name is that of the file without its extension.
	Name string
	// Breaks says in one sentence what is wrong then.
	Breaks string
	// Notices are the invariants that may notice.
	Notices []string
	// Edits are the changes, each of one file of the module.
	Edits []edit
}

// edit replaces the lines Old, which must stand in File exactly once, by New.
type edit struct {
	File     string // from the root of the module, with slashes
	Old, New string
}

const (
	patchExt   = ".patch"
	noticesKey = "Noticed by: "
	fileMark   = "--- "
	hunkMark   = "@@"
)

// errPatch is wrapped by what is wrong with a patch.
var errPatch = errors.New("mutants: bad patch")

// readMutants reads every patch of a folder, in the order of names.
func readMutants(folder string) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*"+patchExt))
	if err != nil {
		return nil, err
	}
	mutants := make([]mutant, 0, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // a file of this repository
		if err != nil {
			return nil, err
		}
		m, err := parse(strings.TrimSuffix(filepath.Base(file), patchExt), string(text))
		if err != nil {
			return nil, err
		}
		mutants = append(mutants, m)
	}
	return mutants, nil
}

// parse reads a patch: a sentence that says what it breaks, a line "Noticed
// by: " with invariants, divided by commas, and then hunks as unified diffs
// have them, without line numbers. Errors: errPatch.
func parse(name, text string) (mutant, error) {
	m := mutant{Name: name}
	var words []string
	var file string
	var hunk *edit
	for n, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		path, startsFile := strings.CutPrefix(line, fileMark)
		notices, isNotices := strings.CutPrefix(line, noticesKey)
		switch {
		case startsFile:
			file, hunk = path, nil
		case line == hunkMark && file != "":
			m.Edits = append(m.Edits, edit{File: file})
			hunk = &m.Edits[len(m.Edits)-1]
		case hunk != nil:
			if !hunk.take(line) {
				return mutant{}, fmt.Errorf("%w: %s%s line %d: neither context nor change: %q", errPatch, name, patchExt, n+1, line)
			}
		case isNotices:
			m.Notices = strings.Split(notices, ", ")
		default:
			words = append(words, strings.Fields(line)...)
		}
	}
	m.Breaks = strings.Join(words, " ")
	if m.Breaks == "" || len(m.Notices) == 0 || len(m.Edits) == 0 {
		return mutant{}, fmt.Errorf("%w: %s%s: wants a sentence, a line %q, and hunks", errPatch, name, patchExt, noticesKey)
	}
	return m, nil
}

// take adds one line to a hunk; false when it is none of a hunk. An empty line
// is an empty line of context, since editors cut spaces at ends.
func (e *edit) take(line string) bool {
	switch {
	case line == "":
		e.Old += "\n"
		e.New += "\n"
	case line[0] == ' ':
		e.Old += line[1:] + "\n"
		e.New += line[1:] + "\n"
	case line[0] == '-':
		e.Old += line[1:] + "\n"
	case line[0] == '+':
		e.New += line[1:] + "\n"
	default:
		return false
	}
	return true
}

// apply returns the files that the mutant changes, as they are with it, by
// their paths from the root of the module. Errors: errPatch when a hunk does
// not fit.
func (m *mutant) apply(root string) (map[string]string, error) {
	changed := map[string]string{}
	for i, e := range m.Edits {
		text, seen := changed[e.File]
		if !seen {
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.File))) //nolint:gosec // a file of this repository
			if err != nil {
				return nil, fmt.Errorf("%w: %s: %w", errPatch, m.Name, err)
			}
			text = string(b)
		}
		// Whole lines: what is looked for must follow the end of one.
		before, after, found := strings.Cut("\n"+text, "\n"+e.Old)
		switch {
		case e.Old == e.New:
			return nil, fmt.Errorf("%w: %s: hunk %d changes nothing", errPatch, m.Name, i+1)
		case !found:
			return nil, fmt.Errorf("%w: %s: hunk %d does not fit %s any more; write it anew", errPatch, m.Name, i+1, e.File)
		case strings.Contains("\n"+after, "\n"+e.Old):
			return nil, fmt.Errorf("%w: %s: hunk %d fits %s in more than one place; give it more context", errPatch, m.Name, i+1, e.File)
		}
		changed[e.File] = strings.TrimPrefix(before+"\n"+e.New+after, "\n")
	}
	return changed, nil
}
