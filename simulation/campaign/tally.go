package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// tally adds up outcomes as they come.
type tally struct {
	cfg *Config

	mu     sync.Mutex // guards all following fields
	seeds  []tallied  // by place, as far as runs have come
	done   int
	sum    Result
	failed int
}

// tallied is what must be added up in the order of the seeds.
type tallied struct {
	ran           bool
	lived, asleep float64 // node-hours
	took          time.Duration
	trace         string
	failure       *Failure
}

func newTally(cfg *Config) *tally {
	return &tally{cfg: cfg, sum: Result{
		Coverage:  simulation.NewCoverage(),
		FaultHits: map[simulation.Fault]Hits{}, MarkerHits: map[simulation.Marker]Hits{},
		Traffic: map[fleetsync.MessageType]simulation.Traffic{},
	}}
}

func (t *tally) add(place int, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := tallied{
		ran: true, took: o.took, trace: o.trace, failure: o.failure,
		lived: (o.elapsed - o.jumped).Hours() * float64(o.replicas), asleep: o.jumped.Hours() * float64(o.replicas),
	}
	t.seeds = append(t.seeds, make([]tallied, max(place+1-len(t.seeds), 0))...)
	t.seeds[place] = s
	t.done++
	t.sum.NodeHours += s.lived // for progress only: result adds up anew
	if o.cover != nil {
		t.sum.Coverage.Add(o.cover)
		addHits(t.sum.FaultHits, o.cover.Faults)
		addHits(t.sum.MarkerHits, o.cover.Markers)
	}
	for m, traffic := range o.traffic {
		all := t.sum.Traffic[m]
		t.sum.Traffic[m] = simulation.Traffic{Messages: all.Messages + traffic.Messages, Bytes: all.Bytes + traffic.Bytes}
	}
	if o.repeated {
		t.sum.Repeated++
	}
	if o.failure != nil {
		t.failed++
	}
	if t.cfg.Progress != nil {
		t.cfg.Progress(Progress{
			Done: t.done, Total: t.cfg.total(), NodeHours: t.sum.NodeHours,
			Faults: t.sum.Coverage.Total(), Failures: t.failed, Seed: t.cfg.seed(place), Failure: o.failure,
		})
	}
}

// result adds up what depends on the order: floats, and the hash.
func (t *tally) result() *Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := t.sum
	sum.Seeds, sum.NodeHours = t.done, 0
	hash := sha256.New()
	var took []time.Duration
	for i := range t.seeds {
		s := &t.seeds[i]
		if !s.ran {
			continue
		}
		sum.NodeHours += s.lived
		sum.Asleep += s.asleep
		hash.Write([]byte(s.trace + "\n"))
		if s.failure != nil {
			sum.Failures = append(sum.Failures, *s.failure)
		} else {
			took = append(took, s.took)
		}
	}
	sum.Convergence = quantilesOf(took)
	if t.done == t.cfg.total() {
		sum.TracesHash = hex.EncodeToString(hash.Sum(nil))
		if t.done == 1 {
			sum.TraceHash = t.seeds[0].trace
		}
	}
	return &sum
}
