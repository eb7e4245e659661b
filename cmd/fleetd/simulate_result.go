package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
)

// simulateResult is the outcome of fleetd simulate.
type simulateResult struct {
	SchemaVersion int `json:"schema_version"`
	// Seeds were run, of those that were asked for, from FirstSeed on.
	Seeds     int    `json:"seeds"`
	Asked     int    `json:"asked"`
	FirstSeed uint64 `json:"first_seed"`
	// Plan is the file that was run instead.
	Plan string `json:"plan,omitempty"`
	// Seconds the runs took, on the clock of this machine. To shrink and to write
	// the report runs others besides.
	Seconds       float64 `json:"seconds"`
	ShrinkSeconds float64 `json:"shrink_seconds,omitempty"`
	ReportSeconds float64 `json:"report_seconds,omitempty"`
	// NodeHours of virtual time were lived, and AsleepHours passed while all
	// slept, summed over the nodes of all runs.
	NodeHours   float64 `json:"node_hours"`
	AsleepHours float64 `json:"asleep_hours"`
	// Faults counts them by their kind.
	Faults   map[string]int    `json:"faults"`
	Failures []simulateFailure `json:"failures"`
	// TraceHash is that of the run of one seed or plan, TracesHash that over the
	// hashes of several, in their order. Both follow from the seeds alone, and are
	// left out when not all were run.
	TraceHash  string `json:"trace_hash,omitempty"`
	TracesHash string `json:"traces_hash,omitempty"`
	// Convergence is from the last fault to one fleet, of the runs without a
	// failure; left out when there are none.
	Convergence *quantilesResult `json:"convergence,omitempty"`
	// Scenario is there when one was run.
	Scenario *scenarioResult `json:"scenario,omitempty"`
	// Report is the page that was written.
	Report string `json:"report,omitempty"`
}

// simulateFailure is a seed that failed.
type simulateFailure struct {
	Seed      uint64               `json:"seed"`
	Invariant simulation.Invariant `json:"invariant"`
	Message   string               `json:"message"`
	Replay    string               `json:"replay"`
	// Plan is the file with its shrunk plan, of so many Steps.
	Plan  string `json:"plan,omitempty"`
	Steps int    `json:"steps,omitempty"`
}

func (s *simulated) result(c *campaign.Result, m *measures, took time.Duration) *simulateResult {
	hours := func(h float64) float64 { return math.Round(h*1000) / 1000 }
	r := &simulateResult{
		SchemaVersion: wire.SchemaVersion, Seeds: c.Seeds, Asked: s.count, FirstSeed: s.first, Plan: s.plan, Seconds: seconds(took),
		NodeHours: hours(c.NodeHours), AsleepHours: hours(c.Asleep), Faults: map[string]int{},
		Failures: []simulateFailure{}, TraceHash: c.TraceHash,
	}
	if c.Seeds > len(c.Failures) {
		r.Convergence = &quantilesResult{seconds(c.Convergence.P50), seconds(c.Convergence.P99), seconds(c.Convergence.Max)}
	}
	for kind, count := range c.Coverage.Faults {
		r.Faults[strings.ReplaceAll(string(kind), " ", "_")] = count
	}
	for _, f := range c.Failures {
		r.Failures = append(r.Failures, simulateFailure{
			Seed: f.Seed, Invariant: f.Invariant, Message: messageOf(f.Err, f.Invariant), Replay: s.replay(f.Seed),
		})
	}
	if s.count > 1 {
		r.TracesHash = c.TracesHash
	}
	if s.source != nil {
		r.Scenario = m.sum(s)
	}
	return r
}

// messageOf is what went wrong, without what is said beside it.
func messageOf(err error, i simulation.Invariant) string {
	text := strings.TrimPrefix(err.Error(), simulation.ErrFailed.Error()+": ")
	return strings.TrimPrefix(text, string(i)+": ")
}

// verdict is what the exit code says; nil is 0.
func (r *simulateResult) verdict(interrupted bool) *failure {
	switch {
	case interrupted:
		return &failure{
			text: fmt.Sprintf("interrupted after %d of %s, %s", r.Seeds, counted(r.Asked, "seed"), counted(len(r.Failures), "failure")),
			code: exitError, kind: kindInterrupted,
		}
	case len(r.Failures) == 0:
		return nil
	}
	first := r.Failures[0]
	f := &failure{text: fmt.Sprintf("%d of %s failed", len(r.Failures), counted(r.Seeds, "seed")), code: exitNotConverged, next: first.Replay}
	if first.Plan != "" {
		f.next = "fleetd simulate --plan " + first.Plan + " --trace"
	}
	for _, failed := range r.Failures {
		if failed.Invariant != simulation.InvariantLiveness && failed.Invariant != simulation.InvariantAgreement {
			f.code = exitError // worse than to be late
		}
	}
	return f
}

// showSimulated tells people.
func (a *app) showSimulated(w io.Writer, r *simulateResult) {
	for _, f := range r.Failures {
		what := excerptOf(f.Message)
		say(w, "seed %d breaks %s: %s", f.Seed, f.Invariant, what)
		if r.Scenario != nil {
			if who := r.Scenario.mentioned(what); who != "" {
				say(w, "  %s", who)
			}
		}
		say(w, "  replay: %s", f.Replay)
		if f.Plan != "" {
			say(w, "  shrunk to %s in %.1f s: fleetd simulate --plan %s --trace", counted(f.Steps, "step"), r.ShrinkSeconds, f.Plan)
		}
	}
	row := func(name, format string, args ...any) { say(w, "%-14s%s", name, fmt.Sprintf(format, args...)) }
	took := fmt.Sprintf("in %.1f s, %s", r.Seconds, counted(len(r.Failures), "failure"))
	switch {
	case r.Plan != "":
		row("plan", "%s, %s", r.Plan, took)
	case r.Asked == 1:
		row("seed", "%d, %s", r.FirstSeed, took)
	default:
		row("seeds", "%s %s", seedsText(r), took)
	}
	row("node-hours", "%s lived, %s asleep", hoursText(r.NodeHours), hoursText(r.AsleepHours))
	total := 0
	for _, n := range r.Faults {
		total += n
	}
	row("faults", "%s of %d kinds", grouped(int64(total)), len(r.Faults))
	if r.Convergence != nil {
		row("one fleet", "%s after the last fault", r.Convergence.text(r.Seeds-len(r.Failures)))
	}
	if r.Scenario != nil && r.Scenario.scenarioFigures != nil {
		r.Scenario.show(row)
	}
	if r.TraceHash != "" {
		row("trace", "%s", r.TraceHash)
	}
	if r.TracesHash != "" {
		row("traces", "%s", r.TracesHash)
	}
	if r.Report != "" {
		row("report", "%s, in %.1f s", r.Report, r.ReportSeconds)
	}
}

// show tells what people ask of their own fleet.
func (r *scenarioFigures) show(row func(name, format string, args ...any)) {
	row("writes", "%s, everywhere after %s", grouped(int64(r.Writes)), r.Everywhere.text(r.Writes))
	row("returns", "%s, caught up after %s", grouped(int64(r.Returns)), r.CatchUp.text(r.Returns))
	row("conflicts", "%s lost to a concurrent one", counted(r.Conflicts, "write"))
	var all float64
	var parts []string
	for _, route := range simulation.Routes() {
		if t := r.Traffic[route]; t.Bytes > 0 {
			all += t.BytesPerAgentDay
			parts = append(parts, fmt.Sprintf("%s %s", route, bytesText(t.BytesPerAgentDay)))
		}
	}
	row("traffic", "%s an agent a day: %s", bytesText(all), strings.Join(parts, ", "))
}

// text is the quantiles of so many for people.
func (q *quantilesResult) text(count int) string {
	switch {
	case q == nil:
		return "-"
	case count == 1:
		return secondsText(q.Max)
	}
	return fmt.Sprintf("%s (half), %s (99 of 100), %s (all)", secondsText(q.P50), secondsText(q.P99), secondsText(q.Max))
}

func secondsText(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	default:
		return d.Round(time.Minute).String()
	}
}

func seedsText(r *simulateResult) string {
	text := fmt.Sprintf("%s from %d on", grouped(int64(r.Seeds)), r.FirstSeed)
	if r.Seeds < r.Asked {
		text += fmt.Sprintf(" (of %s)", grouped(int64(r.Asked)))
	}
	return text
}

// counted is a number of things.
func counted(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing
	case 1:
		return "1 " + thing
	}
	return grouped(int64(n)) + " " + thing + "s"
}

func hoursText(h float64) string {
	if h > 0 && h < 10 {
		return fmt.Sprintf("%.1f", h)
	}
	return grouped(int64(h))
}

// excerptOf is the beginning of a message that may have many lines: the first
// says it, others are roots and stacks, for programs and traces.
func excerptOf(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return cut(oneLine(first), 4*cellColumnsMax)
}

// grouped is a number with commas.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// bytesText is an amount for people.
func bytesText(n float64) string {
	for _, unit := range []string{"B", "KB", "MB", "GB"} {
		if n < 1000 || unit == "GB" {
			return fmt.Sprintf("%.3g %s", n, unit)
		}
		n /= 1000
	}
	return ""
}
