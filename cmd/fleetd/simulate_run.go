package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
)

// randomSeed returns a first seed that nobody chose, short enough to be typed.
func randomSeed() (uint64, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("choose a seed: %w", err)
	}
	return 1 + binary.BigEndian.Uint64(b[:])%1_000_000_000_000, nil
}

// simulate runs the seeds and prints what came of them.
func (a *app) simulate(ctx context.Context, s *simulated) error {
	if s.needsOwn {
		a.note("%s was found with a workload or a check of its own, in Go: here its steps run without them, and may well not fail", s.plan)
	}
	p := a.meter()
	m := newMeasures()
	cfg := s.config(m)
	cfg.Progress = p.seed
	trace, done := a.tracing(s)
	cfg.Options = func() simulation.Options { return simulation.Options{Trace: trace, Sample: s.sample()} }
	p.say("%s", s.title())
	began := time.Now()
	result, err := campaign.Run(ctx, cfg)
	took := time.Since(began)
	p.end()
	done()
	r := s.result(result, m, took)
	if err != nil && ctx.Err() == nil {
		return unreadable(err, "the plan cannot be carried out")
	}
	if ctx.Err() == nil && s.shrink && len(result.Failures) > 0 {
		began := time.Now()
		a.shrink(ctx, &result.Failures[0], r)
		r.ShrinkSeconds = seconds(time.Since(began))
	}
	var unwritten error
	if ctx.Err() == nil && s.report != "" {
		began := time.Now()
		if unwritten = a.writeReport(ctx, s, result, r); unwritten == nil {
			r.Report, r.ReportSeconds = s.report, seconds(time.Since(began))
		}
	}
	return a.conclude(r, ctx.Err() != nil, unwritten)
}

// conclude prints the figures. They are the result of a failure too, and of a
// page that could not be written, which matters less than a seed that fails.
func (a *app) conclude(r *simulateResult, interrupted bool, unwritten error) error {
	f := r.verdict(interrupted)
	if f == nil && unwritten == nil {
		return a.print(r, func(w io.Writer) { a.showSimulated(w, r) })
	}
	if a.output != outputJSON {
		a.showSimulated(a.out, r)
	}
	switch {
	case f == nil:
		f = &failure{
			text: fmt.Sprintf("the page was not written: %v", unwritten), code: exitError,
			next: fmt.Sprintf("the result stands; for the page name another --report, and --seed %d for the same runs", r.FirstSeed),
		}
	case unwritten != nil && !interrupted:
		a.note("the page was not written: %s", oneLine(unwritten.Error()))
	}
	f.result = r
	return f
}

// config says how to run it.
func (s *simulated) config(m *measures) campaign.Config {
	cfg := campaign.Config{First: s.first, Count: s.count, Plan: s.draw}
	if s.source != nil {
		cfg.Check = m.take
	}
	if s.count < seedsDrawn {
		cfg.RepeatEvery = -1 // it would be a large part of so few
	}
	return cfg
}

// sample is how often a run measures; what a scenario asks for is measured.
func (s *simulated) sample() time.Duration {
	if s.source == nil {
		return 0
	}
	return 24 * time.Hour // as events, which nobody listens to
}

// title says what begins.
func (s *simulated) title() string {
	what := "fleets"
	switch {
	case s.plan != "":
		return "the plan of " + s.plan
	case s.source != nil && s.source.Name != "":
		what = s.source.Name
	case s.source != nil:
		what = s.scenario
	}
	if s.count == 1 {
		return fmt.Sprintf("%s: seed %d", what, s.first)
	}
	return fmt.Sprintf("%s: seeds %d to %d", what, s.first, s.first+uint64(s.count)-1)
}

// tracing returns where the trace goes, nil for nowhere: to standard output, or
// beside it when that is for JSON. done writes what is left.
func (a *app) tracing(s *simulated) (trace io.Writer, done func()) {
	if !s.trace {
		return nil, func() {}
	}
	to := a.out
	if a.output == outputJSON {
		to = a.errOut
	}
	buffer := bufio.NewWriterSize(to, 1<<16)
	if s.source != nil { // the trace names machines by number
		for n, name := range s.source.Machines() {
			say(buffer, "# r%d is %s", n, oneLine(name))
		}
	}
	return buffer, func() { _ = buffer.Flush() } // the stream remembers what fails
}

// replay is the command that gives the run of a seed again.
func (s *simulated) replay(seed uint64) string {
	command := "fleetd simulate"
	switch {
	case s.plan != "":
		return command + " --plan " + quoted(s.plan) + " --trace"
	case s.scenario != "":
		command += " --scenario " + quoted(s.scenario)
	case s.nodes > 0:
		command += fmt.Sprintf(" --nodes %d", s.nodes)
	}
	return command + fmt.Sprintf(" --seed %d --trace", seed)
}
