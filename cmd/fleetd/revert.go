package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/merge"
)

// revertFlags are the flags of fleetd revert.
type revertFlags struct {
	by     string
	since  sinceFlag
	dryRun bool
	yes    bool
}

func (a *app) revertCommand() *cobra.Command {
	var flags revertFlags
	cmd := &cobra.Command{
		Use: "revert --by NAME|ID --since TIME|DURATION", Short: "undo what one machine wrote since a time", Args: cobra.NoArgs,
		Long: `Undoes what a machine has written since then, as far as it still shows: what was
there before comes back, what it created is deleted, and what others wrote later
stays. It shows what it will do, and asks. Each step is an ordinary write that the
whole fleet gets. What this machine cannot undo is left, and the reason printed:
another machine may know what was there before.`,
		Example: `  fleetd revert --by laptop --since 2h --dry-run
  fleetd revert --by laptop --since "2026-11-30 09:00" --yes`,
	}
	cmd.Flags().StringVar(&flags.by, "by", "", "the machine: its name or id, see fleetd members")
	cmd.Flags().Var(&flags.since, "since", "a time, or how long ago, such as 90m, 2h or 3d")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "say what would be done, and write nothing")
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "do not ask")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "yes")
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		switch {
		case flags.by == "":
			return usage("it needs --by", "fleetd members shows names and ids")
		case flags.since.IsZero():
			return usage("it needs --since", "such as --since 2h")
		case !flags.dryRun && !flags.yes && !isInteractive(a.in):
			return usage("nobody is there to be asked", "--dry-run shows what would be done, --yes does it")
		}
		return a.revert(ctx, flags)
	})
}

func (a *app) revert(ctx context.Context, flags revertFlags) error {
	c, err := a.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	names, err := memberNames(ctx, c)
	if err != nil {
		return err
	}
	writer, err := writerOf(flags.by, names)
	if err != nil {
		return err
	}
	if !flags.yes {
		plan, err := c.WrittenBy(ctx, writer, flags.since.stamp())
		if err != nil {
			return err
		}
		if flags.dryRun {
			return a.print(plan, func(w io.Writer) { a.showChanges(w, plan, names, true) })
		}
		a.showChanges(a.errOut, plan, names, true)
		if len(plan.Changes) > 0 && !a.confirm(ctx, "undo this in the whole fleet? [y/N] ") {
			return failed(exitError, "nothing was written", "not confirmed")
		}
	}
	return a.undo(ctx, c, writer, flags.since.stamp(), names)
}

// undo does it, and prints what was done also when something was left, which is
// an error.
func (a *app) undo(ctx context.Context, c *client.Client, writer, since string, names map[string]string) error {
	done, err := c.Revert(ctx, writer, since)
	if err != nil {
		f := *a.explain(err)
		f.text += "; some of it may be done"
		f.next = strings.TrimPrefix(f.next+"; repeat it then, what is done is not done twice", "; ")
		return &f
	}
	if err := a.print(done, func(w io.Writer) { a.showChanges(w, done, names, false) }); err != nil {
		return err
	}
	left := 0
	for _, change := range done.Changes {
		if change.Outcome == wire.ChangeLeft {
			left++
		}
	}
	if left == 0 {
		return nil
	}
	return &failure{
		text: fmt.Sprintf("%d of %d records were left as they are", left, len(done.Changes)), code: exitError, told: true,
		next: "the reasons stand above; another machine may know what was there before, and undo it",
	}
}

// writerOf is the id of the writer that a command line names: a member, or an
// instance that is none any more, by its id.
func writerOf(text string, names map[string]string) (string, error) {
	var ids []string
	for id, name := range names {
		if name == text || id == text {
			ids = append(ids, id)
		}
	}
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		if id, err := merge.ParseInstanceID(text); err == nil {
			if _, isKey := id.PublicKey(); isKey {
				return text, nil
			}
		}
		return "", failed(exitNotFound, "fleetd members shows names and ids", "no member has the name or id %.80q", text)
	}
	return "", usage(fmt.Sprintf("several members have the name %.80q", text), "name one by its id, see fleetd members")
}

// showChanges lists what was done, or what a plan would do.
func (a *app) showChanges(w io.Writer, list wire.ChangeList, names map[string]string, isPlan bool) {
	if len(list.Changes) == 0 {
		say(w, "nothing to undo: nothing that %s wrote since then shows", oneLine(sideText(wire.Version{Envelope: wire.Envelope{LastWriterID: list.Writer}}, names)))
		return
	}
	rows := make([][]string, 0, len(list.Changes))
	for _, c := range list.Changes {
		now, outcome := "-", c.Outcome
		if c.Now != nil {
			now = contentLine(*c.Now)
		}
		if isPlan {
			outcome = "to be " + outcome
		}
		rows = append(rows, []string{outcome, c.Kind, c.Key, scopeText(c.Scope), contentLine(c.Was), now, excerpt(c.Reason)})
	}
	a.table(w, []string{"OUTCOME", "KIND", "KEY", "SCOPE", "WAS", "NOW", "WHY"}, rows)
}

// confirm asks a question that only y or yes answers.
func (a *app) confirm(ctx context.Context, question string) bool {
	_, _ = io.WriteString(a.errOut, question) // the stream remembers what fails
	answer := make(chan string, 1)
	go func() { // it ends with the program when nobody answers
		line, _ := bufio.NewReader(a.in).ReadString('\n') // no answer is no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case said := <-answer:
		return said == "y" || said == "yes"
	case <-ctx.Done():
		return false
	}
}
