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
	path, err := writePlan(f.Seed, short.Text())
	if err != nil {
		a.note("the shrunk plan of seed %d: %v", f.Seed, err)
		return
	}
	if usual := planName(f.Seed, 1); path != usual {
		a.note("%s is there already: the plan is in %s", usual, path)
	}
	i := slices.IndexFunc(r.Failures, func(shown simulateFailure) bool { return shown.Seed == f.Seed })
	r.Failures[i].Plan, r.Failures[i].Steps = path, len(short.Plan.Steps)
}

// writePlan writes a plan to a new file of this directory. One that is there may
// be somebody's work: it stays, and the new one has another name.
func writePlan(seed uint64, text string) (path string, err error) {
	const namesMax = 1000
	for n := 1; n <= namesMax; n++ {
		path = planName(seed, n)
		var file *os.File
		file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // as any file that a user makes
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return path, err
		}
		_, err = file.WriteString(text)
		return path, errors.Join(err, file.Close())
	}
	return path, err
}

// planName is the name of the n-th plan of a seed.
func planName(seed uint64, n int) string {
	if n == 1 {
		return fmt.Sprintf("simulate-%d.plan", seed)
	}
	return fmt.Sprintf("simulate-%d-%d.plan", seed, n)
}
