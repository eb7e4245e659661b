package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) skillWithdraw() *cobra.Command {
	var in wire.WithdrawRequest
	cmd := &cobra.Command{
		Use: "withdraw SLUG", Short: "take a version of a skill back, on every machine, for ever", Args: cobra.ExactArgs(1),
		Long: `Takes a version of a skill back, for ever: no machine of the fleet shows it any
more, also none that is away now and comes back, and what it had replaced shows
again. All versions of the skill that say the same go with it. Whoever writes the
same text and check again, under whatever name, is refused.

It is the version that shows, or the one of --version: a stamp and the name or id
of its writer, as in fleetd skill history -o json. Only an admin can. There is no
way back. fleetd skill rm deletes instead, and others may write it again.`,
		Example: `  fleetd skill withdraw deploy --note "it leaks a token"
  fleetd skill withdraw deploy --version 1790000000000.0@laptop`,
	}
	cmd.Flags().StringVar(&in.Version, "version", "head", "head, or STAMP@NAME")
	cmd.Flags().StringVar(&in.Note, "note", "", "why, for people; every member sees it")
	scope := addScope(cmd)
	return a.ask(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		done, err := c.Withdraw(ctx, unspell(args[0]), scope.asked(), in)
		if err != nil {
			return a.explainFind(err, "skill", scope)
		}
		return a.print(done, func(w io.Writer) { withdrawalText(w, &done) })
	})
}

func withdrawalText(w io.Writer, d *wire.Withdrawal) {
	say(w, "skill %s, scope %s: %s withdrawn by %s", oneLine(d.Slug), oneLine(scopeText(d.Scope)), counted(len(d.Versions), "version"), oneLine(d.By))
	switch {
	case d.Head == nil:
		say(w, "nothing is left of it")
	case d.Head.Deleted:
		say(w, "it is deleted now, as it was before")
	default:
		say(w, "it says now: %s", contentLine(*d.Head))
	}
	hearersText(w, &wire.Ban{Told: d.Told, Later: d.Later})
}
