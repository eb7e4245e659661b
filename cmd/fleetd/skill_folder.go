package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/skillfs"
	"github.com/fleetsync/fleetd/state"
)

// folder is a skill read from a directory.
type folder struct {
	dir   string
	write skillWrite
}

// skillWrite is what a folder makes of its skill.
type skillWrite struct {
	slug string
	wire.SkillWrite
	// tagged says that the frontmatter speaks of tags.
	tagged bool
}

// readFolders reads and checks all skills. Its error says all that is wrong.
func (a *app) readFolders(dirs []string, scope wire.Scope, bodyOnly bool) ([]folder, error) {
	folders := make([]folder, 0, len(dirs))
	var bad []error
	for _, dir := range dirs {
		f, err := a.readFolder(dir, bodyOnly)
		if err == nil {
			f.write.Scope = scope
			err = f.check()
		}
		if err != nil {
			bad = append(bad, err)
			continue
		}
		folders = append(folders, f)
	}
	if bad = append(bad, twins(folders)...); len(bad) > 0 {
		return nil, a.refuseAll(bad, len(dirs))
	}
	return folders, nil
}

// check refuses what the daemon would refuse of this skill, whatever it holds.
func (f folder) check() error {
	w := f.write
	room, err := state.SkillRoom(state.Skill{
		Slug: w.slug, Name: w.Name, Body: w.Body, Tags: w.Tags,
		Scope: state.Scope{Instance: w.Scope.Instance, Project: w.Scope.Project, Workspace: w.Scope.Workspace},
	})
	switch {
	case err != nil:
		return failed(exitError, "mend it and repeat; nothing was added", "%s: %w", f.dir, err)
	case room < 0:
		return failed(exitError, "nothing was added", "%s: name and tags in %s of %s are too long: they may have 64 KB together",
			f.dir, skillfs.FileName, w.slug)
	}
	return nil
}

// readFolder reads one skill and prints the warnings.
func (a *app) readFolder(dir string, bodyOnly bool) (folder, error) {
	document, extras, warnings, err := openFolder(dir)
	for _, w := range warnings {
		a.note("%s: %s", oneLine(dir), oneLine(w.String()))
	}
	switch {
	case errors.Is(err, skillfs.ErrNoSkill), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return folder{}, failed(exitError, "name the folder of one skill, the one that holds its SKILL.md", "%s: %w", dir, err)
	case err != nil:
		return folder{}, failed(exitError, "mend it and repeat; nothing was added", "%s: %w", dir, err)
	case len(extras) > 0 && !bodyOnly:
		const shown = 5
		names := strings.Join(extras[:min(shown, len(extras))], ", ")
		if len(extras) > shown {
			names += fmt.Sprintf(" and %d more", len(extras)-shown)
		}
		return folder{}, failed(exitError, "--body-only takes SKILL.md alone; this version shares no other files",
			"%s holds files that a skill of one text would lose: %s", dir, names)
	}
	write := skillWrite{slug: document.Name}
	write.Name, write.Body, write.Tags = document.Name, string(document.Body), document.Tags
	if name, isText := document.Frontmatter["name"].(string); isText {
		write.Name = name
	}
	_, write.tagged = document.Frontmatter["tags"]
	return folder{dir, write}, nil
}

// openFolder reads the skill in a directory. The directory may be a link, but
// nothing in it leads outside.
func openFolder(dir string) (skillfs.Document, []string, []skillfs.Warning, error) {
	path, err := filepath.EvalSymlinks(dir)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return skillfs.Document{}, nil, nil, err
	}
	parent, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return skillfs.Document{}, nil, nil, err
	}
	defer func() { _ = parent.Close() }() // it was only read
	return skillfs.ReadDir(parent.FS(), filepath.Base(path))
}

// twins refuses folders of one slug: the second would replace the first
// without a word.
func twins(folders []folder) []error {
	var bad []error
	first := map[string]string{}
	for _, f := range folders {
		if dir, twice := first[f.write.slug]; twice {
			bad = append(bad, failed(exitError, "rename one of them, in its SKILL.md too; nothing was added",
				"%s and %s are both skill %s", dir, f.dir, f.write.slug))
			continue
		}
		first[f.write.slug] = f.dir
	}
	return bad
}
