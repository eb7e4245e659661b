package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "status", Short: "whether the fleet is in sync, and if not, who is behind", Args: cobra.NoArgs}
	return a.ask(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		status, err := c.Status(ctx)
		if err != nil {
			return err
		}
		return a.print(status, func(w io.Writer) {
			say(w, "%s", oneLine(status.Verdict))
			say(w, "%s: %s, %s, %s, root %.16s", oneLine(status.Name),
				count(int(status.Records), "record"), count(status.Conflicts, "conflict"), parkedText(&status), status.Root)
			progressText(w, &status)
			say(w, "")
			a.memberTable(w, status.Members)
		})
	})
}

func (a *app) memberTable(w io.Writer, members []wire.Member) {
	rows := make([][]string, 0, len(members))
	for _, m := range members {
		rows = append(rows, []string{m.Name, m.Role, stateText(m), lagText(m), sinceText(m.Since), m.ID})
	}
	a.table(w, []string{"MEMBER", "ROLE", "STATE", "LAG", "SINCE", "ID"}, rows)
}

func stateText(m wire.Member) string {
	text := strings.ReplaceAll(m.State, "_", " ")
	switch {
	case m.State == wire.StateSelf:
		text = "this node"
	case m.Told:
		text = "told of the last change"
	}
	if m.Why != "" {
		text += " (" + m.Why + ")"
	}
	return text
}

// lagText says how many versions a member and this node lack of each other's.
func lagText(m wire.Member) string {
	switch {
	case m.Behind > 0 && m.Ahead > 0:
		return fmt.Sprintf("%d behind, %d ahead", m.Behind, m.Ahead)
	case m.Behind > 0:
		return fmt.Sprintf("%d behind", m.Behind)
	case m.Ahead > 0:
		return fmt.Sprintf("%d ahead", m.Ahead)
	default:
		return "-"
	}
}

func sinceText(since *time.Time) string {
	if since == nil {
		return "-"
	}
	return timeText(*since)
}
