package campaign

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// outcome is what one run leaves behind.
type outcome struct {
	elapsed, jumped time.Duration // of one replica
	replicas        int
	took            time.Duration
	trace           string
	cover           *simulation.Coverage
	traffic         map[fleetsync.MessageType]simulation.Traffic
	plan            simulation.Plan
	repeated        bool
	failure         *Failure
	err             error // the plan is none, or the run was stopped
}

// Run runs every seed. What goes wrong in a run is a [Failure] of the result;
// an error is of the campaign itself: the result then counts the runs that were
// finished. Errors: that of ctx, simulation.ErrPlan.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	cfg = cfg.withDefaults()
	t := newTally(&cfg)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range cfg.Workers {
		group.Go(func() {
			for ctx.Err() == nil {
				place := int(next.Add(1) - 1)
				if place >= cfg.total() {
					return
				}
				o := cfg.run(ctx, place)
				if ctx.Err() != nil && errors.Is(o.err, simulation.ErrStopped) {
					return
				}
				if o.err != nil {
					cancel(fmt.Errorf("seed %d: %w", cfg.seed(place), o.err))
					return
				}
				t.add(place, o)
			}
		})
	}
	group.Wait()
	return t.result(), context.Cause(ctx)
}

// run runs the seed at a place, twice when its turn has come.
func (c *Config) run(ctx context.Context, place int) outcome {
	seed := c.seed(place)
	first := c.runOnce(ctx, seed)
	if !c.repeats(place) || first.err != nil {
		return first
	}
	first.repeated = true
	second := c.runOnce(ctx, seed)
	if second.err != nil {
		return second
	}
	if second.trace != first.trace {
		first.failure = failed(seed, first.plan, &simulation.Violation{
			Invariant: simulation.InvariantDeterminism,
			Text:      fmt.Sprintf("one run ended with the trace %s (%v), another with %s (%v)", first.trace, first.failure, second.trace, second.failure),
		})
	}
	return first
}

// runOnce runs a seed.
func (c *Config) runOnce(ctx context.Context, seed uint64) (o outcome) {
	plan, err := c.plan(seed)
	if err != nil {
		return outcome{failure: failed(seed, plan, err)}
	}
	cluster, err := c.runPlan(ctx, plan)
	if errors.Is(err, simulation.ErrPlan) || errors.Is(err, simulation.ErrStopped) {
		return outcome{err: err}
	}
	if cluster != nil {
		o = outcomeOf(cluster)
	}
	o.plan = plan
	if err != nil {
		o.failure = failed(seed, plan, err)
	}
	return o
}

// plan plans a seed. A panic is an error.
func (c *Config) plan(seed uint64) (plan simulation.Plan, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &simulation.Violation{Invariant: simulation.InvariantPanic, Text: fmt.Sprintf("planning: %v\n%s", p, debug.Stack())}
		}
	}()
	return c.Plan(seed), nil
}

// runPlan runs a plan, unless ctx ends before it does, and looks at what became
// of it.
func (c *Config) runPlan(ctx context.Context, plan simulation.Plan) (*simulation.Cluster, error) {
	options := c.Options()
	own := options.Stop
	options.Stop = func() bool { return ctx.Err() != nil || own != nil && own() }
	return simulation.Run(plan, options, c.Check) //nolint:contextcheck // it ends by Stop
}

func outcomeOf(c *simulation.Cluster) outcome {
	return outcome{
		elapsed: c.Clock().Elapsed(), jumped: c.Clock().Jumped(), replicas: c.Replicas(), took: c.Took(),
		trace: c.TraceSum(), cover: c.Coverage(), traffic: c.Sent(),
	}
}

// failed names what an error is about.
func failed(seed uint64, plan simulation.Plan, err error) *Failure {
	return &Failure{Seed: seed, Plan: plan, Err: err, Invariant: simulation.ViolationOf(err).Invariant}
}
