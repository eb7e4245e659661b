package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) skillAdd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "add DIR...", Short: "add skills, each from a folder with a SKILL.md", Args: cobra.MinimumNArgs(1),
		Long: `Adds the skill of each folder, or replaces the one of its name. All folders are
checked before the first skill is written, so one that is no skill adds nothing.
Tags of the frontmatter become those of the skill.`,
		Example: "  fleetd skill add ~/.claude/skills/*/",
	}
	bodyOnly := cmd.Flags().Bool("body-only", false, "take SKILL.md and leave the other files of the folder out")
	scope := addScope(cmd)
	return a.verb(cmd, func(ctx context.Context, dirs []string) error {
		folders, err := a.readFolders(dirs, scope.scope, *bodyOnly)
		if err != nil {
			return err
		}
		return a.addSkills(ctx, folders)
	})
}

// addSkills writes the skills, and prints what was added even when one fails.
func (a *app) addSkills(ctx context.Context, folders []folder) error {
	c, err := a.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	list := addedList{SchemaVersion: wire.SchemaVersion, Skills: []added{}}
	for _, f := range folders {
		done, err := f.put(ctx, c)
		if err != nil {
			failure := a.explainAdd(f, err)
			if failure.kind == string(wire.CodeTooLarge) {
				failure.code = exitError // of a file, as others that cannot be added
			}
			failure.text = fmt.Sprintf("skill %s (%s; %d of %d folders are done): %s",
				f.write.slug, f.dir, len(list.Skills), len(folders), failure.text)
			if len(list.Skills) == 0 {
				return failure
			}
			list.Failed = &notAdded{Dir: f.dir, Slug: f.write.slug, Message: failure.text}
			failure.told = a.output == "json"
			if err := a.print(list, list.text); err != nil {
				return err
			}
			return failure
		}
		list.Skills = append(list.Skills, done)
	}
	return a.print(list, list.text)
}

// added is what became of one folder.
type added struct {
	// Outcome is "added", "updated" or "unchanged".
	Outcome string `json:"outcome"`
	Dir     string `json:"dir"`
	wire.Skill
}

// notAdded is the folder at which skill add ended.
type notAdded struct {
	Dir     string `json:"dir"`
	Slug    string `json:"slug"`
	Message string `json:"message"`
}

// addedList is the result of skill add.
type addedList struct {
	SchemaVersion int       `json:"schema_version"`
	Skills        []added   `json:"skills"`
	Failed        *notAdded `json:"failed,omitempty"`
}

func (l addedList) text(w io.Writer) {
	for _, s := range l.Skills {
		say(w, "skill %s %s, version %d", s.Slug, s.Outcome, s.Version)
		gatedText(w, s.Gated, "skill", s.Slug)
	}
}

// refuseAll reports every folder that cannot be added: one as the error itself,
// several in a line each.
func (a *app) refuseAll(bad []error, folders int) error {
	if len(bad) == 1 && folders == 1 {
		return bad[0]
	}
	var advice []string
	lines := make([]string, 0, len(bad))
	for _, err := range bad {
		f := a.explain(err)
		lines = append(lines, oneLine(f.text))
		next := strings.TrimSuffix(strings.TrimSuffix(f.next, "nothing was added"), "; ")
		if next != "" && !slices.Contains(advice, next) {
			advice = append(advice, next)
		}
	}
	if a.output != "json" {
		for _, line := range lines {
			a.note("fleetd: %s", line)
		}
		lines = nil
	}
	text := fmt.Sprintf("%d of %d folders cannot be added, so none was", len(bad), folders)
	if len(lines) > 0 {
		text += ": " + strings.Join(lines, "; ")
	}
	return &failure{text: text, code: exitError, next: strings.Join(advice, "; ")}
}
