package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) sessionAppend() *cobra.Command {
	var in wire.TurnWrite
	var file string
	cmd := &cobra.Command{
		Use: "append ID --role ROLE [TEXT]", Short: "add one turn; TEXT - reads it from standard input, --file from a file", Args: cobra.RangeArgs(1, 2),
		Long: `Adds a turn to the end of a session. With --turn-id it may be repeated after an
unclear outcome: a turn of that id and text is not added twice.`,
		Example: `  fleetd session append $ID --role user "why does the build fail?"
  go test ./... 2>&1 | tail -50 | fleetd session append $ID --role tool -
  fleetd session append $ID --role assistant --file answer.md`,
	}
	cmd.Flags().StringVar(&in.Role, "role", "", "who speaks, such as user, assistant, tool or system")
	cmd.Flags().StringVar(&in.ID, "turn-id", "", "the id of the turn (default a new one)")
	cmd.Flags().StringVar(&file, "file", "", "read the text from this file")
	return a.verb(cmd, func(ctx context.Context, args []string) (err error) {
		if cmd.Flags().Changed("turn-id") && in.ID == "" {
			return usage("--turn-id is empty", "leave it out, or name one")
		}
		if in.Role == "" {
			return usage("it needs --role", "say who speaks, such as --role user")
		}
		if in.Content, err = a.turnText(args[1:], file, cmd.Flags().Changed("file")); err != nil {
			return err
		}
		if reason := in.Fault(); reason != "" {
			return usage(reason, "pass visible text; line ends and tabs are fine")
		}
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		appended, err := c.AppendTurn(ctx, args[0], in)
		if isProblem(err, wire.CodeTooLarge) {
			return failed(exitUsage, "shorten it, or append several turns", "the text is too long: a turn may have 8 MB, and its role 64 KB")
		}
		if err != nil {
			return a.explainSession(err, "that turn was appended before; leave --turn-id out for a new one")
		}
		return a.print(appended, func(w io.Writer) {
			say(w, "turn %d of session %s appended", appended.Seq, oneLine(appended.SessionID))
			gatedText(w, appended.Gated, "session.turn", keyOf(appended.SessionID, appended.ID))
		})
	})
}

// turnText is the one text that a command line gives: an argument, standard
// input or a file.
func (a *app) turnText(text []string, file string, hasFile bool) (string, error) {
	const what, more = "a turn", "append several turns"
	switch {
	case hasFile == (len(text) > 0):
		return "", usage("it needs one text", "pass the text itself, - for standard input, or --file")
	case hasFile:
		return readTextFile(file, what, more)
	}
	return a.textArgument(text[0], what, more)
}
