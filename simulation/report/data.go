package report

import (
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
)

// Data is what a page shows. What is nil is left out.
type Data struct {
	// Title heads the page; empty is "Simulation of a fleet".
	Title string
	// Command is how the page was made, shown as it is; empty for nothing.
	Command string
	// Campaign is the sum of many runs.
	Campaign *campaign.Result
	// Figures stand behind those of the campaign: what somebody has measured
	// besides, over all its runs.
	Figures []Fact
	// Replay returns the command that replays a failure; nil is how that is done
	// in Go. A command of fleetd gives the run again only of what fleetd ran: it
	// knows nothing of the plans, workloads and checks of other programs.
	Replay func(campaign.Failure) string
	// Machines are what the replicas are called, by number; nil when nobody named
	// them.
	Machines []string
	// Run is one run, drawn.
	Run *Run
	// Sweep is how convergence depends on size and loss.
	Sweep *Sweep
}

// Fact is one figure for people.
type Fact struct{ Name, Value string }

func (d *Data) title() string {
	if d.Title == "" {
		return "Simulation of a fleet"
	}
	return d.Title
}

// replay says how the failure at a place is seen again.
func (d *Data) replay(place int) string {
	if d.Replay != nil {
		return d.Replay(d.Campaign.Failures[place])
	}
	return fmt.Sprintf("in Go: simulation.Run(result.Failures[%d].Plan, options, check), with the Options and the Check of the campaign", place)
}

// Run is what one run did. Its times are virtual, from the beginning of the
// run, without the jumps in which everybody sleeps.
type Run struct {
	// Title says in one line what was run.
	Title    string
	Replicas int
	// Length is how long it took.
	Length time.Duration
	// Failure is what went wrong; empty for nothing.
	Failure string
	// TraceSum is the hash of the run.
	TraceSum string
	// Samples are the divergence over time.
	Samples []Sample
	// Spans are what lasted, in the order in which it began.
	Spans []Span
	// Marks are the moments that stand out.
	Marks []Mark
	// Traffic is what was sent, by equal pieces of time, each TrafficEvery long.
	Traffic      []Bucket
	TrafficEvery time.Duration
	// Propagation is how long writes took to be everywhere.
	Propagation simulation.Propagation
	// Window is a part of the run, message by message.
	Window Window
}

// Sample is how many versions members lack: at a moment, and at most since the
// sample before.
type Sample struct {
	At            time.Duration
	Missing, Peak int
}

// Span is something that lasted.
type Span struct {
	// Kind is the name of a fault, or "down" or "away".
	Kind string
	// Who says whom it concerns.
	Who      string
	From, To time.Duration
}

// Mark is a moment.
type Mark struct {
	At   time.Duration
	Kind simulation.EventKind
	Text string
}

// Bucket is what was sent in one piece of time.
type Bucket map[simulation.Route]simulation.Traffic

// Window is a part of a run in which every message is shown.
type Window struct {
	// From and To bound it.
	From, To time.Duration
	// Why says what was chosen.
	Why string
	// Down and Away are the replicas that did not run, or were off the network,
	// at its beginning.
	Down, Away []int
	// Messages are those that arrived, or were lost, in order.
	Messages []Message
	// LeftOut is how many heartbeats there were besides, too many to show.
	LeftOut int
	// Points are what happened to single replicas, or to all.
	Points []Point
}

// Message is one that arrived, or was lost.
type Message struct {
	Route    simulation.Route
	Name     string
	From, To int
	Bytes    int
	// Sent is when, which may be before the window.
	Sent time.Duration
	// Arrived is when it did, or when it was lost.
	Arrived time.Duration
	// Lost is the fault that took it; empty for none.
	Lost simulation.Fault
}

// Point is something that happened to a replica, between two, or to all.
type Point struct {
	At            time.Duration
	Kind          simulation.EventKind
	Replica, Peer int // simulation.Nobody for all
	Text          string
}
