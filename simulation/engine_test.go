package simulation_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
)

var (
	seedsFlag = flag.Int("seeds", 20, "how many fresh seeds TestSeeds runs; TestSeedsWithoutGossip runs a fifth of it")
	baseFlag  = flag.Uint64("base", 0, "the seed before the first fresh one; 0 takes it from the code")
	blockFlag = flag.Int("block", 0, "TestSeeds prints figures after so many seeds; 0: after all")
)

// withoutGossip switches it off, and lets no hostile member begin any.
func withoutGossip(p *simulation.Plan) {
	p.Gossip = false
	p.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(s simulation.Step) bool { return s.Act == simulation.ActForgeGossip })
}

// runSeed runs the plan of a seed.
func runSeed(seed uint64, options simulation.Options) (*simulation.Cluster, error) {
	c, err := simulation.New(simulation.NewPlan(seed), options)
	if err != nil {
		return nil, err
	}
	return c, c.Run()
}

// shrinkMax is how many failures of a run are shrunk, and shrinkRuns within how
// many runs each: half a minute as a rule. A long run is shrunk for shrinkTime,
// as far as that goes.
const (
	shrinkMax, shrinkRuns = 3, 500
	shrinkTime            = 90 * time.Second
)

// shrunk says what is left of the plan of a failure, and where to put it.
func shrunk(t *testing.T, cfg campaign.Config, f *campaign.Failure) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), shrinkTime)
	defer cancel()
	s, err := cfg.Shrink(ctx, f, shrinkRuns)
	if err != nil && s == nil {
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
	t.Logf("%.1f seconds, %.1f seeds a second: %s\nrarest faults: %s",
		seconds, float64(result.Seeds)/seconds, result, result.Rarest(simulation.AllFaults(), 5))
	return result
}

// TestSeeds runs seeded plans of everything that goes wrong, and holds the
// invariants of Check. Every kind of fault and every marker must have happened,
// as often as it must in so many seeds.
func TestSeeds(t *testing.T) {
	seeds := freshSeeds(t, *seedsFlag)
	size := *blockFlag
	if size <= 0 {
		size = max(len(seeds), 1)
	}
	var ran, faults, failures int
	var hours float64
	for block := range slices.Chunk(seeds, size) {
		result := runSeeds(t, campaign.Config{Seeds: block}, "")
		if lacking := result.Lacking(simulation.AllFaults(), simulation.AllMarkers()); len(lacking) > 0 {
			t.Errorf("too rare to prove anything:\n%s", strings.Join(lacking, "\n"))
		}
		ran, faults, failures, hours = ran+result.Seeds, faults+result.Faults(), failures+len(result.Failures), hours+result.NodeHours
		if ran > result.Seeds {
			t.Logf("so far %d seeds, %.0f node-hours, %d faults, %d failures", ran, hours, faults, failures)
		}
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
