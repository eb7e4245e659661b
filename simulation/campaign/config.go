package campaign

import (
	"runtime"

	"github.com/fleetsync/fleetd/simulation"
)

// repeatEvery is how many seeds there are to one that runs twice.
const repeatEvery = 50

// Config says what to run. Its functions are called from several goroutines at
// once, but for Progress.
type Config struct {
	// Seeds run in this order, several at a time.
	Seeds []uint64
	// Count seeds from First on run in place of Seeds, when it is not 0: as many as
	// one likes, since nobody lists them.
	First uint64
	Count int
	// Plan returns the plan of a seed, the same each time; nil is
	// [simulation.NewPlan].
	Plan func(seed uint64) simulation.Plan
	// Options are those of one run, made anew for each; nil is none.
	Options func() simulation.Options
	// Workers is how many runs go on at once; 0 is one on each processor.
	Workers int
	// RepeatEvery lets one seed in so many, beginning with the first, run twice,
	// and fails it when the two differ; 0 is 50, a negative number never does.
	RepeatEvery int
	// Check looks at a fleet that has converged and passed every check of its
	// own. An error fails the seed; nil is no check.
	Check func(*simulation.Cluster) error
	// Progress is told after each seed, by one goroutine at a time; it must be
	// fast, since the workers wait. Nil is nobody.
	Progress func(Progress)
}

// Progress is how far a campaign has come.
type Progress struct {
	Done, Total int
	// NodeHours were lived so far, see [Result].
	NodeHours float64
	// Faults and Failures happened so far.
	Faults, Failures int
	// Seed is the one that has just ended, Failure what is wrong with it, nil
	// for nothing.
	Seed    uint64
	Failure *Failure
}

// Fresh returns count seeds, those after base.
func Fresh(base uint64, count int) []uint64 {
	seeds := make([]uint64, count)
	for i := range seeds {
		seeds[i] = base + 1 + uint64(i)
	}
	return seeds
}

func (c Config) withDefaults() Config {
	if c.Plan == nil {
		c.Plan = simulation.NewPlan
	}
	if c.Options == nil {
		c.Options = func() simulation.Options { return simulation.Options{} }
	}
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.RepeatEvery == 0 {
		c.RepeatEvery = repeatEvery
	}
	return c
}

// total is how many seeds run.
func (c *Config) total() int {
	if c.Count > 0 {
		return c.Count
	}
	return len(c.Seeds)
}

// seed is the one at a place.
func (c *Config) seed(place int) uint64 {
	if c.Count > 0 {
		return c.First + uint64(place)
	}
	return c.Seeds[place]
}

// repeats reports whether the seed at a place runs twice.
func (c *Config) repeats(place int) bool { return c.RepeatEvery > 0 && place%c.RepeatEvery == 0 }
