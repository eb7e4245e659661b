package simulation_test

import (
	"bufio"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
)

var (
	seedFlag     = flag.Uint64("seed", 0, "the seed that TestSeed replays")
	planFlag     = flag.String("plan", "", "the file with the plan that TestSeed replays")
	traceFlag    = flag.Bool("simtrace", false, "TestSeed prints everything that happens")
	shrinkFlag   = flag.Bool("shrink", false, "TestSeed makes a plan that fails short")
	noGossipFlag = flag.Bool("nogossip", false, "TestSeed switches gossip off")
)

// TestSeed replays one plan.
func TestSeed(t *testing.T) {
	var plan simulation.Plan
	switch {
	case *planFlag != "":
		plan = planOf(t, *planFlag)
	case *seedFlag != 0:
		plan = simulation.NewPlan(*seedFlag)
	default:
		t.Skip("replays one plan: -seed N, or -plan FILE; with -simtrace for every event, -shrink for what is left of it, -nogossip for a failure of TestSeedsWithoutGossip")
	}
	var options simulation.Options
	if *traceFlag {
		out := bufio.NewWriterSize(os.Stdout, 1<<20)
		defer func() { _ = out.Flush() }()
		options.Trace = out
	}
	if *noGossipFlag {
		withoutGossip(&plan)
	}
	t.Log(plan.String())
	c, err := simulation.Run(plan, options, nil)
	if c == nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Error(err)
	}
	if err != nil && *shrinkFlag {
		s, err := simulation.Shrink(t.Context(), plan, simulation.ShrinkConfig{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("for simulation/testdata/regressions/%s:\n%s", s.FileName(), s.Text())
	}
	t.Logf("%s of virtual time, converged after %s\n%s\ntrace %s", c.Clock().Elapsed(), c.Took(), c.Coverage(), c.TraceSum())
}

// planOf reads a plan.
func planOf(t *testing.T, path string) simulation.Plan {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := simulation.ParsePlan(string(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if strings.Contains(string(text), simulation.NeedsOwn) {
		t.Logf("%s was found with a workload or a check of its own: here its steps run without them", path)
	}
	return plan
}

// TestRegressions runs every plan that found a fault once, each twice.
func TestRegressions(t *testing.T) {
	paths, err := filepath.Glob("testdata/regressions/*.plan")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no plans: %v", err)
	}
	plans := make([]simulation.Plan, len(paths))
	numbers := make([]uint64, len(paths))
	for i, path := range paths {
		plans[i], numbers[i] = planOf(t, path), uint64(i)
	}
	result, err := campaign.Run(t.Context(), campaign.Config{
		Seeds: numbers, RepeatEvery: 1, Plan: func(number uint64) simulation.Plan { return plans[number] },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Failures {
		t.Errorf("%v\nreplay: go test ./simulation -run 'TestSeed$' -plan %s -v", f.Err, paths[f.Seed])
	}
}
