package report

import (
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// traffic draws what was sent over time, one part of each bar for each route.
func traffic(run *Run) figure {
	const left, right, top, bottom = 90.0, 940.0, 16.0, 260.0
	d := newDrawing(960, bottom+44)
	x := timeAxis(run.Length, left, right)
	seconds := run.TrafficEvery.Seconds()
	most := 0.0
	totals := map[simulation.Route]simulation.Traffic{}
	for _, b := range run.Traffic {
		sum := 0.0
		for _, route := range simulation.Routes() {
			t := totals[route]
			totals[route] = simulation.Traffic{Messages: t.Messages + b[route].Messages, Bytes: t.Bytes + b[route].Bytes}
			sum += float64(b[route].Bytes)
		}
		most = max(most, sum/seconds)
	}
	unit, name := 1.0, "bytes a second"
	for _, larger := range []string{"kB a second", "MB a second", "GB a second"} {
		if most/unit < 10_000 {
			break
		}
		unit, name = unit*1000, larger
	}
	y := countAxis(most, bottom, top, name, func(v float64) string { return count(int64(v / unit)) })
	d.bottom(x, bottom, top)
	d.left(y, left, right)
	for i, b := range run.Traffic {
		from := time.Duration(i) * run.TrafficEvery
		to := min(from+run.TrafficEvery, run.Length)
		base := 0.0
		for _, route := range simulation.Routes() {
			if b[route].Bytes == 0 {
				continue
			}
			rate := float64(b[route].Bytes) / seconds
			title := fmt.Sprintf("%s, %s to %s: %s, %s", route, clock(from), clock(to), size(float64(b[route].Bytes)), plural(b[route].Messages, "message"))
			d.rectangle("bar r-"+string(route), x.at(float64(from)), y.at(base+rate), max(x.at(float64(to))-x.at(float64(from))-0.5, 0.5), y.at(base)-y.at(base+rate), title)
			base += rate
		}
	}
	f := figure{
		ID: "traffic", Title: "Traffic by route over virtual time",
		See: "Heartbeats are the floor that an idle fleet pays. Writes go out by gossip; feed, get and page are repair, " +
			"and stand where members missed something: after cuts, absences and restarts.",
		Tables: []table{routesTable(totals)},
	}
	for _, route := range simulation.Routes() {
		if totals[route].Messages > 0 {
			f.Legend = append(f.Legend, boxEntry(string(route)+": "+routeText(route), "bar r-"+string(route)))
		}
	}
	f.Plot = d.picture(f.ID, f.Title, fmt.Sprintf("Stacked bars of bytes a second over %s of virtual time, each of %s.", duration(run.Length), duration(run.TrafficEvery)))
	return f
}

// routeText says in a few words what goes by a route.
func routeText(r simulation.Route) string {
	switch r {
	case simulation.RouteGossip:
		return "new writes, to everybody at once, each hop counted"
	case simulation.RouteHeartbeat:
		return "two members compare what they hold"
	case simulation.RouteHello:
		return "connections begin"
	case simulation.RouteFeed:
		return "what a partner has committed since"
	case simulation.RouteGet:
		return "single records"
	case simulation.RoutePage:
		return "whole sections in key order"
	default:
		return "everything else"
	}
}

func routesTable(totals map[simulation.Route]simulation.Traffic) table {
	t := table{Caption: "What was sent, lost messages included", Head: []string{"route", "messages", "bytes", "share of bytes"}, Words: 1, Open: true}
	var all simulation.Traffic
	for _, route := range simulation.Routes() {
		all.Messages += totals[route].Messages
		all.Bytes += totals[route].Bytes
	}
	row := func(name string, of simulation.Traffic) {
		share := 100 * float64(of.Bytes) / float64(max(all.Bytes, 1))
		t.Rows = append(t.Rows, []string{name, count(int64(of.Messages)), count(of.Bytes), decimal(share, 3) + " %"})
	}
	for _, route := range simulation.Routes() {
		if totals[route].Messages > 0 {
			row(string(route), totals[route])
		}
	}
	row("all", all)
	return t
}
