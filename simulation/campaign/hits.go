package campaign

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/simulation"
)

// What a campaign must have hit. Of a fault that came once nobody knows whether
// the fleet bears it.
const (
	// enough is how many seeds make a verdict by counts.
	enough = 1_000
	// faultsPerEnough is how often each kind must have happened in so many seeds.
	// NewPlan draws each so often that a count below it is 5 standard deviations
	// off; [Result.Rarest] tells how far the rarest is.
	faultsPerEnough = 200
	// faultShare and markerShare are in how many of the seeds NewPlan makes each
	// happen, at least. With fewer seeds than enough, each must happen in as many
	// of them as only one campaign in falseAlarms would fall short of by chance.
	faultShare, markerShare = 0.05, 0.02
	falseAlarms             = 100_000_000
)

// Hits says how often something happened.
type Hits struct {
	// Total is how often, Seeds in how many of the seeds.
	Total, Seeds int
	// Squares is the sum of the squares of how often it happened in each seed.
	Squares int
}

func (h *Hits) add(times int) {
	h.Total += times
	h.Squares += times * times
	if times > 0 {
		h.Seeds++
	}
}

// deviation returns the standard deviation of Total over campaigns of so many
// seeds, as far as one of them tells.
func (h *Hits) deviation(seeds int) float64 {
	n := float64(seeds)
	mean := float64(h.Total) / n
	return math.Sqrt(max(float64(h.Squares)-n*mean*mean, 0))
}

// Lacking returns the faults and markers of a list that did not happen as often
// as they must, each with its count. Of few seeds it may be none, whatever
// happened: it does not guess.
func (r *Result) Lacking(faults []simulation.Fault, markers []simulation.Marker) []string {
	var lacking []string
	for _, f := range faults {
		if h := r.FaultHits[f]; r.Seeds >= enough {
			if want := faultsPerEnough * r.Seeds / enough; h.Total < want {
				lacking = append(lacking, fmt.Sprintf("fault %q: %d times in %d seeds, want %d", f, h.Total, r.Seeds, want))
			}
		} else if want := leastSeeds(r.Seeds, faultShare); h.Seeds < want {
			lacking = append(lacking, fmt.Sprintf("fault %q: in %d of %d seeds, want %d", f, h.Seeds, r.Seeds, want))
		}
	}
	for _, m := range markers {
		want := min(leastSeeds(r.Seeds, markerShare), 1)
		if r.Seeds >= enough {
			want = 1
		}
		if r.MarkerHits[m].Seeds < want {
			lacking = append(lacking, fmt.Sprintf("marker %q: in none of %d seeds", m, r.Seeds))
		}
	}
	return lacking
}

// leastSeeds returns in how many of some seeds something must have happened that
// happens in a share of all: fewer are less likely than a false alarm.
func leastSeeds(seeds int, share float64) int {
	// The probabilities of the binomial distribution, added up from none on.
	p := math.Pow(1-share, float64(seeds))
	below := 0.0
	for k := range seeds {
		if below += p; below > 1.0/falseAlarms {
			return k
		}
		p *= float64(seeds-k) / float64(k+1) * share / (1 - share)
	}
	return seeds
}

// Rarest names the faults of a list that happened least often, count of them,
// the rarest first: how often, in how many of the seeds, and how many standard
// deviations above the least that will do.
func (r *Result) Rarest(faults []simulation.Fault, count int) string {
	byTotal := slices.Clone(faults)
	slices.SortStableFunc(byTotal, func(a, b simulation.Fault) int { return r.FaultHits[a].Total - r.FaultHits[b].Total })
	want := faultsPerEnough * float64(r.Seeds) / enough
	var parts []string
	for _, f := range byTotal[:min(count, len(byTotal))] {
		h := r.FaultHits[f]
		parts = append(parts, fmt.Sprintf("%s %d, in %d seeds (%+.1f)", f, h.Total, h.Seeds, (float64(h.Total)-want)/max(h.deviation(r.Seeds), 1)))
	}
	return strings.Join(parts, "; ")
}

// addHits adds what happened in one run.
func addHits[K comparable](hits map[K]Hits, counts map[K]int) {
	for what, times := range counts {
		h := hits[what]
		h.add(times)
		hits[what] = h
	}
}
