package simulation_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
)

var (
	seedFlag     = flag.Uint64("seed", 0, "the seed that TestSeed replays")
	traceFlag    = flag.Bool("simtrace", false, "TestSeed prints everything that happens")
	noGossipFlag = flag.Bool("nogossip", false, "TestSeed switches gossip off")
	seedsFlag    = flag.Int("seeds", 300, "how many fresh seeds TestSeeds runs; TestSeedsWithoutGossip runs a fifth of it")
	baseFlag     = flag.Uint64("base", 0, "the seed before the first fresh one; 0 takes the time")
)

func withoutGossip(p *simulation.Plan) { p.Gossip = false }

// runSeed runs the plan of a seed, changed by those functions.
func runSeed(seed uint64, options simulation.Options, change ...func(*simulation.Plan)) (*simulation.Cluster, error) {
	plan := simulation.NewPlan(seed)
	for _, fn := range change {
		fn(&plan)
	}
	c, err := simulation.New(plan, options)
	if err != nil {
		return nil, err
	}
	return c, c.Run()
}

// TestSeed replays one seed.
func TestSeed(t *testing.T) {
	if *seedFlag == 0 {
		t.Skip("replays one seed: -seed N, with -simtrace for every event, with -nogossip for a failure of TestSeedsWithoutGossip")
	}
	var options simulation.Options
	if *traceFlag {
		out := bufio.NewWriterSize(os.Stdout, 1<<20)
		defer func() { _ = out.Flush() }()
		options.Trace = out
	}
	var change []func(*simulation.Plan)
	if *noGossipFlag {
		change = append(change, withoutGossip)
	}
	plan := simulation.NewPlan(*seedFlag)
	t.Log(plan.String())
	c, err := runSeed(*seedFlag, options, change...)
	if err != nil {
		t.Error(err)
	}
	if c != nil {
		t.Logf("%s of virtual time, converged after %s\n%s\ntrace %s", c.Clock().Elapsed(), c.Took(), c.Coverage(), c.TraceSum())
	}
}

// seedsOf returns the seeds of a test: those of testdata that name it, and
// fresh ones.
func seedsOf(t *testing.T, fresh int) []uint64 {
	t.Helper()
	file, err := os.Open("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var seeds []uint64
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) != 2 || fields[0] != t.Name() {
			continue
		}
		seed, err := strconv.ParseUint(fields[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, seed)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	base := *baseFlag
	if base == 0 {
		base = uint64(time.Now().UnixNano()) % 1_000_000_000_000
	}
	t.Logf("%d seeds of testdata, %d fresh ones after -base %d", len(seeds), fresh, base)
	for i := range fresh {
		seeds = append(seeds, base+1+uint64(i))
	}
	return seeds
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
	}
	seconds := time.Since(began).Seconds()
	t.Logf("%.1f seconds, %.1f seeds a second: %s", seconds, float64(result.Seeds)/seconds, result)
	return result
}

// TestSeeds runs seeded plans of everything that goes wrong, and holds the
// invariants of Check. Every kind of fault and every marker must have happened.
func TestSeeds(t *testing.T) {
	result := runSeeds(t, campaign.Config{Seeds: seedsOf(t, *seedsFlag)}, "")
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
	result := runSeeds(t, campaign.Config{Seeds: seedsOf(t, *seedsFlag/5), Plan: plan}, " -nogossip")
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
