package campaign_test

import (
	"context"
	"errors"
	"flag"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
)

// Tests of this folder run few seeds of their own; the flag is that of the
// tests of package simulation, which run together with these.
var _ = flag.Int("seeds", 0, "without effect here")

// small returns a plan of two replicas and a few writes, so that a run takes a
// millisecond or two.
func small(seed uint64) simulation.Plan {
	plan := simulation.Calm(seed, 2)
	for n := range 4 {
		plan.Steps = append(plan.Steps, simulation.Step{After: time.Second, Act: simulation.ActWrite, Replica: n % 2, Count: n})
	}
	return plan
}

func TestTheSumDoesNotDependOnTheOrderOfFinishing(t *testing.T) {
	var results []*campaign.Result
	for _, workers := range []int{1, 5} {
		var done []int
		cfg := campaign.Config{
			Seeds: campaign.Fresh(100, 6), Workers: workers, RepeatEvery: 4,
			Progress: func(p campaign.Progress) { done = append(done, p.Done) },
		}
		result, err := campaign.Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		for n, d := range done {
			if d != n+1 {
				t.Errorf("progress %d says that %d are done", n+1, d)
			}
		}
		if len(done) != 6 || result.Repeated != 2 || result.TracesHash == "" || result.TraceHash != "" || result.NodeHours == 0 || result.Faults() == 0 {
			t.Errorf("%d calls of Progress, %s", len(done), result)
		}
		results = append(results, result)
	}
	for _, other := range results[1:] {
		if diff := cmp.Diff(results[0], other); diff != "" {
			t.Errorf("one worker and several differ:\n%s", diff)
		}
	}
}

func TestSeedsAreAddedUpInTheirOrder(t *testing.T) {
	hash := func(seeds ...uint64) string {
		result, err := campaign.Run(t.Context(), campaign.Config{Seeds: seeds, Plan: small})
		if err != nil || len(result.Failures) > 0 {
			t.Fatal(err, result)
		}
		return result.TracesHash
	}
	if hash(1, 2) == hash(2, 1) {
		t.Error("the order of the seeds is not part of the hash")
	}
}

// TestOneSeedHasTheTraceOfItsRun holds that what a campaign of one seed says of
// its trace is what anybody else says who runs that plan.
func TestOneSeedHasTheTraceOfItsRun(t *testing.T) {
	result, err := campaign.Run(t.Context(), campaign.Config{Seeds: []uint64{9}, Plan: small})
	if err != nil {
		t.Fatal(err)
	}
	c, err := simulation.Run(small(9), simulation.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if result.TraceHash != c.TraceSum() || !strings.HasSuffix(result.String(), "\ntrace "+c.TraceSum()) {
		t.Errorf("the run has the trace %s, the campaign says %s", c.TraceSum(), result)
	}
}

func TestAPanicIsAFailureOfItsSeed(t *testing.T) {
	result, err := campaign.Run(t.Context(), campaign.Config{
		Seeds: campaign.Fresh(0, 4), Plan: small,
		Check: func(c *simulation.Cluster) error {
			if c.Plan().Seed == 3 {
				panic("planted")
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Failures) != 1 || result.Seeds != 4 {
		t.Fatalf("want one failure in 4 seeds, got %s", result)
	}
	f := result.Failures[0]
	if f.Seed != 3 || f.Invariant != simulation.InvariantPanic || len(f.Plan.Steps) != 4 {
		t.Errorf("got seed %d, %s, %s", f.Seed, f.Invariant, &f.Plan)
	}
	for _, part := range []string{"planted", "run_test.go"} {
		if !strings.Contains(f.Err.Error(), part) {
			t.Errorf("the error has no %s: %v", part, f.Err)
		}
	}
}

func TestWhatRunsOtherwiseTheSecondTimeIsAFailure(t *testing.T) {
	planned := 0
	result, err := campaign.Run(t.Context(), campaign.Config{
		Seeds: campaign.Fresh(0, 3), Workers: 1, RepeatEvery: 2,
		Plan: func(seed uint64) simulation.Plan {
			planned++
			plan := small(seed)
			if planned == 5 { // the second time of the third seed
				plan.Rest = time.Second
			}
			return plan
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Failures) != 1 || result.Failures[0].Seed != 3 || result.Failures[0].Invariant != simulation.InvariantDeterminism {
		t.Errorf("want seed 3 to break %s, got %v", simulation.InvariantDeterminism, result.Failures)
	}
}

func TestAnOwnCheckFailsASeed(t *testing.T) {
	planted := errors.New("planted")
	result, err := campaign.Run(t.Context(), campaign.Config{
		Seeds: []uint64{7}, Plan: small,
		Check: func(c *simulation.Cluster) error {
			if !c.Replica(1).Running() {
				return errors.New("not running")
			}
			return planted
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Failures) != 1 || !errors.Is(result.Failures[0].Err, planted) || result.Failures[0].Invariant != simulation.InvariantOwn {
		t.Errorf("want the planted failure, got %v", result.Failures)
	}
	if result.Convergence != (campaign.Quantiles{}) {
		t.Errorf("a run that failed has converged after %v", result.Convergence)
	}
	if text := result.String(); !strings.Contains(text, "\nnone converged\n") || strings.Contains(text, "0s") {
		t.Errorf("a campaign in which all failed says %s", text)
	}
}

// TestAShrunkFailureSaysThatItNeedsTheWorkload holds that the text of a plan says
// so, whatever failed, when the campaign has more than its plans.
func TestAShrunkFailureSaysThatItNeedsTheWorkload(t *testing.T) {
	for name, options := range map[string]simulation.Options{
		"a workload": {Workload: func(c *simulation.Cluster) { c.After(time.Second, func() { panic("planted") }) }},
		"a plan":     {},
	} {
		cfg := campaign.Config{Seeds: []uint64{7}, Plan: small, Options: func() simulation.Options { return options }}
		if options.Workload == nil {
			cfg.Plan = func(seed uint64) simulation.Plan {
				plan := small(seed)
				far := simulation.Weather{LatencyMin: 3 * time.Second, LatencyMax: 3 * time.Second, Ordered: true}
				plan.Sites, plan.Paths = []int{0, 1}, []simulation.Path{{From: 0, To: 1, Weather: far}, {From: 1, To: 0, Weather: far}}
				plan.RequestTimeout, plan.Gossip = time.Second, false
				return plan
			}
		}
		result, err := campaign.Run(t.Context(), cfg)
		if err != nil || len(result.Failures) != 1 {
			t.Fatal(err, result)
		}
		short, err := cfg.Shrink(t.Context(), &result.Failures[0], 20)
		if err != nil {
			t.Fatal(err)
		}
		if says := strings.Contains(short.Text(), simulation.NeedsOwn); says != (options.Workload != nil) {
			t.Errorf("%s: it says %t:\n%s", name, says, short.Text())
		}
	}
}

func TestAnInvalidPlanEndsTheCampaign(t *testing.T) {
	result, err := campaign.Run(t.Context(), campaign.Config{
		Seeds: campaign.Fresh(0, 1000), Workers: 1,
		Plan: func(seed uint64) simulation.Plan {
			plan := small(seed)
			if seed == 3 {
				plan.Steps[1].Replica = 2
			}
			return plan
		},
	})
	if !errors.Is(err, simulation.ErrPlan) || !strings.Contains(err.Error(), "seed 3: ") || result.Seeds != 2 {
		t.Errorf("want the plan of seed 3 refused, got %v after %d seeds", err, result.Seeds)
	}
}

func TestACancelledCampaignSaysWhatItDid(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	result, err := campaign.Run(ctx, campaign.Config{
		Seeds: campaign.Fresh(0, 1000), Plan: small, Workers: 2,
		Progress: func(p campaign.Progress) {
			if p.Done == 5 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("want the error of the context, got %v", err)
	}
	if result.Seeds < 5 || result.Seeds > 7 || result.TracesHash != "" {
		t.Errorf("want 5 to 7 seeds and no hash, got %s", result)
	}
}

// TestACampaignEndsWithinARun holds that the end of ctx does not wait for runs
// that take long, and that such a run counts nowhere.
func TestACampaignEndsWithinARun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result, err := campaign.Run(ctx, campaign.Config{
		Seeds: campaign.Fresh(0, 4), Workers: 1,
		Plan: func(seed uint64) simulation.Plan {
			plan := small(seed)
			if seed == 3 {
				plan.Rest = 50 * 365 * 24 * time.Hour
				cancel()
			}
			return plan
		},
	})
	if !errors.Is(err, context.Canceled) || result.Seeds != 2 || len(result.Failures) != 0 {
		t.Errorf("error %v, %d seeds, failures %v", err, result.Seeds, result.Failures)
	}
}

// TestSeedsNeedNoList holds that a range of seeds is run as its list is, and that
// one of any length costs nothing before it runs.
func TestSeedsNeedNoList(t *testing.T) {
	listed, err := campaign.Run(t.Context(), campaign.Config{Seeds: campaign.Fresh(100, 3), Plan: small})
	if err != nil {
		t.Fatal(err)
	}
	ranged, err := campaign.Run(t.Context(), campaign.Config{First: 101, Count: 3, Plan: small})
	if err != nil || ranged.TracesHash != listed.TracesHash {
		t.Errorf("of a range %s, of a list %s: %v", ranged.TracesHash, listed.TracesHash, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	some, err := campaign.Run(ctx, campaign.Config{Count: math.MaxInt, Plan: small, Progress: func(p campaign.Progress) {
		if p.Total != math.MaxInt {
			t.Errorf("%d seeds in all", p.Total)
		}
		cancel()
	}})
	if !errors.Is(err, context.Canceled) || some.Seeds == 0 {
		t.Errorf("%d seeds, %v", some.Seeds, err)
	}
}
