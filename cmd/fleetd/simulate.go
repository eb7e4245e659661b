package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/report"
	"github.com/fleetsync/fleetd/simulation/scenario"
)

// How many seeds run when nobody says so: those of a scenario take longer.
const (
	seedsDrawn    = 100
	seedsScenario = 10
	seedsMax      = 10_000_000
)

// simulateFlags are what the command line says.
type simulateFlags struct {
	seed, plan, scenario, report string
	seeds, nodes                 int
	trace, shrink                bool
}

func (a *app) simulateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "simulate", Short: "simulated fleets, each from one seed, against everything that goes wrong", Args: cobra.NoArgs,
		Long: `Runs fleets in virtual time: the production code of every node over a virtual
network and virtual disks. Each seed is a fleet of its own, with writes, losses,
partitions, crashes, wrong clocks and absences, after which it must become one
again and hold every write that was acknowledged. A seed gives the same run each
time. Nothing needs a daemon, and nothing is written but what is asked for.

--scenario describes your own fleet: docs/scenarios.md names every field.
Exits 6 when a fleet did not become one, 1 when it broke another promise.`,
		Example: `  fleetd simulate
  fleetd simulate --scenario fleet.yaml --report fleet.html
  fleetd simulate --seed 42 --trace`,
	}
	var f simulateFlags
	flags := cmd.Flags()
	flags.StringVar(&f.seed, "seed", "", "the first seed; alone, the only one (default a random one, which is printed)")
	flags.IntVar(&f.seeds, "seeds", 0, fmt.Sprintf("how many seeds to run (default %d, of a scenario %d)", seedsDrawn, seedsScenario))
	flags.IntVar(&f.nodes, "nodes", 0, fmt.Sprintf("size of each fleet, %d to %d (default what the seed draws, 3 to 7)", simulation.DrawnMin, simulation.DrawnMax))
	flags.StringVar(&f.scenario, "scenario", "", "a fleet of your own, described in this YAML file")
	flags.StringVar(&f.plan, "plan", "", "run the plan in this file, as --shrink wrote it")
	flags.BoolVar(&f.trace, "trace", false, "print everything that happens in the run of one seed")
	flags.BoolVar(&f.shrink, "shrink", false, "make the plan of the first seed that fails short, and write it to simulate-SEED.plan, or simulate-SEED-2.plan and so on")
	flags.StringVar(&f.report, "report", "", "write a page with plots to this HTML file")
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		s, err := f.simulation(ctx, flags.Changed)
		if err != nil {
			return err
		}
		return a.simulate(ctx, s)
	})
}

// simulated is what to simulate.
type simulated struct {
	simulateFlags
	first uint64 // seed
	count int
	// chosen says that somebody chose the first.
	chosen bool
	// source is nil for the plans of seeds alone.
	source *scenario.Scenario
	// plan draws the plan of a seed.
	draw func(seed uint64) simulation.Plan
	// needsOwn says that the plan of a file fails with code alone that is not here.
	needsOwn bool
}

// simulation checks what the command line says, and reads the files that it
// names.
func (f simulateFlags) simulation(ctx context.Context, given func(flag string) bool) (*simulated, error) {
	if err := f.check(given); err != nil {
		return nil, err
	}
	s := &simulated{simulateFlags: f, count: seedsDrawn}
	s.draw = func(seed uint64) simulation.Plan { return simulation.NewPlanOf(seed, f.nodes) }
	switch {
	case f.plan != "":
		plan, needsOwn, err := readPlan(ctx, f.plan)
		if err != nil {
			return nil, err
		}
		s.first, s.count, s.needsOwn = plan.Seed, 1, needsOwn
		s.draw = func(uint64) simulation.Plan { return plan }
		return s, nil
	case f.scenario != "":
		described, err := readScenario(ctx, f.scenario)
		if err != nil {
			return nil, unreadable(err, "docs/scenarios.md names every field, and examples/scenarios has three to begin with")
		}
		s.source, s.draw = described, described.Plan
		s.first, s.count, s.chosen = described.Seed, seedsScenario, described.Seeded
	}
	return s, s.choose(given)
}

// choose settles which seeds run.
func (s *simulated) choose(given func(flag string) bool) error {
	if given("seed") {
		seed, err := strconv.ParseUint(s.seed, 10, 64)
		if err != nil {
			return usage(fmt.Sprintf("fleetd simulate: --seed %.60q: want a number from 0 to %d", s.seed, uint64(1<<64-1)), "")
		}
		s.first, s.count, s.chosen = seed, 1, true
	}
	if given("seeds") {
		s.count = s.seeds
	}
	if s.trace && s.count != 1 {
		return usage("fleetd simulate: --trace is of one seed: say which with --seed", "")
	}
	if !s.chosen {
		base, err := randomSeed()
		if err != nil {
			return err
		}
		s.first = base
	}
	if last := s.first + uint64(s.count-1); last < s.first {
		return usage(fmt.Sprintf("fleetd simulate: %d seeds from %d on: there is none after %d", s.count, s.first, uint64(math.MaxUint64)), "name a smaller --seed, or less --seeds")
	}
	return nil
}

// check refuses what cannot be meant.
func (f simulateFlags) check(given func(flag string) bool) error {
	for _, pair := range [][2]string{
		{"plan", "seed"}, {"plan", "seeds"}, {"plan", "nodes"}, {"plan", "scenario"}, {"scenario", "nodes"},
	} {
		if given(pair[0]) && given(pair[1]) {
			return usage(fmt.Sprintf("fleetd simulate: --%s says that already: leave --%s out", pair[0], pair[1]), "")
		}
	}
	for _, file := range [][2]string{{"plan", f.plan}, {"scenario", f.scenario}, {"report", f.report}} {
		if given(file[0]) && file[1] == "" {
			return usage("fleetd simulate: --"+file[0]+" names no file", "")
		}
	}
	if given("seeds") && (f.seeds < 1 || f.seeds > seedsMax) {
		return usage(fmt.Sprintf("fleetd simulate: --seeds %d: want 1 to %d", f.seeds, seedsMax), "")
	}
	if given("nodes") && (f.nodes < simulation.DrawnMin || f.nodes > simulation.DrawnMax) {
		return usage(fmt.Sprintf("fleetd simulate: --nodes %d: want %d to %d; --scenario has room for other sizes", f.nodes, simulation.DrawnMin, simulation.DrawnMax), "")
	}
	return f.checkReport()
}

// checkReport refuses a page that could not be written in the end.
func (f simulateFlags) checkReport() error {
	if f.report == "" {
		return nil
	}
	if err := report.Writable(f.report); err != nil {
		return usage(fmt.Sprintf("fleetd simulate: --report: %v", err), "name a file, in a directory that is there and may be written to")
	}
	return nil
}

// unreadable is an error of a file that the command line names. A call that was
// interrupted meanwhile is no such.
func unreadable(err error, next string) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return usage(err.Error(), next)
}

// What is read of a file at most: of a scenario, more than it may have.
const (
	planBytesMax     = 64 << 20
	scenarioBytesMax = 1 << 20
)

// readInput reads a file that the command line names, and no longer than ctx
// lasts: it may be a pipe that nobody writes to, or a device without an end.
func readInput(ctx context.Context, path string, bytesMax int64) (text []byte, err error) {
	read := make(chan func() ([]byte, error), 1)
	go func() {
		text, err := readFile(path, bytesMax)
		read <- func() ([]byte, error) { return text, err }
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case got := <-read:
		return got()
	}
}

func readFile(path string, bytesMax int64) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, bytesMax+1))
	if err == nil && int64(len(text)) > bytesMax {
		err = fmt.Errorf("%s: larger than %d MiB", path, bytesMax>>20)
	}
	return text, err
}

// readScenario errors as scenario.Read does.
func readScenario(ctx context.Context, path string) (*scenario.Scenario, error) {
	text, err := readInput(ctx, path, scenarioBytesMax)
	if err != nil {
		return nil, err
	}
	described, err := scenario.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return described, nil
}

// readPlan also reports whether the text says that its failure needs more than
// the plan.
func readPlan(ctx context.Context, path string) (plan simulation.Plan, needsOwn bool, err error) {
	const next = "fleetd simulate --shrink writes plans; they are text, and may be edited"
	text, err := readInput(ctx, path, planBytesMax)
	if err != nil {
		return plan, false, unreadable(err, next)
	}
	plan, err = simulation.ParsePlan(string(text))
	if err != nil {
		return plan, false, usage(fmt.Sprintf("%s: %v", path, err), next)
	}
	return plan, strings.Contains(string(text), simulation.NeedsOwn), nil
}
