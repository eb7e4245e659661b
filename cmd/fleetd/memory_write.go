package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

func (a *app) memoryWrite() *cobra.Command {
	var in wire.MemoryWrite
	var version versionFlag
	cmd := &cobra.Command{
		Use: "write --kind KIND TEXT", Short: "write one item; TEXT - reads it from standard input", Args: cobra.ExactArgs(1),
		Long: `Writes one item. With the --id of an existing item it replaces the text, and keeps
kind and source unless they are given.`,
		Example: `  fleetd memory write --kind preference "answers in English, code comments too"
  git log -1 | fleetd memory write --kind fact --source "git log" -`,
	}
	scope := addScope(cmd)
	cmd.Flags().StringVar(&in.Kind, "kind", wire.MemoryKindDefault, "what it is, such as fact, preference or observation")
	cmd.Flags().StringVar(&in.Source, "source", "", "where this was learned")
	cmd.Flags().StringVar(&in.ID, "id", "", "replace the item of this id, or make one of it")
	cmd.Flags().Var(&version, "if-version", "only if the stored item has this sync_version; 0: only if there is none")
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		flags := cmd.Flags()
		for _, name := range []string{"kind", "id"} {
			if flags.Changed(name) && flags.Lookup(name).Value.String() == "" {
				return usage("--"+name+" is empty", "leave it out, or name one")
			}
		}
		where, err := scope.forWriting()
		if err != nil {
			return err
		}
		content, err := a.textArgument(args[0], "a memory", "write several items")
		if err != nil {
			return err
		}
		in.Content, in.Scope = content, where
		if err := checkMemory(in); err != nil {
			return err
		}
		if flags.Changed("if-version") {
			in.SyncVersion, in.MustNotExist = int64(version), version == 0
		}
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		update := memoryUpdate{in, flags.Changed("kind"), flags.Changed("source")}
		written, outcome, err := update.put(ctx, c)
		if err != nil {
			return a.explainWrite(in, err)
		}
		return a.print(written, func(w io.Writer) {
			say(w, "memory %s %s", written.ID, outcome)
			gatedText(w, written.Gated, "memory", written.ID)
		})
	})
}

// checkMemory refuses what the daemon would refuse of this item, whatever it
// holds.
func checkMemory(in wire.MemoryWrite) error {
	if reason := in.Fault(); reason != "" {
		return usage(reason, "pass visible text; line ends and tabs are fine")
	}
	room, err := state.MemoryRoom(state.MemoryItem{ID: in.ID, Kind: in.Kind, Content: in.Content, Source: in.Source})
	if err == nil && room < 0 {
		if len(in.Content) <= wire.TextBytesMax {
			return failed(exitUsage, "shorten them", "kind and source are %d bytes; a memory may have 64 KB of both", len(in.Kind)+len(in.Source))
		}
		return failed(exitUsage, "shorten it, or write several items",
			"the text is %d bytes; a memory may have %d", len(in.Content), wire.TextBytesMax)
	}
	return err
}

// memoryUpdate is a write that keeps what its command line does not say.
type memoryUpdate struct {
	wire.MemoryWrite
	kind, source bool // they were given
}

// put writes the item. Without a version it reads and writes once more after a
// write of somebody else in between.
func (u memoryUpdate) put(ctx context.Context, c *client.Client) (written wire.MemoryReply, outcome string, err error) {
	written, outcome, err = u.putOnce(ctx, c)
	if asked := u.Token != (wire.Token{}); !asked && isProblem(err, wire.CodeConflict) {
		return u.putOnce(ctx, c)
	}
	return written, outcome, err
}

func (u memoryUpdate) putOnce(ctx context.Context, c *client.Client) (wire.MemoryReply, string, error) {
	in, outcome := u.MemoryWrite, "written"
	if in.ID != "" && !in.MustNotExist {
		current, err := c.Memory(ctx, in.ID, &in.Scope)
		switch {
		case isProblem(err, wire.CodeNotFound):
		case err != nil:
			return wire.MemoryReply{}, "", err
		default:
			outcome = "updated"
			if !u.kind {
				in.Kind = current.Kind
			}
			if !u.source {
				in.Source = current.Source
			}
			if in.SyncVersion == 0 || in.SyncVersion == current.SyncVersion {
				in.Token = current.Token()
			}
		}
	}
	written, err := c.WriteMemory(ctx, in)
	return written, outcome, err
}

// explainWrite says what to do about a write of this item.
func (a *app) explainWrite(in wire.MemoryWrite, err error) error {
	explained := *a.explain(err)
	switch {
	case isProblem(err, wire.CodeConflict) && in.MustNotExist:
		explained.text = fmt.Sprintf("version conflict: memory %s exists already", in.ID)
		explained.next = "fleetd memory get " + in.ID + " shows it; leave --if-version 0 out to replace it"
	case isProblem(err, wire.CodeConflict):
		explained.text = fmt.Sprintf("memory %s: %s", in.ID, explained.text)
	case isProblem(err, wire.CodeTooLarge):
		explained.text = "the text is too long: a memory may have 64 KB, with its kind and source"
		explained.next = "shorten it, or write several items"
	}
	return &explained
}

// versionFlag is the value of --if-version: a number from 0.
type versionFlag int64

func (v *versionFlag) String() string {
	if *v == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*v), 10)
}

func (v *versionFlag) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return errors.New("want a number from 0")
	}
	*v = versionFlag(n)
	return nil
}

func (*versionFlag) Type() string { return "number" }
