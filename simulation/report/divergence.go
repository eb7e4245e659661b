package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/simulation"
)

// rowsMax is how many rows a table of many has at most; it says so.
const rowsMax = 400

// divergence draws what members lack over time, above the faults that lasted,
// one lane for each kind.
func divergence(run *Run) figure {
	const left, right, top, bottom, lane = 90.0, 940.0, 16.0, 260.0, 18.0
	kinds := spanKinds(run.Spans)
	height := bottom + 50 + lane*float64(len(kinds)) + 10
	d := newDrawing(960, height)
	x := timeAxis(run.Length, left, right)
	peak := 0
	for _, s := range run.Samples {
		peak = max(peak, s.Peak)
	}
	y := countAxis(float64(peak), bottom, top, "versions missing", func(v float64) string { return count(int64(v)) })
	for _, s := range run.Spans {
		title := fmt.Sprintf("%s: %s, %s to %s", s.Kind, s.Who, clock(s.From), clock(s.To))
		from, width := x.at(float64(s.From)), max(x.at(float64(s.To))-x.at(float64(s.From)), 1)
		d.rectangle("shade "+spanClass(s.Kind), from, top, width, bottom-top, title)
		d.rectangle("span "+spanClass(s.Kind), from, bottom+48+lane*float64(slices.Index(kinds, s.Kind)), width, lane-6, title)
	}
	for i, kind := range kinds {
		d.text("tick", "end", left-6, bottom+58+lane*float64(i), kind)
	}
	d.bottom(x, bottom, top)
	d.left(y, left, right)
	d.marks(run.Marks, x, top, bottom)
	var steps strings.Builder
	for i, s := range run.Samples {
		to, level := coordinate(x.at(float64(s.At))), coordinate(y.at(float64(s.Peak)))
		if i == 0 {
			steps.WriteString("M" + to + " " + level)
		} else {
			steps.WriteString("V" + level + "H" + to)
		}
	}
	if steps.Len() > 0 {
		d.path("curve", steps.String(), "")
	}
	f := figure{
		ID: "divergence", Title: "Divergence over virtual time",
		See: "A write raises the curve by one for each member that lacks it, and each arrival lowers it. " +
			"It must rise while the fleet is apart, and be 0 in the end, after the last fault.",
		Legend: []legendEntry{lineEntry("versions that members lack of what all members together hold: the largest in each interval", "curve")},
		Tables: []table{samplesTable(run.Samples), spansTable(run.Spans)},
	}
	for _, kind := range kinds {
		f.Legend = append(f.Legend, boxEntry(kind, "span "+spanClass(kind)))
	}
	f.Legend = append(f.Legend, lineEntry("all faults end; one fleet; everybody sleeps; something is wrong", "mark"))
	f.Plot = d.picture(f.ID, f.Title, fmt.Sprintf("A curve of missing versions over %s of virtual time, at most %s, with %s of faults below.",
		duration(run.Length), count(int64(peak)), plural(len(run.Spans), "span")))
	return f
}

// marks draws the moments that stand out.
func (d *drawing) marks(marks []Mark, x *axis, top, bottom float64) {
	for _, m := range marks {
		at := x.at(float64(m.At))
		names := "mark"
		if m.Kind == simulation.EventViolation {
			names = "mark wrong"
		}
		d.line(names, at, top-6, at, bottom, clock(m.At)+" "+m.Text)
	}
}

// spanKinds returns the kinds of spans, the commonest ways to be apart first.
func spanKinds(spans []Span) []string {
	var kinds []string
	for _, s := range spans {
		if !slices.Contains(kinds, s.Kind) {
			kinds = append(kinds, s.Kind)
		}
	}
	rank := func(kind string) int {
		return slices.Index([]string{string(simulation.FaultPartition), string(simulation.FaultAsymmetric), "away", "down"}, kind)
	}
	slices.SortStableFunc(kinds, func(a, b string) int {
		ra, rb := rank(a), rank(b)
		switch {
		case ra >= 0 && rb >= 0:
			return ra - rb
		case ra >= 0:
			return -1
		case rb >= 0:
			return 1
		}
		return strings.Compare(a, b)
	})
	return kinds
}

// spanClass names the style of a kind of span.
func spanClass(kind string) string {
	switch kind {
	case string(simulation.FaultPartition):
		return "s-partition"
	case string(simulation.FaultAsymmetric):
		return "s-oneway"
	case "away":
		return "s-away"
	case "down":
		return "s-down"
	}
	return "s-other"
}

// samplesTable leaves out the samples at which nothing changed.
func samplesTable(samples []Sample) table {
	t := table{Caption: "Versions missing, where that changed", Head: []string{"virtual time", "missing", "most since the row before"}, Words: 1}
	last := Sample{Missing: -1}
	for _, s := range samples {
		if s.Missing != last.Missing || s.Peak != last.Peak {
			t.Rows = append(t.Rows, []string{clock(s.At), count(int64(s.Missing)), count(int64(s.Peak))})
		}
		last = s
	}
	return t.cut()
}

func spansTable(spans []Span) table {
	t := table{Caption: "Faults that lasted", Head: []string{"fault", "whom", "from", "to", "length"}, Words: 4}
	for _, s := range spans {
		t.Rows = append(t.Rows, []string{s.Kind, s.Who, clock(s.From), clock(s.To), duration(s.To - s.From)})
	}
	return t.cut()
}

// cut leaves the first rows of too many.
func (t table) cut() table {
	if len(t.Rows) > rowsMax {
		t.Caption += fmt.Sprintf(" (the first %d of %s)", rowsMax, plural(len(t.Rows), "row"))
		t.Rows = t.Rows[:rowsMax]
	}
	return t
}
