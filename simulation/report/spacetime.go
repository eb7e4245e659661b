package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/fleetsync/fleetd/simulation"
)

// spacetime draws a part of a run: a column for each replica, time downwards,
// and each message as an arrow from when it was sent to when it arrived.
func spacetime(run *Run) figure {
	w := &run.Window
	l := newLayout(run)
	d := newDrawing(max(l.right()+sideRight, 960), l.bottom()+10)
	for _, i := range l.labels {
		d.line("grid", l.left-8, l.places[i], l.right()+8, l.places[i], "")
		d.text("tick", "end", l.left-14, l.places[i]+4, clock(l.moments[i]))
	}
	for _, n := range l.columns {
		x, _ := l.x(n)
		d.text("label", "middle", x, l.top-8, columnName(n, l))
		d.lifeline(run, l, n, x)
	}
	for i := range w.Messages {
		d.arrow(&w.Messages[i], l, run)
	}
	beside := 0.0
	for i := range w.Points {
		beside = d.point(&w.Points[i], l, beside)
	}
	f := figure{
		ID: "spacetime", Title: "Space-time diagram",
		See: fmt.Sprintf("Shown is %s: %s of virtual time, %s. A column is a replica and time runs downwards; long pauses are drawn short, the times at the left are exact. "+
			"A steep arrow is a slow message, a cross one that never came.", w.Why, duration(w.To-w.From), plural(len(w.Messages), "message")),
		Legend: spacetimeLegend(w),
		Tables: []table{messagesTable(w), pointsTable(w)},
	}
	if w.LeftOut > 0 {
		f.See += fmt.Sprintf(" %s are left out.", plural(w.LeftOut, "heartbeat"))
	}
	if l.hidden > 0 {
		f.See += fmt.Sprintf(" Of %d replicas the %d with the largest part in it are shown.", run.Replicas, len(l.columns))
	}
	f.Plot = d.picture(f.ID, f.Title, fmt.Sprintf("%s between %s, from %s to %s of virtual time.",
		plural(len(w.Messages), "message"), plural(len(l.columns), "replica"), clock(w.From), clock(w.To)))
	return f
}

func columnName(n int, l *layout) string {
	if l.step < 30 {
		return strconv.Itoa(n)
	}
	return "replica " + strconv.Itoa(n)
}

// lifeline draws the column of a replica: a line while it runs, dots while it
// does not, dashes while it is away.
func (d *drawing) lifeline(run *Run, l *layout, n int, x float64) {
	w := &run.Window
	down, away := slices.Contains(w.Down, n), slices.Contains(w.Away, n)
	from := l.top
	draw := func(to float64) {
		switch {
		case down:
			d.line("life down", x, from, x, to, fmt.Sprintf("replica %d does not run", n))
		case away:
			d.line("life away", x, from, x, to, fmt.Sprintf("replica %d is away", n))
		default:
			d.line("life", x, from, x, to, fmt.Sprintf("replica %d", n))
		}
		from = to
	}
	for _, p := range w.Points {
		if p.Replica != n && p.Kind != simulation.EventHeal {
			continue
		}
		wasDown, wasAway := down, away
		switch p.Kind {
		case simulation.EventStart:
			wasDown = false
		case simulation.EventStop:
			wasDown = true
		case simulation.EventLeave:
			wasAway = true
		case simulation.EventReturn, simulation.EventHeal:
			wasAway = false
		default:
			continue
		}
		draw(l.y(p.At))
		down, away = wasDown, wasAway
	}
	draw(l.bottom())
}

// arrow draws a message. One that is lost ends in a cross before the next
// column.
func (d *drawing) arrow(m *Message, l *layout, run *Run) {
	from, shownFrom := l.x(m.From)
	to, shownTo := l.x(m.To)
	if !shownFrom || !shownTo {
		return
	}
	y1, y2 := l.y(m.Sent), l.y(m.Arrived)
	names := "message r-" + string(m.Route)
	title := fmt.Sprintf("%s from %d to %d, %d bytes, sent %s", m.Name, m.From, m.To, m.Bytes, clock(m.Sent))
	if m.Lost != "" {
		x, y := from+0.42*l.step, y1+5
		if to < from {
			x = from - 0.42*l.step
		}
		d.line(names+" lost", from, y1, x, y, fmt.Sprintf("%s, lost: %s", title, m.Lost))
		d.path("cross r-"+string(m.Route), "M"+coordinate(x-3)+" "+coordinate(y-3)+"l6 6m0 -6l-6 6", "")
		return
	}
	if m.Sent < run.Window.From {
		y1 = l.top
		title += ", before this part"
	}
	d.element("line", fmt.Sprintf("%s, arrived after %s", title, duration(m.Arrived-m.Sent)), class(names),
		at("x1", from), at("y1", y1), at("x2", to), at("y2", y2), attribute{"marker-end", "url(#head-" + string(m.Route) + ")"})
}

// point draws what happened to a replica, or beside the diagram what happened
// to all. It returns the place below which the next words have room.
func (d *drawing) point(p *Point, l *layout, beside float64) float64 {
	x, shown := l.x(p.Replica)
	y := l.y(p.At)
	title := clock(p.At) + " " + p.Text
	switch {
	case ofAll(p.Kind):
		names := "mark"
		if p.Kind == simulation.EventViolation {
			names = "mark wrong"
		}
		d.line(names, l.left-8, y, l.right()+8, y, title)
		y = max(y, beside)
		d.text("note", "start", l.right()+14, y+4, shorten(p.Text, int((d.width-l.right()-14)/6)))
		return y + 13
	case p.Kind == simulation.EventConnect || p.Kind == simulation.EventDisconnect:
		if to, shownTo := l.x(p.Peer); shown && shownTo {
			d.line("pair "+string(p.Kind), x, y, to, y, fmt.Sprintf("%s: replicas %d and %d", title, p.Replica, p.Peer))
		}
		return beside
	case !shown:
		return beside
	}
	title = fmt.Sprintf("replica %d %s, %s", p.Replica, p.Text, clock(p.At))
	switch p.Kind {
	case simulation.EventWrite:
		d.circle("write", x, y, 5, title)
	case simulation.EventCommit:
		d.circle("commit", x, y, 3, title)
	case simulation.EventStop:
		d.path("stop", "M"+coordinate(x-6)+" "+coordinate(y-6)+"l12 12m0 -12l-12 12", title)
	case simulation.EventStart:
		d.path("start", "M"+coordinate(x-6)+" "+coordinate(y-5)+"l12 0l-6 9Z", title)
	default:
		d.line("stop", x-7, y, x+7, y, title)
	}
	return beside
}

// shorten returns at most so many letters, the last an ellipsis when there were
// more; the table has the whole.
func shorten(text string, most int) string {
	letters := []rune(text)
	if len(letters) <= most {
		return text
	}
	return string(letters[:max(most-1, 0)]) + "…"
}

func spacetimeLegend(w *Window) []legendEntry {
	var entries []legendEntry
	for _, route := range simulation.Routes() {
		if slices.ContainsFunc(w.Messages, func(m Message) bool { return m.Route == route }) {
			entries = append(entries, entry(string(route), func(d *drawing) {
				d.element("line", "", class("message r-"+string(route)), at("x1", 1), at("y1", 4), at("x2", 25), at("y2", 10),
					attribute{"marker-end", "url(#head-" + string(route) + ")"})
			}))
		}
	}
	marks := []struct {
		here  bool
		entry legendEntry
	}{
		{slices.ContainsFunc(w.Messages, func(m Message) bool { return m.Lost != "" }), entry("lost", func(d *drawing) {
			d.line("message lost", 1, 4, 14, 7, "")
			d.path("cross", "M11 4l6 6m0 -6l-6 6", "")
		})},
		{w.has(simulation.EventWrite), entry("write", func(d *drawing) { d.circle("write", 14, 7, 5, "") })},
		{w.has(simulation.EventCommit), entry("takes in versions of others", func(d *drawing) { d.circle("commit", 14, 7, 3, "") })},
		{w.has(simulation.EventStop), entry("dies", func(d *drawing) { d.path("stop", "M8 1l12 12m0 -12l-12 12", "") })},
		{w.has(simulation.EventStart), entry("starts", func(d *drawing) { d.path("start", "M8 2l12 0l-6 9Z", "") })},
		{len(w.Down) > 0 || w.has(simulation.EventStop), lineEntry("does not run", "life down")},
		{len(w.Away) > 0 || w.has(simulation.EventLeave), lineEntry("off the network", "life away")},
		{w.has(simulation.EventConnect), lineEntry("connection begins", "pair connect")},
		{w.has(simulation.EventDisconnect), lineEntry("connection ends", "pair disconnect")},
		{slices.ContainsFunc(w.Points, func(p Point) bool { return ofAll(p.Kind) }), lineEntry("concerns several; words at the right", "mark")},
	}
	for _, m := range marks {
		if m.here {
			entries = append(entries, m.entry)
		}
	}
	return entries
}

// has reports whether something of a kind happens in a window.
func (w *Window) has(kind simulation.EventKind) bool {
	return slices.ContainsFunc(w.Points, func(p Point) bool { return p.Kind == kind })
}

// ofAll reports whether a kind of point is drawn across all replicas.
func ofAll(kind simulation.EventKind) bool {
	switch kind {
	case simulation.EventHeal, simulation.EventConverged, simulation.EventViolation, simulation.EventJump,
		simulation.EventFaultBegin, simulation.EventFaultEnd:
		return true
	default:
		return false
	}
}

func messagesTable(w *Window) table {
	t := table{
		Caption: "Messages of the diagram", Head: []string{"message", "route", "from", "to", "sent", "arrived", "took", "bytes"},
		Words: 2,
	}
	for _, m := range w.Messages {
		arrived, took := clock(m.Arrived), duration(m.Arrived-m.Sent)
		if m.Lost != "" {
			arrived, took = "never ("+string(m.Lost)+")", ""
		}
		t.Rows = append(t.Rows, []string{
			m.Name, string(m.Route), strconv.Itoa(m.From), strconv.Itoa(m.To), clock(m.Sent), arrived, took, count(int64(m.Bytes)),
		})
	}
	return t.cut()
}

func pointsTable(w *Window) table {
	t := table{Caption: "What else happened in it", Head: []string{"virtual time", "replica", "peer", "what"}, Words: 4}
	number := func(n int) string {
		if n == simulation.Nobody {
			return "-"
		}
		return strconv.Itoa(n)
	}
	for _, p := range w.Points {
		t.Rows = append(t.Rows, []string{clock(p.At), number(p.Replica), number(p.Peer), p.Text})
	}
	return t.cut()
}
