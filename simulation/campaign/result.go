package campaign

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// Result is what the runs of a campaign add up to. Second runs of a seed count
// nowhere.
type Result struct {
	// Seeds is how many were run.
	Seeds int
	// NodeHours of virtual time were lived, and Asleep passed in jumps, during
	// which no replica does anything: summed over the replicas of each run.
	NodeHours, Asleep float64
	// Coverage counts the faults and markers, FaultHits and MarkerHits say how they
	// spread over the seeds.
	Coverage   *simulation.Coverage
	FaultHits  map[simulation.Fault]Hits
	MarkerHits map[simulation.Marker]Hits
	// Failures are what went wrong, in the order of the seeds.
	Failures []Failure
	// Convergence is the virtual time from the last fault to one fleet, of the
	// runs without a failure.
	Convergence Quantiles
	// TracesHash is the hash of the traces' hashes in the order of the seeds. It
	// is empty when the campaign was ended before its last seed.
	TracesHash string
	// TraceHash is that of the one run, as Cluster.TraceSum has it; empty of a
	// campaign of several seeds.
	TraceHash string
	// Traffic is what engines sent, by the type of message.
	Traffic map[fleetsync.MessageType]simulation.Traffic
	// Repeated is how many seeds were run twice.
	Repeated int
}

// Quantiles are of durations: that which half of them do not exceed, 99 of 100,
// and all. They are zero of none.
type Quantiles struct{ P50, P99, Max time.Duration }

// quantilesOf sorts durations, and returns their quantiles.
func quantilesOf(durations []time.Duration) Quantiles {
	if len(durations) == 0 {
		return Quantiles{}
	}
	slices.Sort(durations)
	// The smallest that a share of them does not exceed.
	at := func(percent int) time.Duration { return durations[(len(durations)*percent+99)/100-1] }
	return Quantiles{P50: at(50), P99: at(99), Max: at(100)}
}

// Failure is a seed that failed.
type Failure struct {
	Seed      uint64
	Invariant simulation.Invariant
	Err       error
	// Plan gives the same failure again, unless Invariant says that it does not
	// give the same run each time.
	Plan simulation.Plan
}

// String is what failed, in which seed.
func (f *Failure) String() string {
	if f == nil {
		return "no failure"
	}
	return fmt.Sprintf("seed %d: %v", f.Seed, f.Err)
}

// Faults returns the number of faults.
func (r *Result) Faults() int { return r.Coverage.Total() }

// String is the figures of a campaign in a few lines.
func (r *Result) String() string {
	kinds := slices.Sorted(maps.Keys(r.Coverage.Faults))
	converged := "none converged"
	if r.Seeds > len(r.Failures) {
		converged = fmt.Sprintf("converged after %s (half of them), %s (99 of 100), %s (all)", r.Convergence.P50, r.Convergence.P99, r.Convergence.Max)
	}
	text := fmt.Sprintf("%d seeds, %d of them twice; %.0f node-hours, and %.0f asleep; %d faults of %d kinds; %d failures\n%s\n%s",
		r.Seeds, r.Repeated, r.NodeHours, r.Asleep, r.Faults(), len(kinds), len(r.Failures), converged, r.Coverage)
	switch {
	case r.TraceHash != "":
		text += "\ntrace " + r.TraceHash
	case r.TracesHash != "":
		text += "\ntraces " + r.TracesHash
	}
	return text
}
