package report

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/fleetsync/fleetd/simulation/campaign"
)

// failureRow is one seed that failed.
type failureRow struct{ Seed, Invariant, Text, Replay string }

func campaignFacts(r *campaign.Result) []Fact {
	failures := "none"
	if n := len(r.Failures); n > 0 {
		failures = count(int64(n))
	}
	// What no run has shown is unknown, not short.
	took := func(d time.Duration) string {
		if r.Seeds <= len(r.Failures) {
			return "–"
		}
		return duration(d)
	}
	return []Fact{
		{"seeds", count(int64(r.Seeds))},
		{"run twice, the same both times", count(int64(r.Repeated))},
		{"node-hours", hours(r.NodeHours)},
		{"node-hours asleep besides", hours(r.Asleep)},
		{"faults", count(int64(r.Faults()))},
		{"kinds of faults", count(int64(len(r.Coverage.Faults)))},
		{"failures", failures},
		{"time to one fleet, median", took(r.Convergence.P50)},
		{"time to one fleet, 99 of 100 within", took(r.Convergence.P99)},
		{"time to one fleet, longest", took(r.Convergence.Max)},
	}
}

func hours(h float64) string {
	if h >= 1000 {
		return count(int64(h))
	}
	return decimal(h, 3)
}

func failures(d *Data) []failureRow {
	var rows []failureRow
	for i, f := range d.Campaign.Failures {
		rows = append(rows, failureRow{strconv.FormatUint(f.Seed, 10), string(f.Invariant), firstLine(f.Err.Error()), d.replay(i)})
	}
	return rows
}

const faultsID = "faults"

// faultsFigure draws how often each kind of fault happened.
func faultsFigure(r *campaign.Result) figure {
	kinds := slices.Sorted(maps.Keys(r.Coverage.Faults))
	most := 1
	for _, k := range kinds {
		most = max(most, r.Coverage.Faults[k])
	}
	// As narrow as the screen of a telephone: nothing here needs more, and who
	// does not see the end of a bar takes it for a shorter one.
	const width, left, right, lane = 340.0, 128.0, 264.0, 18.0
	d := newDrawing(width, 30+lane*float64(len(kinds))+44)
	bottom := 14 + lane*float64(len(kinds))
	x := logAxis(1, float64(most), left, right, "times it happened (logarithmic)").sparse()
	d.bottom(x, bottom, 8)
	t := table{Caption: "Faults by kind", Head: []string{"fault", "times"}, Words: 1}
	for i, k := range kinds {
		n := r.Coverage.Faults[k]
		y := 12 + lane*float64(i)
		d.text("tick", "end", left-8, y+11, string(k))
		d.rectangle("bar fault", left, y, max(x.at(float64(max(n, 1)))-left, 1), lane-5, string(k)+": "+count(int64(n)))
		d.text("tick", "start", x.at(float64(max(n, 1)))+6, y+11, count(int64(n)))
		t.Rows = append(t.Rows, []string{string(k), count(int64(n))})
	}
	f := figure{
		ID: faultsID, Title: "Faults by kind",
		See:    "A kind that is rare is tested little, whatever the number of seeds: a campaign proves nothing of a fault that did not happen.",
		Legend: []legendEntry{boxEntry("times that a fault of the kind took effect, over all seeds", "bar fault")},
		Tables: []table{t, markersTable(r)},
	}
	f.Plot = d.picture(f.ID, f.Title, plural(len(kinds), "kind")+" of faults and how often each happened.")
	return f
}

func markersTable(r *campaign.Result) table {
	t := table{Caption: "What must happen now and then", Head: []string{"marker", "times"}, Words: 1}
	for _, m := range slices.Sorted(maps.Keys(r.Coverage.Markers)) {
		t.Rows = append(t.Rows, []string{string(m), count(int64(r.Coverage.Markers[m]))})
	}
	return t
}

// runFacts are the figures of the run that is drawn.
func runFacts(r *Run) []Fact {
	p := r.Propagation
	facts := []Fact{
		{"replicas", strconv.Itoa(r.Replicas)},
		{"virtual time", duration(r.Length)},
		{"writes", count(int64(p.Writes))},
		{"of them everywhere", count(int64(len(p.Times)))},
	}
	if len(p.Times) > 0 {
		facts = append(facts, Fact{"time until everywhere, median", duration(p.Quantile(0.5))},
			Fact{"time until everywhere, 99 of 100 within", duration(p.Quantile(0.99))},
			Fact{"time until everywhere, longest", duration(p.Quantile(1))})
	}
	outcome := "one fleet that holds what it owes"
	if r.Failure != "" {
		outcome = firstLine(r.Failure)
	}
	return append(facts, Fact{"outcome", outcome})
}

// machinesTable is the legend to the numbers of replicas, which the page shows
// everywhere else.
func machinesTable(names []string) *table {
	const openMax = 12 // longer ones are there for who looks
	t := table{Caption: "What the replicas are called", Head: []string{"replica", "machine"}, Words: 2, Open: len(names) <= openMax}
	for n, name := range names {
		t.Rows = append(t.Rows, []string{strconv.Itoa(n), name})
	}
	return &t
}
