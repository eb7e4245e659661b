package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/fleet"
)

func (a *app) inviteCommand() *cobra.Command {
	var in wire.InvitationRequest
	cmd := &cobra.Command{
		Use: "invite", Short: "print a ticket by which one more machine joins", Args: cobra.NoArgs,
		Long: `Prints a ticket for fleetd join on another machine. Whoever holds it may join, so
hand it over as you would a password. This daemon has to run until it was used.
Admins invite; --admin, for one more admin, only where the root key lies.`,
	}
	cmd.Flags().StringVar(&in.Name, "name", "", "the name that the new member gets; else it chooses")
	ttl := cmd.Flags().Duration("ttl", 15*time.Minute, "how long the ticket is good")
	cmd.Flags().IntVar(&in.Uses, "uses", 1, "how many machines may join by it")
	can := cmd.Flags().StringSlice("can", nil, "what the member may write, such as skill,memory; an empty value reads only (default memory,skill,session)")
	scopes := cmd.Flags().StringArray("scope", nil, "limit what it may write, such as project=web,workspace=main (repeat for more; default every scope)")
	cmd.Flags().BoolVar(&in.Admin, "admin", false, "make the member an admin: it writes everything, invites, and bans members")
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		if err := checkInvitation(in, *ttl); err != nil {
			return err
		}
		in.TTLSeconds = int64(ttl.Round(time.Second) / time.Second)
		if in.Admin && (cmd.Flags().Changed("can") || len(*scopes) > 0) {
			return usage("--admin goes without --can and --scope: an admin may write everything", "fleetd invite --help shows how")
		}
		if cmd.Flags().Changed("can") {
			in.Can = append([]string{}, *can...)
			a.warnFamilies(in.Can)
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
			return a.explainInvite(ctx, c, err)
		}
		return a.print(invitation, func(w io.Writer) {
			say(w, "%s", invitation.Ticket)
			a.note("for %d use(s) until %s; on the other machine: fleetd join TICKET --name N",
				invitation.Uses, timeText(invitation.ExpiresAt))
		})
	})
}

// The bounds of an invitation. The daemon holds them too, and has other words.
const (
	inviteTTLMax  = 30 * 24 * time.Hour
	inviteUsesMax = 256
)

func checkInvitation(in wire.InvitationRequest, ttl time.Duration) error {
	text := ""
	switch {
	case ttl < time.Second || ttl > inviteTTLMax:
		text = fmt.Sprintf("--ttl %s: want 1s to 720h, which is 30 days", ttl)
	case in.Uses < 1 || in.Uses > inviteUsesMax:
		text = fmt.Sprintf("--uses %d: want 1 to %d", in.Uses, inviteUsesMax)
	case in.Name != "" && in.Uses > 1:
		text = "--name goes with one use alone: two machines cannot have one name"
	default:
		return nil
	}
	return usage(text, "fleetd invite --help shows how")
}

// warnFamilies warns of families that this version writes nothing of. They may
// be those of a later one.
func (a *app) warnFamilies(can []string) {
	for _, family := range can {
		if family != "*" && !slices.Contains(fleet.DefaultCapabilities(), family) {
			a.note("warning: --can %s: this version knows no such family, only memory, session, skill and *", oneLine(family))
		}
	}
}

// explainInvite names the machines that can invite, where this one cannot.
func (a *app) explainInvite(ctx context.Context, c *client.Client, err error) error {
	f := a.explain(err)
	if f.code != exitDenied {
		return err
	}
	where := "the machine that began the fleet"
	if list, err := c.Members(ctx); err == nil {
		var admins []string
		for _, m := range list.Members {
			if m.Role == "admin" && m.State != wire.StateSelf {
				admins = append(admins, oneLine(m.Name))
			}
		}
		if len(admins) > 0 {
			where = strings.Join(admins, " or ")
		}
	}
	return &failure{text: f.text, code: f.code, kind: f.kind, next: "run fleetd invite on " + where}
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
