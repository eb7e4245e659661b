package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/node"
)

func (a *app) verifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify [--peers [MEMBER...]]", Short: "prove the store of this machine, or compare it with other members",
		Long: `Alone it reads every record of this machine and proves that its store agrees with
itself: by the daemon, which writes nothing meanwhile, or, when none runs, by itself.

With --peers the daemon compares every shared section with the members that are
connected, or with those that are named, version by version. Nothing is fetched or
repaired for it. It names the first key of a section that differs, and who lacks
which version: exit code 6. What is just being written is no difference.`,
	}
	peers := cmd.Flags().Bool("peers", false, "compare with other members")
	timeout := cmd.Flags().Duration("timeout", 10*time.Minute, "how long it may take")
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		switch {
		case *timeout <= 0:
			return usage(fmt.Sprintf("--timeout %s: want more than 0", *timeout), "")
		case len(args) > 0 && !*peers:
			return usage("members are compared with --peers alone", "fleetd verify --peers "+args[0])
		}
		ctx, cancel := context.WithTimeout(ctx, *timeout)
		defer cancel()
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		if *peers {
			return a.comparePeers(ctx, c, args)
		}
		return a.verifyStore(ctx, c)
	})
}

// verifyStore has the daemon prove the store, or does so where none runs.
func (a *app) verifyStore(ctx context.Context, c *client.Client) error {
	v, err := c.Verify(ctx)
	if errors.Is(err, client.ErrNotRunning) {
		v, err = a.verifyOffline(ctx)
	}
	if err != nil {
		return err
	}
	text := func(w io.Writer) {
		for _, fault := range v.Faults {
			say(w, "%s", oneLine(fault))
		}
		if v.OK {
			say(w, "verified: %s, and all of the store agrees", counted(int(v.Records), "record"))
		}
	}
	if v.OK {
		return a.print(v, text)
	}
	if a.output != outputJSON {
		text(a.out)
	}
	return &failure{
		text: "the store is damaged: " + counted(len(v.Faults), "fault"), code: exitError, result: v,
		next: "let it run with others of the fleet: what is lacking is fetched from them; fleetd verify --peers compares",
	}
}

// verifyOffline opens the store of the data directory. A store in memory is gone
// with its daemon.
func (a *app) verifyOffline(ctx context.Context) (wire.Verification, error) {
	dir, err := a.dir()
	if err != nil {
		return wire.Verification{}, err
	}
	if !node.IsInitialised(dir) {
		return wire.Verification{}, a.notRunning()
	}
	cfg, err := node.ReadConfig(dir)
	if err != nil {
		return wire.Verification{}, err
	}
	if cfg.StoreKind == node.StoreMemory {
		return wire.Verification{}, a.notRunning()
	}
	n, err := node.New(ctx, cfg)
	if err != nil {
		return wire.Verification{}, explainStart(err)
	}
	v, err := n.Verify(ctx)
	if closed := n.Close(); err == nil {
		err = closed
	}
	return api.VerificationOf(v), err
}

// comparePeers compares with other members. What could not be proven equal is
// not: a member that was named, or all of them, must have been asked.
func (a *app) comparePeers(ctx context.Context, c *client.Client, named []string) error {
	comparison, err := c.Compare(ctx, named)
	if isProblem(err, wire.CodeNotFound) {
		explained := *a.explain(err)
		explained.next = "fleetd members shows names and ids"
		return &explained
	}
	if err != nil {
		return err
	}
	var unequal, unasked []string
	for i := range comparison.Members {
		m := &comparison.Members[i]
		switch m.Result {
		case wire.ResultEqual:
		case wire.ResultUnasked:
			unasked = append(unasked, oneLine(m.Name))
		default:
			unequal = append(unequal, oneLine(m.Name))
		}
	}
	text := func(w io.Writer) { compareText(w, &comparison) }
	if len(unequal) == 0 && comparison.Equal && (len(named) == 0 || len(unasked) == 0) {
		return a.print(comparison, text)
	}
	if a.output != outputJSON {
		text(a.out)
	}
	f := &failure{code: exitNotConverged, result: comparison, next: "fleetd status says who is behind, and why"}
	if len(unequal) > 0 {
		f.text = "not equal with " + strings.Join(unequal, ", ")
	} else {
		f.text = "not compared with " + strings.Join(unasked, ", ")
	}
	return f
}

func compareText(w io.Writer, c *wire.Comparison) {
	if len(c.Members) == 0 {
		say(w, "this node is the whole fleet")
	}
	for i := range c.Members {
		m := &c.Members[i]
		name := oneLine(m.Name)
		equal, records := 0, uint64(0)
		for j := range m.Sections {
			if m.Sections[j].Outcome == wire.OutcomeEqual {
				equal, records = equal+1, records+m.Sections[j].Here
			}
		}
		switch {
		case m.Result == wire.ResultEqual:
			say(w, "%s: equal, %s in %s", name, counted(int(records), "record"), counted(equal, "section"))
		case m.Result == wire.ResultUnasked && len(m.Sections) == 0:
			say(w, "%s: not asked: %s", name, oneLine(m.Why))
		case m.Why != "":
			say(w, "%s: not asked to the end: %s", name, oneLine(m.Why))
		default:
			say(w, "%s: not equal, but for %s in %s", name, counted(int(records), "record"), counted(equal, "section"))
		}
		for j := range m.Sections {
			if s := &m.Sections[j]; s.Outcome != wire.OutcomeEqual {
				say(w, "  %s: %s", sectionText(s.Family, s.Scope), outcomeText(name, s))
			}
		}
	}
}

// sectionText names a section for people.
func sectionText(family string, scope wire.Scope) string {
	if scope == (wire.Scope{}) {
		return oneLine(family)
	}
	return oneLine(family + " of " + scopeText(scope))
}

func outcomeText(name string, s *wire.ComparedSection) string {
	counts := fmt.Sprintf("%s here, %s there", grouped(int64(s.Here)), grouped(int64(s.There)))
	switch {
	case s.Outcome == wire.OutcomeDiffers && s.First != nil:
		return "differs, " + counts + ", first at " + differenceText(name, s.First)
	case s.Outcome == wire.OutcomeChanging:
		return "changing, " + counts + ": too much is under way to tell"
	case s.Outcome == wire.OutcomeNotShared:
		return "not shared by " + name
	case s.Outcome == wire.OutcomeDamagedHere:
		return "damaged: this machine cannot read all of its own"
	case s.Outcome == wire.OutcomeDamagedThere:
		return "damaged: " + name + " cannot read all of its own"
	}
	return strings.ReplaceAll(s.Outcome, "_", " ")
}

// differenceText says who lacks which version of a key.
func differenceText(name string, d *wire.Difference) string {
	text := fmt.Sprintf("%s %s", oneLine(d.Kind), oneLine(d.Key))
	if len(d.OnlyHere) > 0 {
		text += "; " + name + " lacks that " + versionsText(d.OnlyHere)
	}
	if len(d.OnlyThere) > 0 {
		text += "; this machine lacks that " + versionsText(d.OnlyThere)
	}
	return text
}

func versionsText(versions []wire.HeldVersion) string {
	texts := make([]string, 0, len(versions))
	for _, v := range versions {
		writer := v.Writer
		if writer == "" {
			writer = v.WriterID
		}
		text := fmt.Sprintf("of %s at %s", oneLine(writer), v.HLC)
		if v.Parked {
			text += ", which it keeps parked"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " and that ")
}
