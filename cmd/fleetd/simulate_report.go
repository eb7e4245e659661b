package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
	"github.com/fleetsync/fleetd/simulation/report"
)

// writeReport writes the page: the campaign, one of its runs drawn, that of the
// first failure if there is one, and for fleets that nobody described how
// convergence depends on their size.
func (a *app) writeReport(ctx context.Context, s *simulated, c *campaign.Result, r *simulateResult) error {
	p := a.meter()
	defer p.end()
	d := report.Data{
		Command: "fleetd " + strings.Join(os.Args[1:], " "), Campaign: c,
		Replay: func(f campaign.Failure) string { return s.replay(f.Seed) },
	}
	plan := s.draw(s.first)
	if len(c.Failures) > 0 {
		plan = c.Failures[0].Plan
	}
	p.say("drawing the run of seed %d", plan.Seed)
	var err error
	stop := simulation.Options{Stop: func() bool { return ctx.Err() != nil }}
	if d.Run, err = report.Observe(plan, stop); err != nil { //nolint:contextcheck // it ends by Stop
		return err
	}
	if s.source == nil && s.plan == "" {
		p.say("measuring fleets of several sizes")
		sweep := report.SweepConfig{Base: s.first, Progress: func(done, total int) {
			p.say("measuring fleets of several sizes: %d of %d", done, total)
		}}
		if d.Sweep, err = report.RunSweep(ctx, sweep); err != nil {
			return err
		}
	} else if s.source != nil {
		d.Title, d.Machines = s.source.Name, s.source.Machines()
	}
	if r.Scenario != nil && r.Scenario.scenarioFigures != nil {
		r.Scenario.show(func(name, format string, args ...any) {
			d.Figures = append(d.Figures, report.Fact{Name: name, Value: fmt.Sprintf(format, args...)})
		})
	}
	if ctx.Err() != nil {
		return ctx.Err() // the run that is drawn was stopped
	}
	return report.File(s.report, d)
}
