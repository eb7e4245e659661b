package report

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// giveUp is how much virtual time a fleet of a sweep has for its writes.
const giveUp = 10 * time.Minute

// SweepConfig says which fleets a sweep tries, each with gossip and without. The
// zero value takes about ten seconds of two processors.
type SweepConfig struct {
	// Sizes are numbers of replicas; none is 3, 5, 10 and 20.
	Sizes []int
	// Losses are probabilities that a message vanishes, of gossip on each hop;
	// none is 0, 0.05, 0.1 and 0.2.
	Losses []float64
	// Seeds is how many fleets there are of each size and loss; 0 is 5.
	Seeds int
	// Base is the seed before the first.
	Base uint64
	// Plan returns the plan of a fleet whose network stays as it is, and whose
	// Gossip the sweep decides; nil is a mesh with the intervals of a node that
	// was not configured.
	Plan func(seed uint64, replicas int, loss float64) simulation.Plan
	// Progress is told after each fleet, by one goroutine at a time; nil is
	// nobody.
	Progress func(done, total int)
}

// Sweep is how long fleets took until what every replica wrote in one instant
// was on all of them.
type Sweep struct{ Cells []Cell }

// Cell is the fleets of one size and loss, with gossip or without.
type Cell struct {
	Gossip   bool
	Replicas int
	Loss     float64
	// Times are ascending, one for each fleet that became one.
	Times []time.Duration
	// Unfinished is how many did not within ten minutes.
	Unfinished int
}

// Median returns the middle of the times; 0 of none.
func (c *Cell) Median() time.Duration {
	if len(c.Times) == 0 {
		return 0
	}
	return c.Times[(len(c.Times)-1)/2]
}

func (c SweepConfig) withDefaults() SweepConfig {
	if len(c.Sizes) == 0 {
		c.Sizes = []int{3, 5, 10, 20}
	}
	if len(c.Losses) == 0 {
		c.Losses = []float64{0, 0.05, 0.1, 0.2}
	}
	if c.Seeds <= 0 {
		c.Seeds = 5
	}
	if c.Plan == nil {
		c.Plan = lossy
	}
	return c
}

// lossy is the plan of a fleet in which nothing happens, on a network that
// loses messages.
func lossy(seed uint64, replicas int, loss float64) simulation.Plan {
	plan := simulation.Calm(seed, replicas)
	plan.Weather.Loss, plan.Weather.GossipLoss = loss, loss
	return plan
}

// RunSweep lets every replica of a fleet write once in the same instant, and
// measures until all of that is everywhere, for each size, loss and seed, on all
// processors. Nothing is repaired meanwhile. Errors: that of ctx, and what is
// wrong with a plan or a run.
func RunSweep(ctx context.Context, cfg SweepConfig) (*Sweep, error) {
	cfg = cfg.withDefaults()
	sweep := &Sweep{Cells: cfg.cells()}
	total := len(sweep.Cells) * cfg.Seeds
	times, errs := make([]time.Duration, total), make([]error, total)
	var next atomic.Int64
	var mu sync.Mutex // guards done and calls of Progress
	var group sync.WaitGroup
	done := 0
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for ctx.Err() == nil {
				place := int(next.Add(1) - 1)
				if place >= total {
					return
				}
				plan := cfg.plan(&sweep.Cells[place/cfg.Seeds], place%cfg.Seeds)
				times[place], errs[place] = spreadTime(plan) //nolint:contextcheck // a run computes, and waits for nothing
				mu.Lock()
				done++
				if cfg.Progress != nil {
					cfg.Progress(done, total)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return sweep, sweep.fill(times, errs, cfg.Seeds)
}

func (c *SweepConfig) cells() []Cell {
	var cells []Cell
	for _, gossip := range []bool{true, false} {
		for _, loss := range c.Losses {
			for _, n := range c.Sizes {
				cells = append(cells, Cell{Gossip: gossip, Replicas: n, Loss: loss})
			}
		}
	}
	return cells
}

// plan is that of one fleet of a cell.
func (c *SweepConfig) plan(cell *Cell, number int) simulation.Plan {
	plan := c.Plan(c.Base+1+uint64(number), cell.Replicas, cell.Loss)
	plan.Gossip = cell.Gossip
	return plan
}

// fill puts the times into their cells.
func (s *Sweep) fill(times []time.Duration, errs []error, seeds int) error {
	for place, took := range times {
		cell := &s.Cells[place/seeds]
		switch {
		case errs[place] != nil:
			return fmt.Errorf("report: a fleet of %d with loss %g: %w", cell.Replicas, cell.Loss, errs[place])
		case took == 0:
			cell.Unfinished++
		default:
			cell.Times = append(cell.Times, took)
		}
	}
	for i := range s.Cells {
		slices.Sort(s.Cells[i].Times)
	}
	return nil
}

// spreadTime runs one fleet; 0 when it was not one in time.
func spreadTime(plan simulation.Plan) (time.Duration, error) {
	c, err := simulation.New(plan, simulation.Options{Sample: time.Hour})
	if err != nil {
		return 0, err
	}
	c.RunFor(time.Minute) // everybody finds everybody
	before := c.Propagation()
	for n := range c.Replicas() {
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: n, Count: n})
	}
	for waited := time.Duration(0); waited < giveUp && c.Err() == nil; waited += time.Second {
		c.RunFor(time.Second) // times are exact all the same
		if p := c.Propagation(); len(p.Times) == p.Writes {
			return slices.Max(p.Times[len(before.Times):]), nil
		}
	}
	return 0, c.Err()
}
