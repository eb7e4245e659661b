package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// writePlan writes a plan to a new file of this directory, which is there as a
// whole or not at all. One that is there may be somebody's work: it stays, and the
// new one has another name.
func writePlan(seed uint64, text string) (path string, err error) {
	temporary, err := os.CreateTemp(".", ".simulate.*")
	if err != nil {
		return planName(seed, 1), err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // nobody has its name any more, or it is half a file
	const everybodyReads = 0o644
	_, err = temporary.WriteString(text)
	if err = errors.Join(err, temporary.Chmod(everybodyReads), temporary.Close()); err != nil {
		return planName(seed, 1), err
	}
	const namesMax = 1000
	for n := 1; n <= namesMax; n++ {
		path = planName(seed, n)
		if err = giveName(temporary.Name(), path); !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
	return path, err
}

// giveName gives a file a name that nobody has. A file system without hard links
// takes a look, and then another name.
func giveName(file, name string) error {
	err := os.Link(file, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(name); err == nil {
		return fs.ErrExist
	}
	return os.Rename(file, name)
}

// planName is the name of the n-th plan of a seed.
func planName(seed uint64, n int) string {
	if n == 1 {
		return fmt.Sprintf("simulate-%d.plan", seed)
	}
	return fmt.Sprintf("simulate-%d-%d.plan", seed, n)
}
