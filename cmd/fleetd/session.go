package main

import (
	"context"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) sessionCommand() *cobra.Command {
	return a.group("session", "conversations of agents, turn by turn",
		a.sessionCreate(), a.sessionList(), a.sessionTurns(), a.sessionAppend(), a.sessionRemove())
}

func (a *app) sessionCreate() *cobra.Command {
	var in wire.SessionWrite
	cmd := &cobra.Command{
		Use: "create", Short: "begin a session, and print its id", Args: cobra.NoArgs,
		Long: `Begins a session without turns. Without --id it gets one. Sessions stay on their
machine, unless share.sessions is true in its settings.`,
		Example: `  fleetd session create --title "why the build fails" --model small-1`,
	}
	cmd.Flags().StringVar(&in.ID, "id", "", "the id; one that exists, or did, is a conflict")
	cmd.Flags().StringVar(&in.Title, "title", "", "what it is about")
	cmd.Flags().StringVar(&in.Model, "model", "", "which model talks")
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		if cmd.Flags().Changed("id") && in.ID == "" {
			return usage("--id is empty", "leave it out, or name one")
		}
		if reason := in.Fault(); reason != "" {
			return usage(reason, "pass visible text; line ends and tabs are fine in --title and --model")
		}
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		created, err := c.CreateSession(ctx, in)
		if err != nil {
			return a.explainSession(err, "choose another --id, or leave it out")
		}
		return a.print(created, func(w io.Writer) {
			say(w, "session %s created", oneLine(created.ID))
			gatedText(w, created.Gated, "session", created.ID)
		})
	})
}

func (a *app) sessionList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "all sessions, oldest first", Args: cobra.NoArgs}
	return a.ask(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Sessions(ctx)
		if err != nil {
			return err
		}
		return a.print(list, func(w io.Writer) {
			rows := make([][]string, 0, len(list.Sessions))
			for _, ses := range list.Sessions {
				rows = append(rows, []string{ses.ID, timeText(ses.CreatedAt), timeText(ses.UpdatedAt), excerpt(ses.Model), excerpt(ses.Title)})
			}
			a.table(w, []string{"ID", "CREATED", "UPDATED", "MODEL", "TITLE"}, rows)
		})
	})
}

func (a *app) sessionTurns() *cobra.Command {
	cmd := &cobra.Command{
		Use: "turns ID", Short: "the turns of one session, in order", Args: cobra.ExactArgs(1),
		Long: `Lists the turns of a session in the order that every machine shows, each in one
line; -o json has them whole. With --limit it prints a page, and with --after and
the number of its last turn the next one. Turns of machines that were apart may
have one number: they are never divided, so a page may be longer by those.`,
		Example: `  fleetd session turns 019f-talk --limit 50
  fleetd session turns 019f-talk --limit 50 --after 50`,
	}
	var query client.TurnQuery
	cmd.Flags().Var((*afterFlag)(&query.After), "after", "only turns with a larger number (default all)")
	cmd.Flags().Var((*limitFlag)(&query.Limit), "limit", "at most so many (default all)")
	return a.ask(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		list, err := c.Turns(ctx, args[0], query)
		if err != nil {
			return a.explainSession(err, "")
		}
		return a.print(list, func(w io.Writer) {
			rows := make([][]string, 0, len(list.Turns))
			for _, t := range list.Turns {
				rows = append(rows, []string{strconv.FormatInt(t.Seq, 10), excerpt(t.Role), timeText(t.CreatedAt), excerpt(t.Content)})
			}
			a.table(w, []string{"SEQ", "ROLE", "WHEN", "CONTENT"}, rows)
		})
	})
}

func (a *app) sessionRemove() *cobra.Command {
	cmd := &cobra.Command{Use: "rm ID", Short: "delete one session, with its turns", Args: cobra.ExactArgs(1)}
	return a.ask(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		ses, err := c.Session(ctx, args[0])
		if err == nil {
			err = c.DeleteSession(ctx, args[0])
		}
		if err != nil {
			return a.explainSession(err, "")
		}
		return a.print(removed{SchemaVersion: wire.SchemaVersion, Deleted: deleted{Kind: "session", ID: ses.ID}}, func(w io.Writer) {
			say(w, "session %s deleted: %s", oneLine(ses.ID), titleText(ses.Title))
		})
	})
}

// titleText names a session for people.
func titleText(title string) string {
	if title = excerpt(title); title != "" {
		return title
	}
	return "without a title"
}

// explainSession is explain for one session; taken is what to do when its id, or
// that of a turn, is taken.
func (a *app) explainSession(err error, taken string) error {
	explained := *a.explain(err)
	switch {
	case isProblem(err, wire.CodeNotFound):
		explained.next = "fleetd session list shows what there is"
	case isProblem(err, wire.CodeConflict):
		explained.next = taken
	}
	return &explained
}
