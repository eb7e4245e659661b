package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) inviteCommand() *cobra.Command {
	var in wire.InvitationRequest
	cmd := &cobra.Command{
		Use: "invite", Short: "print a ticket by which one more machine joins", Args: cobra.NoArgs,
		Long: `Prints a ticket for fleetd join on another machine. Whoever holds it may join, so
hand it over as you would a password. This daemon has to run until it was used.`,
	}
	cmd.Flags().StringVar(&in.Name, "name", "", "the name that the new member gets; else it chooses")
	ttl := cmd.Flags().Duration("ttl", 15*time.Minute, "how long the ticket is good")
	cmd.Flags().IntVar(&in.Uses, "uses", 1, "how many machines may join by it")
	can := cmd.Flags().StringSlice("can", nil, "what the member may write, such as skill,memory; an empty value reads only (default memory,skill,session)")
	scopes := cmd.Flags().StringArray("scope", nil, "limit what it may write, such as project=web,workspace=main (repeat for more; default every scope)")
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		if *ttl < time.Second || in.Uses < 1 {
			return usage("--ttl must be at least 1s and --uses at least 1", "")
		}
		in.TTLSeconds = int64(ttl.Round(time.Second) / time.Second)
		if cmd.Flags().Changed("can") {
			in.Can = append([]string{}, *can...)
		}
		for _, text := range *scopes {
			scope, err := parseScope(text)
			if err != nil {
				return err
			}
			in.Scopes = append(in.Scopes, scope)
		}
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		invitation, err := c.Invite(ctx, in)
		if err != nil {
			return err
		}
		return a.print(invitation, func(w io.Writer) {
			say(w, "%s", invitation.Ticket)
			a.note("for %d use(s) until %s; on the other machine: fleetd join TICKET --name N",
				invitation.Uses, timeText(invitation.ExpiresAt))
		})
	})
}

// parseScope reads fields such as "project=web,workspace=main".
func parseScope(text string) (wire.Scope, error) {
	var scope wire.Scope
	for field := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(field, "=")
		target, known := map[string]*string{
			"instance": &scope.Instance, "project": &scope.Project, "workspace": &scope.Workspace,
		}[name]
		if !known || value == "" || *target != "" {
			return scope, usage(fmt.Sprintf("--scope %q is not a scope", text), "write it as project=web or project=web,workspace=main")
		}
		*target = value
	}
	return scope, nil
}
