package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
)

func (a *app) skillOutcome() *cobra.Command {
	cmd := &cobra.Command{
		Use: "outcome SLUG won|lost", Short: "count one use of a skill, and whether it succeeded", Args: cobra.ExactArgs(2),
		Long: `Counts one run that followed the skill. Each machine counts for itself, and uses
and wins are the sums over the fleet, of which no count is lost.`,
		Example:           "  fleetd skill outcome deploy won",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	scope := addScope(cmd)
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		if args[1] != "won" && args[1] != "lost" {
			return usage(fmt.Sprintf("the outcome %.60q is neither won nor lost", args[1]), "fleetd skill outcome SLUG won, or lost")
		}
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		sk, err := c.RecordOutcome(ctx, unspell(args[0]), scope.asked(), args[1] == "won")
		if err != nil {
			return a.explainFind(err, "skill", scope)
		}
		return a.print(sk, func(w io.Writer) {
			say(w, "skill %s: %d of %d uses won", oneLine(sk.Slug), sk.Wins, sk.Uses)
		})
	})
}

func (a *app) skillReport() *cobra.Command {
	cmd := &cobra.Command{
		Use: "report", Short: "which skills work, the surest first", Args: cobra.NoArgs,
		Long: `Lists skills with how often they were used, how often that succeeded, and the
least share of successes that this proves: 90 of 100 are surer than 1 of 1.
-o json has what each store counted, too. fleetd skill outcome counts.`,
	}
	limit, scope := addLimit(cmd), addScope(cmd)
	return a.ask(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		report, err := c.Report(ctx, scope.asked(), *limit)
		if err != nil {
			return err
		}
		return a.print(report, func(w io.Writer) {
			rows := make([][]string, 0, len(report.Skills))
			for _, sk := range report.Skills {
				rows = append(rows, []string{
					sk.Slug, scopeText(sk.Scope), strconv.Itoa(sk.Uses), strconv.Itoa(sk.Wins), fmt.Sprintf("%.2f", sk.Confidence),
				})
			}
			a.table(w, []string{"SKILL", "SCOPE", "USES", "WINS", "CONFIDENCE"}, rows)
		})
	})
}
