package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/skillfs"
)

func (a *app) skillAdd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "add DIR...", Short: "add skills, each from a folder with a SKILL.md", Args: cobra.MinimumNArgs(1),
		Long: `Adds the skill of each folder, or replaces the one of its name. All folders are
read before the first skill is written, so one that cannot be read adds nothing.`,
		Example: "  fleetd skill add ~/.claude/skills/*/",
	}
	bodyOnly := cmd.Flags().Bool("body-only", false, "take SKILL.md and leave the other files of the folder out")
	scope := addScope(cmd)
	return a.verb(cmd, func(ctx context.Context, dirs []string) error {
		folders := make([]folder, 0, len(dirs))
		for _, dir := range dirs {
			f, err := a.readFolder(dir, *bodyOnly)
			if err != nil {
				return err
			}
			folders = append(folders, f)
		}
		if err := refuseTwins(folders); err != nil {
			return err
		}
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		list := addedList{SchemaVersion: wire.SchemaVersion, Skills: []added{}}
		for _, f := range folders {
			done, err := f.put(ctx, c, scope.scope)
			if err != nil {
				return fmt.Errorf("skill %s (%s; %d of %d folders are done): %w", f.document.Name, f.dir, len(list.Skills), len(folders), err)
			}
			list.Skills = append(list.Skills, done)
		}
		return a.print(list, list.text)
	})
}

// folder is a skill read from a directory.
type folder struct {
	dir      string
	document skillfs.Document
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
	return folder{dir, document}, nil
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

// refuseTwins refuses two folders of one slug: the second would replace the
// first without a word.
func refuseTwins(folders []folder) error {
	first := map[string]string{}
	for _, f := range folders {
		if dir, twice := first[f.document.Name]; twice {
			return failed(exitError, "rename one of them, in its SKILL.md too; nothing was added",
				"%s and %s are both skill %s", dir, f.dir, f.document.Name)
		}
		first[f.document.Name] = f.dir
	}
	return nil
}

// put writes the skill unless the node holds the same. What it read it names in
// the write, so that a write in between is not lost.
func (f folder) put(ctx context.Context, c *client.Client, scope wire.Scope) (added, error) {
	slug := f.document.Name
	in := wire.SkillWrite{Name: slug, Body: string(f.document.Body), Scope: scope}
	if name, isText := f.document.Frontmatter["name"].(string); isText {
		in.Name = name
	}
	outcome := "added"
	current, err := c.Skill(ctx, slug, &scope)
	var problem *wire.Problem
	switch {
	case errors.As(err, &problem) && problem.Code == wire.CodeNotFound:
	case err != nil:
		return added{}, err
	case *current.Body == in.Body && current.Name == in.Name:
		return f.outcome("unchanged", current.Skill), nil
	default:
		outcome = "updated"
		in.Tags, in.Check, in.Token = current.Tags, current.Check, current.Token()
	}
	written, err := c.PutSkill(ctx, slug, in)
	return f.outcome(outcome, written.Skill), err
}

// outcome leaves the text out, as lists do.
func (f folder) outcome(outcome string, sk wire.Skill) added {
	sk.Body = nil
	return added{outcome, f.dir, sk}
}

// added is what became of one folder.
type added struct {
	// Outcome is "added", "updated" or "unchanged".
	Outcome string `json:"outcome"`
	Dir     string `json:"dir"`
	wire.Skill
}

// addedList is the result of skill add.
type addedList struct {
	SchemaVersion int     `json:"schema_version"`
	Skills        []added `json:"skills"`
}

func (l addedList) text(w io.Writer) {
	for _, s := range l.Skills {
		if s.Outcome == "unchanged" {
			say(w, "skill %s unchanged, version %d", s.Slug, s.Version)
			continue
		}
		say(w, "skill %s %s, version %d", s.Slug, s.Outcome, s.Version)
	}
}
