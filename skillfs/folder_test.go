package skillfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/skillfs"
)

const deploy = "---\nname: deploy\ndescription: Ships.\n---\nText.\n"

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func TestAFolderIsReadWithItsOtherFilesListed(t *testing.T) {
	fsys := fstest.MapFS{
		"skills/deploy/SKILL.md":              file(deploy),
		"skills/deploy/scripts/run.sh":        file("#!/bin/sh\n"),
		"skills/deploy/assets/SKILL.md":       file("a template\n"),
		"skills/deploy/.git/config":           file(""),
		"skills/deploy/node_modules/x/x.js":   file(""),
		"skills/deploy/scripts/.git":          file("gitdir: elsewhere\n"),
		"skills/deploy/reference/a/b/note.md": file(""),
		"skills/other/SKILL.md":               file(""),
	}
	document, extras, warnings, err := skillfs.ReadDir(fsys, "skills/deploy")
	if err != nil || len(warnings) > 0 {
		t.Fatalf("ReadDir: %v, warnings %v", err, warnings)
	}
	if document.Name != "deploy" || string(document.Body) != deploy {
		t.Errorf("document %+v, want deploy with its text", document)
	}
	want := []string{"assets/SKILL.md", "reference/a/b/note.md", "scripts/run.sh"}
	if diff := cmp.Diff(want, extras); diff != "" {
		t.Errorf("extras (-want +got):\n%s", diff)
	}
}

func TestTheRootOfAFileSystemHasNoNameToCompareWith(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, skillfs.FileName), []byte(deploy), 0o600); err != nil {
		t.Fatal(err)
	}
	document, extras, warnings, err := skillfs.ReadDir(os.DirFS(folder), ".")
	if err != nil || len(warnings)+len(extras) > 0 || document.Name != "deploy" {
		t.Errorf("ReadDir = %q, extras %v, warnings %v, %v, want deploy alone", document.Name, extras, warnings, err)
	}
}

func TestASymbolicLinkIsReportedAndNotFollowed(t *testing.T) {
	link := func(target string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
	}
	fsys := fstest.MapFS{
		"deploy/SKILL.md":    file(deploy),
		"deploy/passwd":      link("../secret"),
		"deploy/up":          link(".."),
		"deploy/pipe":        {Mode: fs.ModeNamedPipe},
		"secret":             file("secret\n"),
		"linked/SKILL.md":    link("../deploy/SKILL.md"),
		"folder/SKILL.md/no": file(""),
	}
	_, extras, warnings, err := skillfs.ReadDir(fsys, "deploy")
	if err != nil || len(extras) > 0 {
		t.Errorf("ReadDir: extras %v, %v, want neither", extras, err)
	}
	want := []string{
		"passwd: is a symbolic link and is not followed",
		"pipe: is neither a file nor a folder and is left out",
		"up: is a symbolic link and is not followed",
	}
	if diff := cmp.Diff(want, lines(warnings)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	for dir, reason := range map[string]string{"linked": "symbolic link", "folder": "no file"} {
		if _, _, _, err := skillfs.ReadDir(fsys, dir); !errors.Is(err, skillfs.ErrNoSkill) || !strings.Contains(err.Error(), reason) {
			t.Errorf("ReadDir(%q): %v, want ErrNoSkill with %q", dir, err, reason)
		}
	}
}

func TestAFolderThatHoldsNoSkillIsAnError(t *testing.T) {
	crowd := fstest.MapFS{"crowd/SKILL.md": file(deploy)}
	for i := range 2001 {
		crowd[fmt.Sprintf("crowd/%d", i)] = file("")
	}
	tests := []struct {
		name   string
		fsys   fstest.MapFS
		dir    string
		want   error
		reason string
	}{
		{"no document", fstest.MapFS{"deploy/README.md": file("")}, "deploy", skillfs.ErrNoSkill, `in folder "deploy"`},
		{"lower case", fstest.MapFS{"deploy/skill.md": file(deploy)}, "deploy", skillfs.ErrNoSkill, "rename skill.md to SKILL.md"},
		{"no folder", fstest.MapFS{}, "deploy", fs.ErrNotExist, "deploy"},
		{"a path that leaves the tree", fstest.MapFS{}, "../deploy", fs.ErrInvalid, "deploy"},
		{"a file", fstest.MapFS{"deploy": file("")}, "deploy", errors.ErrUnsupported, "deploy"},
		{"a document above the cap", fstest.MapFS{"deploy/SKILL.md": file(deploy + strings.Repeat("x", skillfs.SkillBytesMax))}, "deploy", skillfs.ErrTooLarge, "SKILL.md of deploy is 8193 KB; a skill may have 8 MB: shorten it"},
		{"too many files", crowd, "crowd", skillfs.ErrTooLarge, "more than 2000 files"},
		{"too deep a tree", fstest.MapFS{"deploy/1/2/3/4/5/6/x": file("")}, "deploy", skillfs.ErrTooLarge, "deeper than 6"},
		{"an unreadable document", fstest.MapFS{"deploy/SKILL.md": file("text")}, "deploy", skillfs.ErrNoFrontmatter, "three hyphens"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, _, err := skillfs.ReadDir(test.fsys, test.dir)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("error %v, want %v with %q", err, test.want, test.reason)
			}
		})
	}
}

func TestADocumentOfExactlyTheCapIsRead(t *testing.T) {
	text := deploy + strings.Repeat("x", skillfs.SkillBytesMax-len(deploy))
	document, _, _, err := skillfs.ReadDir(fstest.MapFS{"deploy/SKILL.md": file(text)}, "deploy")
	if err != nil || len(document.Body) != skillfs.SkillBytesMax {
		t.Errorf("ReadDir: %d bytes, %v, want %d", len(document.Body), err, skillfs.SkillBytesMax)
	}
}

func TestTheSkillsOfTheDemoAreReadWithoutAWarning(t *testing.T) {
	fsys := os.DirFS("../cmd/fleetd/skills")
	folders, err := fs.ReadDir(fsys, ".")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no skills: %v", err)
	}
	for _, folder := range folders {
		t.Run(folder.Name(), func(t *testing.T) {
			document, extras, warnings, err := skillfs.ReadDir(fsys, folder.Name())
			if err != nil || len(warnings)+len(extras) > 0 {
				t.Fatalf("ReadDir: extras %v, warnings %v, %v", extras, warnings, err)
			}
			if err := skillfs.ValidSlug(document.Name); err != nil || document.Name != folder.Name() {
				t.Errorf("name %q, %v, want the folder's", document.Name, err)
			}
		})
	}
}
