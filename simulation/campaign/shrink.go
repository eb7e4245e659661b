package campaign

import (
	"context"
	"errors"

	"github.com/fleetsync/fleetd/simulation"
)

// Shrink makes the plan of a failure short, by running at most that many plans
// as the campaign runs them; 0 is some thousands. It belongs to the same Config
// as the failure. What differs from run to run cannot be shrunk. Errors: those
// of simulation.Shrink.
func (c Config) Shrink(ctx context.Context, f *Failure, runs int) (*simulation.Shrunk, error) {
	c = c.withDefaults()
	options := c.Options()
	return simulation.Shrink(ctx, f.Plan, simulation.ShrinkConfig{
		Runs: runs, Own: options.Workload != nil || options.Intercept != nil,
		Fails: func(plan simulation.Plan) *simulation.Violation {
			_, err := c.runPlan(ctx, plan)
			if errors.Is(err, simulation.ErrStopped) {
				return nil
			}
			return simulation.ViolationOf(err)
		},
	})
}
