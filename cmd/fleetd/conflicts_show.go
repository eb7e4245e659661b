package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) conflictsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show KIND KEY", Short: "both versions of a conflict in full, and how they differ", Args: cobra.ExactArgs(2),
		Long:    "Shows what won and what lost, in full, and the lines in which they differ.\n\n" + recordLong,
		Example: "  fleetd conflicts show skill say-hello",
	}
	scope := addScope(cmd)
	return a.ask(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		history, err := c.History(ctx, record(args, scope))
		if err != nil {
			return a.explainRecord(err, scope)
		}
		shown := sidesOf(history)
		if len(shown.Losers) == 0 {
			return failed(exitNotFound, "fleetd conflicts list shows what is in conflict",
				"no conflict of %s %s, scope %s", history.Kind, history.Key, scopeText(history.Scope))
		}
		if a.output == outputJSON {
			return a.print(shown, nil)
		}
		names, err := memberNames(ctx, c)
		if err != nil {
			return err
		}
		shown.text(a.out, names)
		name := recordArguments(shown.Kind, shown.Key, shown.Scope)
		a.note("next: fleetd conflicts keep %s; or fleetd conflicts restore %s %s", name, name, shortHash(shown.Losers[0].Hash))
		return nil
	})
}

// sides is what fleetd conflicts show prints.
type sides struct {
	SchemaVersion int            `json:"schema_version"`
	Kind          string         `json:"kind"`
	Key           string         `json:"key"`
	Scope         wire.Scope     `json:"scope"`
	Winner        wire.Version   `json:"winner"`
	Losers        []wire.Version `json:"losers"`
}

func sidesOf(h wire.History) sides {
	s := sides{SchemaVersion: wire.SchemaVersion, Kind: h.Kind, Key: h.Key, Scope: h.Scope, Losers: []wire.Version{}}
	for _, v := range h.Versions {
		switch v.Standing {
		case wire.StandingHead:
			s.Winner = v
		case wire.StandingConflict:
			s.Losers = append(s.Losers, v)
		}
	}
	return s
}

func (s sides) text(w io.Writer, names map[string]string) {
	say(w, "%s %s, scope %s", oneLine(s.Kind), oneLine(s.Key), oneLine(scopeText(s.Scope)))
	writeVersion(w, "won", s.Winner, names)
	for _, lost := range s.Losers {
		writeVersion(w, "lost", lost, names)
		lines := diffLines(contentText(lost), contentText(s.Winner))
		if len(lines) == 0 {
			say(w, "\nThey say the same.")
			continue
		}
		say(w, "\nLines of the one that lost (-) and of the one that won (+) alone:")
		for _, line := range lines {
			say(w, "  %s", manyLines(line))
		}
	}
}

// writeVersion writes who wrote a version when, and all that it says.
func writeVersion(w io.Writer, what string, v wire.Version, names map[string]string) {
	say(w, "\n%s: %s, %s, version %d, hash %s", what, oneLine(sideText(v, names)), stampText(v.UpdatedHLC), v.SyncVersion, shortHash(v.Hash))
	for line := range strings.Lines(strings.TrimSuffix(manyLines(contentText(v)), "\n")) {
		say(w, "  %s", strings.TrimSuffix(line, "\n"))
	}
}

// contentText is all that a version says.
func contentText(v wire.Version) string {
	switch {
	case v.Deleted:
		return contentLine(v)
	case v.Skill != nil && v.Skill.Body != nil:
		return *v.Skill.Body
	case v.Memory != nil:
		return v.Memory.Content
	case v.Turn != nil:
		return v.Turn.Role + ": " + v.Turn.Content
	case v.Session != nil:
		return fmt.Sprintf("title: %s\nmodel: %s", v.Session.Title, v.Session.Model)
	default:
		return contentLine(v)
	}
}
