package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// write writes the page.
func write(w *bytes.Buffer, rows []row) {
	w.WriteString(intro)
	times(w, rows)
	w.WriteString(curveIntro)
	curve(w, rows)
	w.WriteString(trafficIntro)
	traffic(w, rows)
	w.WriteString(reading)
}

// times is the table of durations, in seconds.
func times(w *bytes.Buffer, rows []row) {
	fmt.Fprint(w, "| replicas | gossip | a write everywhere: half | 99 of 100 | all | newcomer | after a partition |\n|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(w, "| %d | %s | %s | %s | %s | %s | %s |\n", r.replicas, onOff(r.gossip),
			seconds(r.p50), seconds(r.p99), seconds(r.max), seconds(r.newcomer), seconds(r.healed))
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// width is how many characters the longest bar has.
const width = 60

// curve draws how long the last of the writes needed, a bar for each fleet.
func curve(w *bytes.Buffer, rows []row) {
	longest := time.Duration(0)
	for _, r := range rows {
		longest = max(longest, r.max)
	}
	fmt.Fprintln(w, "```")
	for _, r := range rows {
		bar := int(math.Round(width * float64(r.max) / float64(max(longest, 1))))
		fmt.Fprintf(w, "%5d gossip %-3s |%-*s| %s\n", r.replicas, onOff(r.gossip), width, strings.Repeat("#", bar), seconds(r.max))
	}
	fmt.Fprintln(w, "```")
}

// traffic is the table of messages and bytes, for each replica.
func traffic(w *bytes.Buffer, rows []row) {
	fmt.Fprint(w, "| replicas | gossip | burst: messages | bytes | of them gossip | heartbeats | feed | pages and records | idle: messages a minute | bytes a minute |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		all, idle := total(r.burst), total(r.idle)
		share := func(routes ...simulation.Route) string {
			bytes := int64(0)
			for _, route := range routes {
				bytes += r.burst[route].Bytes
			}
			if all.Bytes == 0 {
				return "0 %"
			}
			return fmt.Sprintf("%.0f %%", 100*float64(bytes)/float64(all.Bytes))
		}
		each := func(n float64) string { return fmt.Sprintf("%.0f", n/float64(r.replicas)) }
		fmt.Fprintf(w, "| %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.replicas, onOff(r.gossip),
			each(float64(all.Messages)), each(float64(all.Bytes)),
			share(simulation.RouteGossip), share(simulation.RouteHeartbeat), share(simulation.RouteFeed),
			share(simulation.RoutePage, simulation.RouteGet), each(float64(idle.Messages)), each(float64(idle.Bytes)))
	}
}

func total(sent map[simulation.Route]simulation.Traffic) simulation.Traffic {
	var all simulation.Traffic
	for _, t := range sent {
		all.Messages += t.Messages
		all.Bytes += t.Bytes
	}
	return all
}
