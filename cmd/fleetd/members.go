package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) membersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "members", Short: "who belongs to the fleet, and what each may write", Args: cobra.NoArgs,
		Long: `Lists who belongs to the fleet: what each member may write and where, until when,
and how it stands to this machine. --all lists those too that belong to it no more,
and says since when, by whom and why.`,
	}
	all := cmd.Flags().Bool("all", false, "those too that belong to the fleet no more")
	return a.ask(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		ask := c.Members
		if *all {
			ask = c.AllMembers
		}
		list, err := ask(ctx)
		if err != nil {
			return err
		}
		return a.print(list, func(w io.Writer) { a.rightsTable(w, list.Members) })
	})
}

func (a *app) rightsTable(w io.Writer, members []wire.Member) {
	names := map[string]string{}
	for i := range members {
		names[members[i].ID] = members[i].Name
	}
	rows := make([][]string, 0, len(members))
	for i := range members {
		m := &members[i]
		rows = append(rows, []string{m.Name, m.Role, mayText(m), standsText(m, names), lagText(*m), sinceText(m.Since), m.ID})
	}
	a.table(w, []string{"MEMBER", "ROLE", "MAY WRITE", "STATE", "LAG", "SINCE", "ID"}, rows)
}

// mayText says what a member may write, where, and until when.
func mayText(m *wire.Member) string {
	if len(m.Capabilities) == 0 {
		return "nothing"
	}
	text := strings.Join(m.Capabilities, ",")
	if text == "*" {
		text = "everything"
	}
	var scopes []string
	for _, s := range m.Scopes {
		scopes = append(scopes, scopeText(s))
	}
	if len(scopes) > 0 {
		text += " of " + strings.Join(scopes, " or ")
	}
	if m.ExpiresAt != nil {
		text += " until " + timeText(*m.ExpiresAt)
	}
	return text
}

// standsText says how a member stands to this machine, and to the fleet.
func standsText(m *wire.Member, names map[string]string) string {
	text := stateText(*m)
	switch {
	case m.Revoked != nil:
		text += " from " + stampText(m.Revoked.From) + " on by " + m.Revoked.By
		if m.Revoked.Note != "" {
			text += ": " + m.Revoked.Note
		}
	case m.SuccessorID != "":
		by := names[m.SuccessorID]
		if by == "" {
			by = m.SuccessorID
		}
		text += " by " + by
	}
	texts := []string{text}
	for _, v := range m.Voids {
		text := "void from " + stampText(v.From) + " to " + stampText(v.To) + " by " + v.By
		if v.Note != "" {
			text += ": " + v.Note
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}
