package report

import (
	"errors"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// Observe runs a plan and returns what it did; see Record. Of the options,
// Observe and Sample are its own.
func Observe(plan simulation.Plan, options simulation.Options) (*Run, error) {
	return Record(plan.String(), func(o simulation.Options) (*simulation.Cluster, error) {
		options.Observe, options.Sample = o.Observe, o.Sample
		return simulation.Run(plan, options, nil)
	})
}

// Record returns what a run did. It calls run twice, with options that
// simulation.New must be given: once to find what to show, and once to record
// it. Whatever run does besides must be the same each time. A run that fails is
// recorded too. Errors: what run returns without a cluster, and that the second
// run was another one.
func Record(title string, run func(simulation.Options) (*simulation.Cluster, error)) (*Run, error) {
	s := newScout()
	first, err := run(simulation.Options{Observe: s.see, Sample: time.Hour})
	if first == nil {
		return nil, errors.Join(errors.New("report: there is no run to show"), err)
	}
	length := s.length - first.Clock().Jumped()
	r := newRecorder(title, first.Replicas(), length, s.best)
	second, err := run(simulation.Options{Observe: r.see, Sample: sampleEvery(length)})
	if second == nil || first.TraceSum() != second.TraceSum() {
		return nil, fmt.Errorf("report: %s: the second run was another one, so there is nothing to show: a run must follow from its plan alone", title)
	}
	r.finish(second, err)
	return &r.run, nil
}

// sampleEvery returns the time between samples of divergence in a run of a
// length: about 400 of them.
func sampleEvery(length time.Duration) time.Duration { return roundUp(length / 400) }

// trafficEvery returns the time of one bucket of traffic: about 60 of them.
func trafficEvery(length time.Duration) time.Duration { return roundUp(length / 60) }

// recorder makes a Run of events.
type recorder struct {
	run     Run
	ordinal int
	shown   stretch
	jumps   []jump
	open    map[openSpan]int // the place of a span in run.Spans
	down    map[int]bool
	away    map[int]bool
}

// jump is a time in which everybody slept, in elapsed virtual time.
type jump struct{ from, to time.Duration }

// openSpan names a span that has not ended. Two faults of one kind and the same
// replicas may overlap; they began at different times.
type openSpan struct {
	kind, who string
	from      time.Duration
}

func newRecorder(title string, replicas int, length time.Duration, shown stretch) *recorder {
	r := &recorder{
		run:   Run{Title: title, Replicas: replicas, TrafficEvery: trafficEvery(length)},
		shown: shown, open: map[openSpan]int{}, down: map[int]bool{}, away: map[int]bool{},
	}
	r.run.Window.Why = shown.why
	for n := range replicas {
		r.down[n] = true
	}
	return r
}

// awake takes the jumps out of a time.
func (r *recorder) awake(t time.Duration) time.Duration {
	slept := time.Duration(0)
	for _, j := range r.jumps {
		if j.to <= t {
			slept += j.to - j.from
		}
	}
	return t - slept
}

func (r *recorder) see(e simulation.Event) {
	if e.Kind == simulation.EventJump {
		r.jumps = append(r.jumps, jump{e.Since, e.At})
	}
	at := r.awake(e.At)
	r.follow(e, at)
	switch e.Kind {
	case simulation.EventSample:
		r.run.Samples = append(r.run.Samples, Sample{at, e.Count, e.Peak})
	case simulation.EventSend:
		r.count(e, at)
	case simulation.EventHeal, simulation.EventConverged, simulation.EventViolation, simulation.EventJump:
		r.run.Marks = append(r.run.Marks, Mark{at, e.Kind, textOf(e)})
	default:
	}
	if counted(e.Kind) {
		r.ordinal++
		r.show(e, at)
	}
}

func (r *recorder) count(e simulation.Event, at time.Duration) {
	place := int(at / r.run.TrafficEvery)
	for len(r.run.Traffic) <= place {
		r.run.Traffic = append(r.run.Traffic, Bucket{})
	}
	b := r.run.Traffic[place]
	b[e.Route] = simulation.Traffic{Messages: b[e.Route].Messages + 1, Bytes: b[e.Route].Bytes + int64(e.Bytes)}
}

// follow keeps what lasts.
func (r *recorder) follow(e simulation.Event, at time.Duration) {
	who := fmt.Sprintf("replica %d", e.Replica)
	switch e.Kind {
	case simulation.EventStart:
		delete(r.down, e.Replica)
		r.end(openSpan{"down", who, 0}, at)
	case simulation.EventStop:
		r.down[e.Replica] = true
		r.begin(openSpan{"down", who, 0}, at)
	case simulation.EventLeave:
		r.away[e.Replica] = true
		r.begin(openSpan{"away", who, 0}, at)
	case simulation.EventReturn:
		delete(r.away, e.Replica)
		r.end(openSpan{"away", who, 0}, at)
	case simulation.EventFaultBegin:
		r.begin(openSpan{string(e.Fault), concerned(e), e.At}, at)
	case simulation.EventFaultEnd:
		r.end(openSpan{string(e.Fault), concerned(e), e.Since}, at)
	case simulation.EventHeal:
		for n := range r.run.Replicas {
			r.end(openSpan{"away", fmt.Sprintf("replica %d", n), 0}, at)
		}
		clear(r.away)
	default:
	}
}

func (r *recorder) begin(o openSpan, at time.Duration) {
	if _, already := r.open[o]; already {
		return
	}
	r.open[o] = len(r.run.Spans)
	r.run.Spans = append(r.run.Spans, Span{Kind: o.kind, Who: o.who, From: at, To: -1})
}

func (r *recorder) end(o openSpan, at time.Duration) {
	if place, began := r.open[o]; began {
		r.run.Spans[place].To = at
		delete(r.open, o)
	}
}

// show adds an event to the window when it lies within.
func (r *recorder) show(e simulation.Event, at time.Duration) {
	w := &r.run.Window
	if r.ordinal < r.shown.from || r.ordinal > r.shown.to || len(w.Messages) >= messagesMax {
		return
	}
	if r.ordinal == r.shown.from {
		w.From, w.Down, w.Away = at, numbers(r.down), numbers(r.away)
	}
	w.To = at
	switch {
	case isMessage(e) && r.shown.quiet && e.Route == simulation.RouteHeartbeat:
		w.LeftOut++
	case isMessage(e):
		m := Message{Route: e.Route, Name: e.Message, From: e.Replica, To: e.Peer, Bytes: e.Bytes, Sent: at, Arrived: at, Lost: e.Fault}
		if e.Kind == simulation.EventReceive {
			m.From, m.To, m.Sent = e.Peer, e.Replica, r.awake(e.Since)
		}
		w.Messages = append(w.Messages, m)
	case e.Kind != simulation.EventSend && e.Kind != simulation.EventFault && e.Kind != simulation.EventStep:
		w.Points = append(w.Points, Point{At: at, Kind: e.Kind, Replica: e.Replica, Peer: e.Peer, Text: textOf(e)})
	}
}

func (r *recorder) finish(c *simulation.Cluster, err error) {
	r.run.Length = r.awake(c.Clock().Elapsed())
	for i := range r.run.Spans {
		if r.run.Spans[i].To < 0 {
			r.run.Spans[i].To = r.run.Length
		}
	}
	r.run.TraceSum, r.run.Propagation = c.TraceSum(), c.Propagation()
	if err != nil {
		r.run.Failure = err.Error()
	}
}
