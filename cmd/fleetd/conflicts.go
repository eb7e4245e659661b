package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) conflictsCommand() *cobra.Command {
	return a.group("conflicts", "writes that lost to a concurrent one, and how to settle them",
		a.conflictsList(), a.conflictsShow(), a.conflictsKeep(), a.conflictsRestore())
}

func (a *app) conflictsList() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "every write that lost, beside the one that won", Args: cobra.NoArgs,
		Long: `Lists the writes that lost to a concurrent one. The same one wins on every
machine, and the other is kept until somebody settles it: fleetd conflicts keep
leaves the one that won, fleetd conflicts restore brings the other back.`,
	}
	return a.ask(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Conflicts(ctx)
		if err != nil {
			return err
		}
		if a.output == "json" {
			return a.print(list, nil)
		}
		names, err := memberNames(ctx, c)
		if err != nil {
			return err
		}
		rows := make([][]string, 0, len(list.Conflicts))
		for _, conflict := range list.Conflicts {
			rows = append(rows, conflictRow(conflict, names))
		}
		a.table(a.out, []string{"KIND", "KEY", "SCOPE", "WINNER", "LOSER", "LOST"}, rows)
		return nil
	})
}

func conflictRow(c wire.Conflict, names map[string]string) []string {
	return []string{c.Kind, c.Key, scopeText(c.Scope), sideText(c.Winner, names), sideText(c.Loser, names), lostText(c)}
}

// sideText says who wrote a version.
func sideText(v wire.Version, names map[string]string) string {
	if name := names[v.LastWriterID]; name != "" {
		return name
	}
	return v.LastWriterID
}

// lostText is what only the losing version says.
func lostText(c wire.Conflict) string {
	won, lost := c.Winner, c.Loser
	switch {
	case lost.Deleted:
		return "(delete)"
	case lost.Skill != nil && lost.Skill.Body != nil:
		before := ""
		if won.Skill != nil && won.Skill.Body != nil {
			before = *won.Skill.Body
		}
		return excerpt(firstNew(before, *lost.Skill.Body))
	default:
		return contentLine(lost)
	}
}

// firstNew returns the first line of text that before does not have: skills
// begin alike, and a beginning would not show what was lost.
func firstNew(before, text string) string {
	known := map[string]bool{}
	for line := range strings.Lines(before) {
		known[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !known[line] {
			return line
		}
	}
	return "(nothing of its own)"
}
