package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/hlc"
)

// banFlags are the flags of fleetd revoke and fleetd void.
type banFlags struct {
	from, to    string
	note        string
	dryRun, yes bool
}

func (f *banFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.note, "note", "", "why, for people; every member sees it")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "yes")
}

func (a *app) revokeCommand() *cobra.Command {
	var flags banFlags
	cmd := &cobra.Command{
		Use: "revoke NAME|ID", Short: "ban a machine for ever, on every machine of the fleet", Args: cobra.ExactArgs(1),
		Long: `Bans a machine for ever. Its connections are closed at once, on every member that
hears of it, and its key never joins again. What it wrote and this machine has by
now stays; what comes from it later counts nowhere. --from is a time or a stamp,
such as 1790000000000.0, from which on nothing counts that it wrote, and nothing
that it granted: what is here of that is taken away, and what that had replaced
comes back.

An admin revokes members, and only the machine that holds root.key an admin. There
is no way back; the machine may join again as a new one, from another --dir.`,
		Example: `  fleetd revoke laptop --note "lost on the train"
  fleetd revoke laptop --from "2026-11-30 09:00" --dry-run`,
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&flags.from, "from", "", "a time or a stamp from which on nothing counts (default right after the last that is here)")
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		from, err := banStamp("from", flags.from, false)
		if err != nil {
			return err
		}
		return a.ban(ctx, wire.BanRequest{Member: args[0], From: from, Note: flags.note}, flags, banTexts{
			question: "revoke it for ever, in the whole fleet? [y/N] ", describe: revocationText,
		})
	})
}

func (a *app) voidCommand() *cobra.Command {
	var flags banFlags
	cmd := &cobra.Command{
		Use: "void NAME|ID --from TIME|STAMP --to TIME|STAMP", Short: "take back what a machine wrote in a range of time, for ever", Args: cobra.ExactArgs(1),
		Long: `Makes what a machine wrote between two times count no more, on every machine of the
fleet, also on those that are away now: what that had replaced comes back. Both ends
belong to the range. A stamp, such as 1790000000000.0, is exact; a time stands for
the whole of its millisecond. The machine remains a member, and what it wrote before
and after stays.

It counts what is here of the range, and asks. There is no way back. fleetd revert
undoes by ordinary writes instead, which can be undone in turn.`,
		Example: `  fleetd void laptop --from "2026-11-30 09:00" --to "2026-11-30 09:30" --dry-run`,
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&flags.from, "from", "", "the first time or stamp of the range")
	cmd.Flags().StringVar(&flags.to, "to", "", "the last time or stamp of the range, which belongs to it")
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		if flags.from == "" || flags.to == "" {
			return usage("it needs --from and --to", "times or stamps; fleetd skill history and -o json show stamps")
		}
		from, err := banStamp("from", flags.from, false)
		if err != nil {
			return err
		}
		to, err := banStamp("to", flags.to, true)
		if err != nil {
			return err
		}
		return a.ban(ctx, wire.BanRequest{Member: args[0], From: from, To: to, Note: flags.note}, flags, banTexts{
			question: "void it for ever, in the whole fleet? [y/N] ", describe: voidText,
		})
	})
}

// banStamp reads one end of a range: a stamp, or a time, which stands for its
// first stamp, or its last one when isEnd.
func banStamp(flag, text string, isEnd bool) (string, error) {
	if text == "" {
		return "", nil
	}
	if stamp, err := hlc.Parse(text); err == nil {
		return stamp.String(), nil
	}
	at, err := parseSince(text, time.Now())
	if err != nil {
		return "", usage(fmt.Sprintf("--%s %.80q: %s, or a stamp such as 1790000000000.0", flag, text, err), "")
	}
	stamp := hlc.Timestamp{Wall: at.UnixMilli()}
	if isEnd {
		after := hlc.Timestamp{Wall: stamp.Wall + 1}
		if stamp, err = hlc.Unpack(after.Pack() - 1); err != nil {
			return "", fmt.Errorf("--%s: %w", flag, err)
		}
	}
	return stamp.String(), nil
}

// banTexts are what a ban of one form says.
type banTexts struct {
	question string
	describe func(w io.Writer, b *wire.Ban)
}

// ban shows what a ban will do, asks, and does it.
func (a *app) ban(ctx context.Context, in wire.BanRequest, flags banFlags, texts banTexts) error {
	if !flags.dryRun && !flags.yes && !isInteractive(a.in) {
		return usage("nobody is there to be asked", "--dry-run shows what would be done, --yes does it")
	}
	c, err := a.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	if !flags.yes {
		in.DryRun = true
		plan, err := c.Ban(ctx, in)
		if err != nil {
			return a.explainBan(err)
		}
		if flags.dryRun {
			return a.print(plan, func(w io.Writer) { texts.describe(w, &plan) })
		}
		texts.describe(a.errOut, &plan)
		if !a.confirm(ctx, texts.question) {
			return failed(exitError, "nothing was done", "not confirmed")
		}
	}
	in.DryRun = false
	done, err := c.Ban(ctx, in)
	if err != nil {
		return a.explainBan(err)
	}
	return a.print(done, func(w io.Writer) { texts.describe(w, &done) })
}

func (a *app) explainBan(err error) error {
	explained := *a.explain(err)
	switch explained.code {
	case exitNotFound:
		explained.next = "fleetd members shows names and ids"
	case exitConflict:
		explained.next = "fleetd members --all shows since when"
	}
	return &explained
}

func revocationText(w io.Writer, b *wire.Ban) {
	name, would := oneLine(b.Name), ""
	if b.DryRun {
		would = "would be "
	}
	say(w, "%s %srevoked by %s, from %s on (stamp %s)", name, would, oneLine(b.By), stampText(b.From), b.From)
	takenText(w, b)
	if b.Statements > 0 {
		say(w, "%s of its own from then on %s no more", counted(b.Statements, "statement"), counts(b.Statements))
	}
	hearersText(w, b)
}

func voidText(w io.Writer, b *wire.Ban) {
	name, would := oneLine(b.Name), ""
	if b.DryRun {
		would = "would be "
	}
	say(w, "what %s wrote from %s to %s %svoid, by %s (stamps %s to %s)", name, stampText(b.From), stampText(b.To), would, oneLine(b.By), b.From, b.To)
	takenText(w, b)
	hearersText(w, b)
}

func takenText(w io.Writer, b *wire.Ban) {
	if b.DryRun {
		say(w, "%s of it here, covered ones included, would count no more", counted(b.Versions, "version"))
		return
	}
	say(w, "%s retracted on this machine, %s restored", counted(b.Retracted, "version"), counted(b.Restored, "version"))
}

func counts(n int) string {
	if n == 1 {
		return "counts"
	}
	return "count"
}

// hearersText says which members hear of it, and when.
func hearersText(w io.Writer, b *wire.Ban) {
	if n := len(b.Told); n > 0 {
		say(w, "%s %s of it now", namesText(b.Told), hears(n, b.DryRun))
	}
	if n := len(b.Later); n > 0 {
		say(w, "%s %s of it on meeting a member that has heard", namesText(b.Later), hears(n, b.DryRun))
	}
}

func hears(n int, would bool) string {
	switch {
	case would:
		return "would hear"
	case n == 1:
		return "hears"
	}
	return "hear"
}

func namesText(names []string) string {
	shown := make([]string, 0, len(names))
	for _, name := range names {
		shown = append(shown, oneLine(name))
	}
	return strings.Join(shown, ", ")
}
