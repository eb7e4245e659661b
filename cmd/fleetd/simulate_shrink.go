package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
)

// shrink makes the plan of a failure short and writes it to a file. What hinders
// that is said, and changes nothing of the result.
func (a *app) shrink(ctx context.Context, f *campaign.Failure, r *simulateResult) {
	p := a.meter()
	options := simulation.Options{Stop: func() bool { return ctx.Err() != nil }}
	p.say("shrinking the plan of seed %d", f.Seed)
	short, err := simulation.Shrink(ctx, f.Plan, simulation.ShrinkConfig{
		Fails: func(plan simulation.Plan) *simulation.Violation { //nolint:contextcheck // a run ends by Stop
			_, err := simulation.Run(plan, options, nil)
			if errors.Is(err, simulation.ErrStopped) {
				return nil
			}
			return simulation.ViolationOf(err)
		},
		Progress: func(runs int, best *simulation.Plan) {
			p.say("shrinking the plan of seed %d: %d steps after %d runs", f.Seed, len(best.Steps), runs)
		},
	})
	p.end()
	if short == nil {
		a.note("the plan of seed %d cannot be shrunk: %v", f.Seed, err)
		return
	}
	path := fmt.Sprintf("simulate-%d.plan", f.Seed)
	if err := os.WriteFile(path, []byte(short.Text()), 0o644); err != nil { //nolint:gosec // as any file that a user makes
		a.note("the shrunk plan of seed %d: %v", f.Seed, err)
		return
	}
	i := slices.IndexFunc(r.Failures, func(shown simulateFailure) bool { return shown.Seed == f.Seed })
	r.Failures[i].Plan, r.Failures[i].Steps = path, len(short.Plan.Steps)
}
