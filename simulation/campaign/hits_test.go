package campaign_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
)

// TestLeastSeedsIsNoGuess holds the bound to the binomial distribution, worked
// out another way: one less would be as unlikely as promised, the bound itself
// would not.
func TestLeastSeedsIsNoGuess(t *testing.T) {
	const falseAlarm = 1e-8
	for _, share := range []float64{0.02, 0.05, 0.3} {
		last := 0
		for _, seeds := range []int{1, 20, 120, 300, 500, 912, 999} {
			below := func(hits int) (p float64) { // of fewer hits than that
				for k := range hits {
					n, _ := math.Lgamma(float64(seeds + 1))
					a, _ := math.Lgamma(float64(k + 1))
					b, _ := math.Lgamma(float64(seeds - k + 1))
					p += math.Exp(n - a - b + float64(k)*math.Log(share) + float64(seeds-k)*math.Log(1-share))
				}
				return p
			}
			least := campaign.LeastSeeds(seeds, share)
			if below(least) > falseAlarm*1.000001 || below(least+1) < falseAlarm {
				t.Errorf("%d of %d seeds at %g: fewer come with %g, one more with %g", least, seeds, share, below(least), below(least+1))
			}
			if least < last {
				t.Errorf("%d of %d seeds at %g, fewer than of fewer seeds", least, seeds, share)
			}
			last = least
		}
	}
	for seeds, want := range map[int]int{20: 0, 120: 0, 300: 0, 400: 1, 999: 16} {
		if got := campaign.LeastSeeds(seeds, 0.05); got != want {
			t.Errorf("of %d seeds %d, want %d", seeds, got, want)
		}
	}
}

func TestWhatIsLackingIsNamed(t *testing.T) {
	faults := []simulation.Fault{simulation.FaultLoss, simulation.FaultTwin}
	markers := []simulation.Marker{simulation.SometimesFeed, simulation.SometimesGossip}
	result := func(seeds, twins int) *campaign.Result {
		return &campaign.Result{
			Seeds: seeds,
			FaultHits: map[simulation.Fault]campaign.Hits{
				simulation.FaultLoss: {Total: 100 * seeds, Seeds: seeds, Squares: 10_000 * seeds},
				simulation.FaultTwin: {Total: twins, Seeds: twins, Squares: twins},
			},
			MarkerHits: map[simulation.Marker]campaign.Hits{simulation.SometimesFeed: {Total: 3, Seeds: 2, Squares: 5}},
		}
	}
	gossip := `marker "gossip applied": in none of `
	for _, test := range []struct {
		seeds, twins int
		want         []string
	}{
		{20, 0, nil},
		{300, 0, nil},
		{400, 0, []string{`fault "twin": in 0 of 400 seeds, want 1`}},
		{400, 1, nil},
		{999, 15, []string{`fault "twin": in 15 of 999 seeds, want 16`, gossip + "999 seeds"}},
		{999, 16, []string{gossip + "999 seeds"}},
		{1000, 199, []string{`fault "twin": 199 times in 1000 seeds, want 200`, gossip + "1000 seeds"}},
		{1000, 200, []string{gossip + "1000 seeds"}},
		{5000, 999, []string{`fault "twin": 999 times in 5000 seeds, want 1000`, gossip + "5000 seeds"}},
	} {
		if diff := cmp.Diff(test.want, result(test.seeds, test.twins).Lacking(faults, markers)); diff != "" {
			t.Errorf("%d seeds, %d twins:\n%s", test.seeds, test.twins, diff)
		}
	}
	// Of 1000 seeds 300 are hit once: the deviation is that of a binomial count.
	if got := result(1000, 300).Rarest(faults, 1); got != "twin 300, in 300 seeds (+6.9)" {
		t.Errorf("the rarest is %s", got)
	}
	if got := result(1000, 300).Rarest(faults, 5); !strings.Contains(got, "; loss 100000, in 1000 seeds") {
		t.Errorf("the rarest are %s", got)
	}
}
