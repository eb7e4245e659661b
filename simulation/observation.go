package simulation

import (
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// EventKind says what an Event tells of.
type EventKind string

// The kinds of events. The fields besides At that each fills stand behind it;
// replicas that a kind does not fill are [Nobody].
const (
	EventStart      EventKind = "start"       // a process began: Replica
	EventStop       EventKind = "stop"        // a process died: Replica
	EventConnect    EventKind = "connect"     // a connection began: Replica, Peer
	EventDisconnect EventKind = "disconnect"  // a connection ended: Replica, Peer
	EventSend       EventKind = "send"        // Replica sent to Peer: Route, Message, Bytes
	EventReceive    EventKind = "receive"     // Replica received from Peer: Route, Message, Bytes, Since
	EventWrite      EventKind = "write"       // a local write was acknowledged: Replica, Key, Version, Deleted
	EventCommit     EventKind = "commit"      // versions of others were merged: Replica, Count, Route
	EventEverywhere EventKind = "everywhere"  // every present member holds a version: Replica (its writer), Key, Version, Since
	EventStep       EventKind = "step"        // a step of the plan: Step
	EventFault      EventKind = "fault"       // a fault happened, as Coverage counts them: Fault; of messages also Replica (the sender), Peer, Route, Message, Bytes
	EventFaultBegin EventKind = "fault begin" // a fault that lasts: Fault, and whom it concerns by Replica, Peer, Group or the first Count
	EventFaultEnd   EventKind = "fault end"   // its end: the same, Since
	EventLeave      EventKind = "leave"       // Replica is off the network
	EventReturn     EventKind = "return"      // Replica is back
	EventJump       EventKind = "jump"        // time passed while everybody slept: Since is when it began
	EventHeal       EventKind = "heal"        // all faults end
	EventConverged  EventKind = "converged"   // the fleet is one: Since is when the last fault ended
	EventViolation  EventKind = "violation"   // something is wrong: Text
	EventSample     EventKind = "sample"      // a sample of divergence: Count is Divergence, Peak its largest since the one before
)

// Route is by which part of the protocol a message or a version came.
type Route string

// The routes.
const (
	RouteHello     Route = "hello"     // connections begin and end
	RouteHeartbeat Route = "heartbeat" // heads are compared
	RouteGossip    Route = "gossip"    // each hop of a gossip message is one
	RouteFeed      Route = "feed"      // a partner's change feed
	RouteGet       Route = "get"       // single records
	RoutePage      Route = "page"      // by ranges of keys
	RouteOther     Route = "other"     // busy, errors, imports
)

// Routes returns all of them, in the order in which reports show them.
func Routes() []Route {
	return []Route{RouteGossip, RouteHeartbeat, RouteHello, RouteFeed, RouteGet, RoutePage, RouteOther}
}

// Nobody is the number of no replica.
const Nobody = -1

// Event is one thing that happened in a run, for those who draw or count. Its
// Kind says which fields are filled.
type Event struct {
	Kind EventKind
	// At is the virtual time since the epoch, jumps included, as Clock.Elapsed.
	At time.Duration
	// Since is when what ends here began, by the same count.
	Since time.Duration
	// Replica and Peer are numbers of replicas, or Nobody.
	Replica, Peer int
	// Group is a set of replicas, one bit each.
	Group   uint64
	Route   Route
	Message string // the type of a message
	Bytes   int    // of the message, with its frame
	Count   int
	Peak    int
	Fault   Fault
	Key     merge.Key
	Version merge.Hash
	Deleted bool
	Step    *Step // must not be changed
	Text    string
}

// observation tells Options.Observe what happens. It decides nothing, draws no
// randomness and writes no trace, so a run is the same with and without it. All
// methods do nothing on nil.
type observation struct {
	clock   *Clock
	observe func(Event)
	posted  Event         // the message that the network is asked to carry
	arrival time.Duration // when the message was sent that now arrives
	open    []*lasting
}

// lasting is a fault that has begun and not ended.
type lasting struct {
	began Event
	ended bool
}

func newObservation(clock *Clock, observe func(Event)) *observation {
	if observe == nil {
		return nil
	}
	return &observation{clock: clock, observe: observe}
}

func (o *observation) emit(e Event) {
	if o != nil {
		e.At = o.clock.Elapsed()
		o.observe(e)
	}
}

// of notes that something happened to a replica.
func (o *observation) of(kind EventKind, replica, peer int) {
	o.emit(Event{Kind: kind, Replica: replica, Peer: peer})
}

func (o *observation) step(s Step) {
	if o != nil {
		o.emit(Event{Kind: EventStep, Replica: s.Replica, Peer: s.Peer, Step: &s})
	}
}

// sent notes a message before the network decides on it.
func (o *observation) sent(from, to int, m fleetsync.MessageType, size int) {
	if o == nil {
		return
	}
	route, name := routeOf(m)
	o.posted = Event{Kind: EventSend, Replica: from, Peer: to, Route: route, Message: name, Bytes: size}
	o.emit(o.posted)
}

// hop notes one hop of a gossip message before the network decides on it.
func (o *observation) hop(from, to, size int) {
	if o == nil {
		return
	}
	o.posted = Event{Kind: EventSend, Replica: from, Peer: to, Route: RouteGossip, Message: "gossip", Bytes: size}
	o.emit(o.posted)
}

// postponed returns what to call when the message that the network is asked to
// carry has waited for its turn.
func (o *observation) postponed() (again func()) {
	if o == nil {
		return func() {}
	}
	posted := o.posted
	return func() { o.posted = posted }
}

// arrives notes when the message was sent that is about to be received.
func (o *observation) arrives(sent time.Duration) {
	if o != nil {
		o.arrival = sent
	}
}

func (o *observation) received(at, from int, m fleetsync.MessageType, size int) {
	if o == nil {
		return
	}
	route, name := routeOf(m)
	o.emit(Event{Kind: EventReceive, Replica: at, Peer: from, Route: route, Message: name, Bytes: size, Since: o.arrival})
}

func (o *observation) heard(at, from, size int) {
	if o != nil {
		o.emit(Event{Kind: EventReceive, Replica: at, Peer: from, Route: RouteGossip, Message: "gossip", Bytes: size, Since: o.arrival})
	}
}

// committed notes what a store has taken in.
func (o *observation) committed(at int, c *store.Commit) {
	if o == nil || len(c.Records) == 0 {
		return
	}
	if c.Path != store.PathLocal {
		o.emit(Event{Kind: EventCommit, Replica: at, Peer: Nobody, Route: routeOfStore(c.Path), Count: len(c.Records)})
		return
	}
	for i := range c.Records {
		rec := &c.Records[i]
		o.emit(Event{
			Kind: EventWrite, Replica: at, Peer: Nobody, Count: 1,
			Key: rec.Key, Version: rec.Hash(), Deleted: rec.Envelope.Deleted,
		})
	}
}

// fault notes a fault as Coverage counts it.
func (o *observation) fault(f Fault) {
	if o == nil {
		return
	}
	e := Event{Replica: Nobody, Peer: Nobody}
	if ofMessages(f) {
		e = o.posted
	}
	e.Kind, e.Fault = EventFault, f
	o.emit(e)
}

// ofMessages reports whether a fault befalls the message that is being sent.
func ofMessages(f Fault) bool {
	switch f {
	case FaultLoss, FaultCut, FaultUnsent, FaultDuplicate, FaultReorder, FaultStray,
		FaultLossy, FaultClog, FaultThrottle, FaultOverflow:
		return true
	default:
		return false
	}
}

// begin notes a fault that lasts, and returns what to call at its end; heal
// ends what is still open then.
func (o *observation) begin(e Event) (end func()) {
	if o == nil {
		return func() {}
	}
	e.Kind = EventFaultBegin
	e.At = o.clock.Elapsed()
	o.observe(e)
	l := &lasting{began: e}
	o.open = append(o.open, l)
	return func() { o.end(l) }
}

func (o *observation) end(l *lasting) {
	if l.ended {
		return
	}
	l.ended = true
	e := l.began
	e.Kind, e.Since = EventFaultEnd, e.At
	o.emit(e)
}

// heal ends every fault that lasts.
func (o *observation) heal() {
	if o == nil {
		return
	}
	for _, l := range o.open {
		o.end(l)
	}
	o.open = nil
	o.of(EventHeal, Nobody, Nobody)
}

// routeOf returns the route of a type of message, and its name.
func routeOf(m fleetsync.MessageType) (Route, string) {
	switch m {
	case fleetsync.TypeHello, fleetsync.TypeHelloAck:
		return RouteHello, "hello"
	case fleetsync.TypeBye:
		return RouteHello, "bye"
	case fleetsync.TypeHeartbeat:
		return RouteHeartbeat, "heartbeat"
	case fleetsync.TypeBusy:
		return RouteOther, "busy"
	case fleetsync.TypeError:
		return RouteOther, "error"
	default:
		return routeOfExchange(m)
	}
}

func routeOfExchange(m fleetsync.MessageType) (Route, string) {
	switch m {
	case fleetsync.TypeChanges:
		return RouteFeed, "changes"
	case fleetsync.TypeChangesPage:
		return RouteFeed, "changes page"
	case fleetsync.TypeCursorInvalid:
		return RouteFeed, "cursor invalid"
	case fleetsync.TypeGet:
		return RouteGet, "get"
	case fleetsync.TypeRecords:
		return RouteGet, "records"
	case fleetsync.TypeRecon:
		return RoutePage, "question"
	case fleetsync.TypeReconAnswer:
		return RoutePage, "answer"
	case fleetsync.TypePageReq:
		return RoutePage, "page request"
	case fleetsync.TypePage:
		return RoutePage, "page"
	case fleetsync.TypeBlobGet, fleetsync.TypeBlob:
		return RouteOther, "blob"
	default:
		return RouteOther, "message"
	}
}

func routeOfStore(p store.Path) Route {
	switch p {
	case store.PathGossip:
		return RouteGossip
	case store.PathFeed:
		return RouteFeed
	case store.PathReconcile:
		return RoutePage
	default:
		return RouteOther
	}
}
