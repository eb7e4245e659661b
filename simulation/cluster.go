package simulation

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// Options change how a plan is run, not what it says.
type Options struct {
	// Trace receives what happens, one line each; nil for none.
	Trace io.Writer
	// Intercept decides on each message that an engine sends, before the network
	// gets it: false drops it. It is for planting faults of the code. connection
	// numbers the connections of the two from 1.
	Intercept func(from, to int, connection uint64, m fleetsync.Message) (deliver bool)
	// Workload is called once the cluster stands, to schedule work besides that of
	// the plan: see Cluster.Agent, Every and After. Nil is none.
	Workload func(*Cluster)
	// Observe is told what happens, as it happens, in the cluster's goroutine; nil
	// for nobody. It must not touch the cluster. The run is the same with and
	// without it.
	Observe func(Event)
	// Stop is asked once a second of virtual time, and before each replica, step
	// and write of a burst, whether to end the run early; nil never does. The run
	// then fails with ErrStopped.
	Stop func() bool
	// Sample is how often divergence is measured, in virtual time; 0 never.
	// Without it there are no EventSample and EventEverywhere, and Propagation
	// is empty.
	Sample time.Duration
}

// Cluster is a fleet of replicas in virtual time. Its methods may be called
// one after the other from one goroutine.
type Cluster struct {
	plan     Plan
	options  Options
	clock    *Clock
	trace    *Trace
	cover    *counter
	dice     dice // of everything but the network
	busy     dice // of which requests are turned away
	network  *Network
	atlas    atlas
	codec    codec
	charter  charter
	common   *common // nil in a small fleet
	notary   *notary
	model    *model
	observer *observer
	watch    *observation // nil: nobody observes
	spread   *spread      // nil: nobody measures
	replicas []*Replica
	numbers  map[merge.InstanceID]int
	joinedAt time.Time // when the last replica joined
	joined   int       // how many joined then
	failure  error
	healed   bool          // no fault is left
	honestAt time.Time     // from when on nobody lies
	took     time.Duration // from the last fault to convergence
}

// codec frames messages as streams do.
type codec struct{ *fleetsync.Codec }

// DecodeFrame reads one whole frame with its length prefix.
func (c codec) DecodeFrame(frame []byte) (fleetsync.Message, error) {
	content, err := fleetsync.ReadFrame(bytes.NewReader(frame))
	if err != nil {
		return nil, err
	}
	return c.Decode(content)
}

// New returns a cluster whose replicas have started, but for those that join
// later, and know their fleet as the plan says. Errors: ErrPlan, and what goes
// wrong with a disk or an identity.
func New(plan Plan, options Options) (*Cluster, error) {
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	c := &Cluster{
		plan: plan.normal(), options: options, clock: NewClock(),
		dice: newDice(plan.Seed, streamWork), busy: newDice(plan.Seed, streamBusyRun), numbers: map[merge.InstanceID]int{},
		notary: newNotary(entropy(plan.Seed, streamKeys+100)),
	}
	c.atlas = newAtlas(&c.plan)
	c.trace = newTrace(c.clock, options.Trace)
	c.watch = newObservation(c.clock, options.Observe)
	c.spread = newSpread(c, options.Sample)
	c.cover = &counter{NewCoverage(), c.watch}
	c.observer = newObserver(c.trace, c.cover)
	c.model = newModel(c)
	c.network = newNetwork(c.clock, plan.Seed, c.trace, c.cover)
	c.network.watch, c.network.degree = c.watch, c.plan.GossipDegree
	var err error
	if c.codec.Codec, err = fleetsync.NewCodec(); err != nil {
		return nil, err
	}
	keys := entropy(plan.Seed, streamKeys)
	if c.charter, err = newCharter(keys); err != nil {
		return nil, err
	}
	for i := range plan.Replicas {
		if c.stopping() {
			return nil, ErrStopped
		}
		if err := c.add(i, keys); err != nil {
			return nil, err
		}
	}
	c.wire()
	if err := c.found(); err != nil {
		return nil, err
	}
	c.begin()
	c.dial()
	if options.Workload != nil {
		options.Workload(c)
	}
	return c, nil
}

// begin starts everybody who is not absent, at once or one after the other.
func (c *Cluster) begin() {
	d := newDice(c.plan.Seed, streamStart)
	for _, r := range c.replicas {
		switch {
		case slices.Contains(c.plan.Absent, r.number):
		case c.plan.StartWithin == 0:
			r.launch()
		default:
			c.clock.After(d.duration(0, c.plan.StartWithin), r.launch)
		}
	}
}

func (c *Cluster) add(number int, keys io.Reader) error {
	r := &Replica{cluster: c, number: number, name: fmt.Sprintf("r%d", number)}
	r.set(c.plan.Skews[number])
	r.asked = map[int]question{}
	r.newest, r.dialect = map[merge.Key]*written{}, c.newDialect(number)
	r.planned = sharingBut(c.plan.Withheld[number])
	r.sharing = r.planned
	var err error
	if r.identity, err = newIdentity(keys); err != nil {
		return err
	}
	r.disk = newDisk(newDice(c.plan.Seed, streamDisk+uint64(number)<<32), c.cover)
	c.replicas = append(c.replicas, r)
	c.numbers[r.ID()] = number
	c.network.attach(r)
	c.model.grow()
	return nil
}

// dial lets the replicas connect, again and again.
func (c *Cluster) dial() {
	eager := 0.5
	if c.healed {
		eager = 1
	}
	c.network.dial(eager)
	c.network.ripen()
	c.network.tend()
	c.clock.After(time.Second, c.dial)
	if c.stopping() {
		c.clock.stop()
	}
}

// stopping asks whether to end the run early, and fails it then.
func (c *Cluster) stopping() bool {
	if c.options.Stop == nil || !c.options.Stop() {
		return false
	}
	c.failure = ErrStopped
	return true
}

// Plan returns what the cluster carries out. It must not be changed.
func (c *Cluster) Plan() Plan { return c.plan }

// Replica returns one of the replicas.
func (c *Cluster) Replica(number int) *Replica { return c.replicas[number] }

// Replicas returns their number.
func (c *Cluster) Replicas() int { return len(c.replicas) }

// Clock returns the virtual time.
func (c *Cluster) Clock() *Clock { return c.clock }

// Coverage returns what happened so far.
func (c *Cluster) Coverage() *Coverage { return c.cover.Coverage }

// Traffic returns what engines have sent of one type of message so far.
func (c *Cluster) Traffic(m fleetsync.MessageType) Traffic { return c.observer.traffic[m] }

// Sent returns Traffic of every type that was sent.
func (c *Cluster) Sent() map[fleetsync.MessageType]Traffic { return maps.Clone(c.observer.traffic) }

// pulls returns how often anybody asked for records so far.
func (c *Cluster) pulls() int {
	return c.Traffic(fleetsync.TypeChanges).Messages + c.Traffic(fleetsync.TypePageReq).Messages
}

// TraceSum returns the hash of everything that happened so far.
func (c *Cluster) TraceSum() string { return c.trace.Sum() }

// Took returns how long the last Converge took, in virtual time.
func (c *Cluster) Took() time.Duration { return c.took }

// RunFor lets virtual time pass.
func (c *Cluster) RunFor(d time.Duration) { c.clock.RunFor(d) }

// Err returns the first thing that went wrong, nil when nothing did.
func (c *Cluster) Err() error { return c.failure }

// numberOf returns the number of a replica, -1 for a stranger.
func (c *Cluster) numberOf(id merge.InstanceID) int {
	if n, ok := c.numbers[id]; ok {
		return n
	}
	return -1
}

// Run carries out the plan, ends all faults, and checks that the fleet becomes
// one again within the bound and holds what it owes. Errors: ErrFailed.
func (c *Cluster) Run() error {
	for i := range c.plan.Steps {
		s := &c.plan.Steps[i]
		c.RunFor(s.After)
		if c.failure != nil || c.stopping() {
			return c.failure
		}
		c.Do(*s)
	}
	c.RunFor(c.plan.Rest)
	if c.failure != nil {
		return c.failure
	}
	c.checkCursors()
	if err := c.Heal(); err != nil {
		return err
	}
	if err := c.Converge(); err != nil {
		return err
	}
	return c.Check()
}

// Heal ends all faults: links are whole, disks and clocks are right, everybody
// runs whose machine is still there, and is a member.
func (c *Cluster) Heal() error {
	c.trace.note("plan", "heal")
	c.healed = true
	c.watch.heal()
	c.spread.heal()
	c.network.heal(c.atlas.sound)
	lost := false
	for _, r := range c.replicas {
		c.mend(r)
		lost = lost || r.gone
	}
	if c.failure != nil {
		return c.failure
	}
	if lost {
		c.RunFor(2 * time.Second) // what they had sent may be on its way
	}
	c.repent()
	if wait := c.model.horizon().Wall - hlc.DriftMax.Milliseconds() - c.clock.Now().UnixMilli(); wait > 0 {
		c.trace.note("plan", "until the newest stamp is admissible")
		c.pass(time.Duration(wait)*time.Millisecond + time.Second)
	}
	c.restate()
	return c.failure
}

// mend ends all faults of one machine.
func (c *Cluster) mend(r *Replica) {
	switch {
	case r.gone:
	case r.damaged:
		c.setAside(r)
	case r.isClone(): // its owner has found out
		c.retire(r)
	}
	if r.gone {
		r.sharing = r.planned // of what it wrote, others have the rest
		return
	}
	c.countAbsence(r)
	r.putBack()
	r.disk.repair()
	r.turning = spell{}
	if r.process != nil && r.process.stopped {
		r.process.wake()
	}
	r.mendClock()
	if r.sharing.withheld != r.planned.withheld { // what is shared is read at the start
		r.sharing = r.planned
		r.kill(0)
	}
	r.launch()
	if r.process == nil {
		c.fail(InvariantSoundDisk, "replica %d does not start on a sound disk", r.number)
		return
	}
	r.hasten()
}

// Bound returns how long the fleet may take to become one after the last
// fault: what was on its way when the faults ended is given up after the
// request timeout and a heartbeat, connections begin anew within seconds; then
// three heartbeats for each hop, and what lines cost that are slow for good and
// members that may send little at a time.
func (c *Cluster) Bound() time.Duration {
	const redial = 5 * time.Second
	messages := 40 // one after the other, pages and repairs included
	if c.plan.PageBytes > 0 {
		messages += 2 * c.largest() // a page may hold one record
	}
	answers, _ := c.contents()
	messages += 2 * answers
	hops := c.plan.Topology.Diameter(len(c.replicas))
	if c.plan.Topology == Mesh {
		// In more than five not everybody is a partner of everybody.
		for reach := 5; reach < len(c.replicas); reach *= 5 {
			hops++
		}
	}
	if answers > 0 {
		hops += hops // who does not have a text yet is asked again two heartbeats later
	}
	return redial + c.plan.RequestTimeout + c.plan.HeartbeatEvery + 3*time.Duration(hops)*c.plan.HeartbeatEvery + c.atlas.far(messages) + c.answering() + c.asking(answers)
}

// asking is how long it takes to ask everybody for that many contents, two at a
// time, when nobody says who has them.
func (c *Cluster) asking(contents int) time.Duration {
	return time.Duration(contents*len(c.replicas)) * calm().LatencyMax
}

// answering is how long one member may take to send everything there is to
// another, when budgets are as small as pages. To fill a page of one record it
// reads two.
func (c *Cluster) answering() time.Duration {
	if c.plan.PageBytes == 0 {
		return 0
	}
	bytes := 0
	for _, w := range c.model.order {
		bytes += len(w.record.Body) + 400
	}
	_, content := c.contents()
	bytes += content
	return time.Duration(3*bytes/c.plan.answerRate()) * time.Second
}

// largest returns how many versions the largest section holds on any member.
func (c *Cluster) largest() int {
	count := int64(0)
	for _, r := range c.members() {
		if r.process == nil {
			continue
		}
		for _, s := range r.Store().Sections() {
			count = max(count, s.Count)
		}
	}
	return int(count)
}

// Converge lets time pass until all replicas hold the same, and fails when
// that takes longer than Bound. Errors: ErrFailed.
func (c *Cluster) Converge() error {
	const step = 500 * time.Millisecond
	began := c.clock.Now()
	deadline := began.Add(c.Bound())
	for {
		difference, err := c.difference()
		switch {
		case err != nil:
			c.fail(InvariantSoundDisk, "reading a store: %v", err)
		case difference == nil && c.failure == nil:
			c.took = c.clock.Now().Sub(began)
			c.trace.note("plan", "converged")
			c.watch.emit(Event{Kind: EventConverged, Replica: Nobody, Peer: Nobody, Since: c.clock.Elapsed() - c.took})
			return nil
		case c.failure == nil && !c.clock.Now().Before(deadline):
			c.fail(InvariantLiveness, "not one fleet %s after the last fault: %s", c.Bound(), difference())
		}
		if c.failure != nil {
			return c.failure
		}
		c.RunFor(step)
	}
}
