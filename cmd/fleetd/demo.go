package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
)

// demoTimeout bounds the whole demo; it needs a few seconds.
const demoTimeout = 55 * time.Second

func (a *app) demoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "demo", Short: "a fleet of three on this machine: share, go offline, edit on both sides, come back", Args: cobra.NoArgs,
		Long: `Runs three real nodes in temporary directories, which talk over loopback. They
share skills and memory; one goes offline; both sides write, among it the same
skill; it comes back, and all hold the same again. Nothing of it is left behind.`,
	}
	noGossip := cmd.Flags().Bool("no-gossip", false, "only compare, do not spread writes at once")
	keep := cmd.Flags().Bool("keep", false, "keep the directories of the nodes, and say where they are")
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		dir, err := os.MkdirTemp("", "fleetd-demo-")
		if err != nil {
			return fmt.Errorf("make a directory for the demo: %w", err)
		}
		// Nobody listening ends the demo, and must not end it before it has tidied
		// up.
		signal.Ignore(syscall.SIGPIPE)
		limited, cancel := context.WithTimeout(ctx, demoTimeout)
		defer cancel()
		d := &demo{fleet: newDemoFleet(dir, !*noGossip), tell: a.teller(cancel)}
		err = d.run(limited)
		err = errors.Join(err, d.fleet.close())
		if *keep {
			a.note("the nodes are kept in %s", dir)
		} else {
			err = errors.Join(err, os.RemoveAll(dir))
		}
		if ctx.Err() != nil {
			return ctx.Err() // whatever came of it
		}
		if a.out.err != nil {
			return fmt.Errorf("the demo ended early: standard output: %w", errors.Unwrap(a.out.err))
		}
		if err != nil {
			f := *a.explain(err)
			f.result = d.result()
			return &f
		}
		return a.print(d.result(), func(io.Writer) {})
	})
}

// teller returns what tells the story to people; it is silent when the result
// is JSON, and calls stop when nobody listens any more.
func (a *app) teller(stop func()) func(format string, args ...any) {
	if a.output == outputJSON {
		return func(string, ...any) {}
	}
	return func(format string, args ...any) {
		if say(a.out, format, args...); a.out.err != nil {
			stop()
		}
	}
}

// demoResult is the outcome of the demo.
type demoResult struct {
	SchemaVersion int `json:"schema_version"`
	Nodes         int `json:"nodes"`
	// Records counts the versions that each node holds, Conflicts those of them
	// that lost.
	Records   int64 `json:"records"`
	Conflicts int   `json:"conflicts"`
	// Converged says that every step went as it should, equal roots included.
	Converged bool       `json:"converged"`
	Roots     []string   `json:"roots"`
	Steps     []demoStep `json:"steps"`
}

// demoStep is one part of the story.
type demoStep struct {
	Name    string  `json:"name"`
	OK      bool    `json:"ok"`
	Seconds float64 `json:"seconds"`
}

// demo is the story and what came of it.
type demo struct {
	fleet *demoFleet
	tell  func(format string, args ...any)

	edits     [2]string // the two texts of the skill that both sides edit
	steps     []demoStep
	records   int64
	conflicts int
	roots     []string
}

func (d *demo) result() demoResult {
	r := demoResult{
		SchemaVersion: wire.SchemaVersion, Nodes: len(d.fleet.nodes), Records: d.records, Conflicts: d.conflicts,
		Converged: len(d.steps) == len(d.story()), Roots: append([]string{}, d.roots...), Steps: append([]demoStep{}, d.steps...),
	}
	for _, s := range d.steps {
		r.Converged = r.Converged && s.OK
	}
	return r
}

// run tells the story step by step and stops at the first that fails.
func (d *demo) run(ctx context.Context) error {
	d.tell("Three nodes on this machine. Each has its own key, its own store on the disk and its\n" +
		"own directory, and they talk over loopback as they would between machines.")
	for i, part := range d.story() {
		d.tell("\n%d. %s", i+1, part.title)
		began := time.Now()
		err := part.do(ctx)
		seconds := time.Since(began).Seconds()
		d.steps = append(d.steps, demoStep{part.name, err == nil, math.Round(seconds*1000) / 1000})
		if err != nil {
			return fmt.Errorf("demo: step %d of %d, %s: %w", i+1, len(d.story()), part.name, err)
		}
		d.tell("   done in %.2f s", seconds)
	}
	d.tell("\nAll three hold the same %d records, and the one write that lost is kept on each.", d.records)
	d.tell("Now between your own machines: fleetd init --name N begins a fleet.")
	return nil
}
