package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) memoryWrite() *cobra.Command {
	var in wire.MemoryWrite
	cmd := &cobra.Command{
		Use: "write --kind KIND TEXT", Short: "write one item; TEXT - reads it from standard input", Args: cobra.ExactArgs(1),
		Example: `  fleetd memory write --kind preference "answers in English, code comments too"
  git log -1 | fleetd memory write --kind fact --source "git log" -`,
	}
	scope := addScope(cmd)
	cmd.Flags().StringVar(&in.Kind, "kind", "note", "what it is, such as fact, preference or observation")
	cmd.Flags().StringVar(&in.Source, "source", "", "where this was learned")
	cmd.Flags().StringVar(&in.ID, "id", "", "replace the item of this id, or make one of it")
	cmd.Flags().Int64Var(&in.SyncVersion, "if-version", 0, "only if the stored item has this sync_version")
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		content, err := a.textArgument(args[0])
		if err != nil {
			return err
		}
		in.Content, in.Scope = content, scope.scope
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		written, err := c.WriteMemory(ctx, in)
		if err != nil {
			return err
		}
		return a.print(written, func(w io.Writer) { say(w, "memory %s written", written.ID) })
	})
}

// textArgument returns an argument, or standard input when it is "-": a little
// more than one record takes at most, so that the daemon says what is too large.
func (a *app) textArgument(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.in, wire.TextBytesMax+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read standard input: %w", err)
	case len(raw) == 0:
		return "", usage("standard input is empty", "pipe the text into it, or pass the text itself")
	case len(raw) > wire.TextBytesMax:
		return "", failed(exitError, "one record holds 64 KiB: shorten it, or make several", "standard input has more than %d bytes", wire.TextBytesMax)
	}
	return string(raw), nil
}
