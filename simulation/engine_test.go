package simulation_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
)

var (
	seedFlag     = flag.Uint64("seed", 0, "the seed that TestSeed replays")
	planFlag     = flag.String("plan", "", "the file with the plan that TestSeed replays")
	traceFlag    = flag.Bool("simtrace", false, "TestSeed prints everything that happens")
	noGossipFlag = flag.Bool("nogossip", false, "TestSeed switches gossip off")
	seedsFlag    = flag.Int("seeds", 300, "how many fresh seeds TestSeeds runs; TestSeedsWithoutGossip runs a fifth of it")
	baseFlag     = flag.Uint64("base", 0, "the seed before the first fresh one; 0 takes the time")
)

func withoutGossip(p *simulation.Plan) { p.Gossip = false }

// runSeed runs the plan of a seed.
func runSeed(seed uint64, options simulation.Options) (*simulation.Cluster, error) {
	c, err := simulation.New(simulation.NewPlan(seed), options)
	if err != nil {
		return nil, err
	}
	return c, c.Run()
}

// TestSeed replays one plan.
func TestSeed(t *testing.T) {
	var plan simulation.Plan
	switch {
	case *planFlag != "":
		plan = planOf(t, *planFlag)
	case *seedFlag != 0:
		plan = simulation.NewPlan(*seedFlag)
	default:
		t.Skip("replays one plan: -seed N, or -plan FILE; with -simtrace for every event, with -nogossip for a failure of TestSeedsWithoutGossip")
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
	c, err := simulation.New(plan, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err != nil {
		t.Error(err)
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

// freshSeeds returns seeds that nobody has run before, unless -base says which.
func freshSeeds(t *testing.T, count int) []uint64 {
	t.Helper()
	base := *baseFlag
	if base == 0 {
		base = uint64(time.Now().UnixNano()) % 1_000_000_000_000
	}
	t.Logf("%d fresh seeds after -base %d", count, base)
	return campaign.Fresh(base, count)
}

// shrinkMax is how many failures of a run are shrunk, and shrinkRuns within how
// many runs each: half a minute.
const shrinkMax, shrinkRuns = 3, 500

// shrunk says what is left of the plan of a failure, and where to put it.
func shrunk(t *testing.T, cfg campaign.Config, f *campaign.Failure) string {
	t.Helper()
	s, err := cfg.Shrink(t.Context(), f, shrinkRuns)
	if err != nil {
		return fmt.Sprintf("seed %d is not shrunk: %v", f.Seed, err)
	}
	return fmt.Sprintf("seed %d shrunk, for simulation/testdata/regressions/%s:\n%s", f.Seed, s.FileName(), s.Text())
}

// runSeeds runs seeds on every processor, and reports the figures, and for each
// seed that failed how to replay it: by TestSeed with those flags.
func runSeeds(t *testing.T, cfg campaign.Config, flags string) *campaign.Result {
	t.Helper()
	began := time.Now()
	result, err := campaign.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range result.Failures {
		f := &result.Failures[i]
		t.Errorf("%v\nreplay: go test ./simulation -run 'TestSeed$' -seed %d%s -v", f, f.Seed, flags)
		if i < shrinkMax && f.Invariant != simulation.InvariantDeterminism {
			t.Error(shrunk(t, cfg, f))
		}
	}
	seconds := time.Since(began).Seconds()
	t.Logf("%.1f seconds, %.1f seeds a second: %s", seconds, float64(result.Seeds)/seconds, result)
	return result
}

// TestSeeds runs seeded plans of everything that goes wrong, and holds the
// invariants of Check. Every kind of fault and every marker must have happened.
func TestSeeds(t *testing.T) {
	result := runSeeds(t, campaign.Config{Seeds: freshSeeds(t, *seedsFlag)}, "")
	if missing := result.Coverage.Missing(simulation.AllFaults(), simulation.AllMarkers()); len(missing) > 0 && result.Seeds >= 300 {
		t.Errorf("never happened: %s", strings.Join(missing, ", "))
	}
}

// TestSeedsWithoutGossip proves that nothing depends on gossip.
func TestSeedsWithoutGossip(t *testing.T) {
	plan := func(seed uint64) simulation.Plan {
		plan := simulation.NewPlan(seed)
		withoutGossip(&plan)
		return plan
	}
	result := runSeeds(t, campaign.Config{Seeds: freshSeeds(t, *seedsFlag/5), Plan: plan}, " -nogossip")
	if n := result.Coverage.Markers[simulation.SometimesGossip]; n != 0 {
		t.Errorf("%d gossiped batches although gossip is off", n)
	}
}

// TestSameSeedSameTrace proves that a seed decides everything, whatever the
// number of processors and the run before.
func TestSameSeedSameTrace(t *testing.T) {
	sums := map[uint64]string{}
	for _, processors := range []int{1, 2, 2} {
		before := runtime.GOMAXPROCS(processors)
		for seed := uint64(1); seed <= 6; seed++ {
			c, err := runSeed(seed, simulation.Options{Trace: io.Discard})
			if err != nil {
				t.Error(fmt.Errorf("seed %d: %w", seed, err))
				continue
			}
			sum := c.TraceSum()
			if first, ran := sums[seed]; ran && first != sum {
				t.Errorf("seed %d on %d processors has the trace %s, had %s", seed, processors, sum, first)
			}
			sums[seed] = sum
		}
		runtime.GOMAXPROCS(before)
	}
}
