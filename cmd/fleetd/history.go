package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/skillfs"
)

const historyLong = `Lists every version that this machine still has, newest first: the head, which
everybody reads, conflicts, and versions that later ones cover. Each machine
keeps about 50 covered versions of its own. `

func (a *app) skillHistory() *cobra.Command {
	cmd := &cobra.Command{
		Use: "history SLUG|ID", Short: "versions of one skill, newest first, of a deleted one too", Args: cobra.ExactArgs(1),
		Long: historyLong + "fleetd conflicts restore skill\nSLUG HASH brings one back.",
	}
	scope := addScope(cmd)
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		return a.showHistory(ctx, "skill", scope, func(c *client.Client) (wire.History, error) {
			return c.SkillHistory(ctx, unspell(args[0]), scope.asked())
		})
	})
}

func (a *app) memoryHistory() *cobra.Command {
	cmd := &cobra.Command{
		Use: "history ID", Short: "versions of one item, newest first, of a deleted one too", Args: cobra.ExactArgs(1),
		Long: historyLong + "fleetd conflicts restore memory\nID HASH brings one back.",
	}
	scope := addScope(cmd)
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		return a.showHistory(ctx, "memory", scope, func(c *client.Client) (wire.History, error) {
			return c.MemoryHistory(ctx, args[0], scope.asked())
		})
	})
}

func (a *app) showHistory(ctx context.Context, group string, scope *scopeFlags, read func(*client.Client) (wire.History, error)) error {
	c, err := a.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	history, err := read(c)
	if err != nil {
		return a.explainFind(err, group, scope)
	}
	if a.output == outputJSON {
		return a.print(history, nil)
	}
	names, err := memberNames(ctx, c)
	if err != nil {
		return err
	}
	rows := make([][]string, 0, len(history.Versions))
	for _, v := range history.Versions {
		rows = append(rows, []string{
			v.Standing, stampText(v.UpdatedHLC), sideText(v, names), strconv.FormatInt(v.SyncVersion, 10), shortHash(v.Hash), contentLine(v),
		})
	}
	a.table(a.out, []string{"STANDING", "WHEN", "WRITER", "VERSION", "HASH", "CONTENT"}, rows)
	return nil
}

// memberNames maps the ids of all that ever were members to their names.
func memberNames(ctx context.Context, c *client.Client) (map[string]string, error) {
	list, err := c.AllMembers(ctx)
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(list.Members))
	for _, m := range list.Members {
		names[m.ID] = m.Name
	}
	return names, nil
}

// stampText is the time of a stamp for people.
func stampText(text string) string {
	stamp, err := hlc.Parse(text)
	if err != nil {
		return text
	}
	return timeText(time.UnixMilli(stamp.Wall))
}

// shortHash is as much of a hash as tells versions of one record apart.
func shortHash(hash string) string {
	const digits = 12
	return hash[:min(digits, len(hash))]
}

// contentLine is what a version says, in one line.
func contentLine(v wire.Version) string {
	switch {
	case v.Deleted:
		return "(delete)"
	case v.Skill != nil && v.Skill.Body != nil:
		return firstLine(skillfs.AfterFrontmatter(*v.Skill.Body))
	case v.Memory != nil:
		return firstLine(v.Memory.Content)
	case v.Session != nil:
		return titleText(v.Session.Title)
	case v.Turn != nil:
		return excerpt(v.Turn.Role + ": " + firstLine(v.Turn.Content))
	case v.Outcome != nil:
		return count(int(v.Outcome.Uses), "use") + ", " + count(int(v.Outcome.Wins), "win")
	default:
		return "-"
	}
}

// firstLine is the first line of a text that is not blank.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = excerpt(line); line != "" {
			return line
		}
	}
	return "-"
}
