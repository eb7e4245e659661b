package simulation

import (
	"context"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/ids"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// Replica is one node of a cluster: an identity, a disk, and, while it runs, a
// process of production code over them. It belongs to the cluster's goroutine.
type Replica struct {
	cluster   *Cluster
	number    int
	name      string
	identity  fleet.Identity
	disk      *disk
	backup    *store.Memory
	skew      time.Duration          // of its clock
	frozen    time.Time              // what its clock shows while it stands still; zero when it runs
	stuck     int                    // stamps since it stands still
	strayed   bool                   // its clock was far ahead at some time
	process   *process               // nil: not running
	started   uint64                 // processes so far
	openings  []store.Incarnation    // of its store so far
	lost      []lostLife             // by rollbacks
	damaged   bool                   // rows of its disk are not what was written
	gone      bool                   // its machine is lost, disk and all
	away      *disk                  // its own disk, while another is in its place
	clone     *clones                // of a machine that has a copy, or is one
	foreign   Fault                  // why that is so
	muteUntil time.Time              // after a rollback: what it had issued before lies until then
	newest    map[merge.Key]*written // of each key what its disk has taken in
	saying    *said                  // the write in hand; nil when nobody knows
	dialect   *dialect               // nil: it runs this build
	sharing   sharing                // what it shares, in its plan but for a while
	planned   sharing
	leftAt    time.Time        // when it went off the network
	turning   spell            // how much of what it is asked for it turns away
	adversary *adversary       // nil: it is honest
	asked     map[int]question // by replica, its newest request
}

// process is what a restart loses.
type process struct {
	number    uint64
	store     *store.Store
	authority *admission
	engine    *fleetsync.Engine
	state     state.Replica
	commits   []store.Commit         // local ones that the engine was not told of
	queue     []fleetsync.ApplyBatch // for the committer, in order
	busy      bool                   // the committer works on the first
	turns     uint64                 // how often it has begun to
	answerAt  time.Time              // when the newest answer arrives
	localAt   time.Time              // when the newest commit is told
	slow      time.Duration          // added to each store operation
	began     time.Time              // what the clock showed at its start
	since     time.Time              // when that was
	asleep    time.Duration          // how much of the time since its machine slept
	stopped   bool                   // it stands still
	wake      func()                 // lets it go on
	backlog   []func()               // what waits for it meanwhile
	scores    scores                 // of its peers
	skipped   uint64                 // records of algorithms that it does not know
}

// Number returns the replica's number, from 0.
func (r *Replica) Number() int { return r.number }

// ID returns the replica's identity.
func (r *Replica) ID() merge.InstanceID { return r.identity.ID() }

// Running reports whether its process runs.
func (r *Replica) Running() bool { return r.process != nil }

// Store returns the store of a replica that runs. It must be written through
// State only.
func (r *Replica) Store() *store.Store { return r.process.store }

// State returns the provider of a replica that runs.
func (r *Replica) State() state.Replica { return r.process.state }

// Engine returns the engine of a replica that runs, to be asked for Peers and
// Counters.
func (r *Replica) Engine() *fleetsync.Engine { return r.process.engine }

// shares reports whether the replica shares a section.
func (r *Replica) shares(s merge.Section) bool {
	return r.sharing.Shares(s)
}

// replicaClock is the replica's clock as package state takes it.
type replicaClock struct{ *Replica }

func (r *Replica) note(format string, args ...any) { r.cluster.trace.note(r.name, format, args...) }

// common returns what the replica has in common with others when its process
// begins: nothing after the first, since its disk may have been another since.
func (r *Replica) common() *common {
	if r.started > 1 {
		return nil
	}
	return r.cluster.common
}

// start opens the disk and begins a process.
func (r *Replica) start() error {
	c := r.cluster
	r.started++
	random := entropy(c.plan.Seed, streamReplica+uint64(r.number)<<32+r.started)
	p := &process{number: r.started, began: r.Now(), since: c.clock.Now(), authority: newAdmission(c.charter.fleet, r.common()), scores: scores{}}
	var err error
	p.store, err = store.Open(r.disk, store.Config{
		Now: r.Now, Rand: random, Indexer: state.Indexer{}, OnCommit: r.onCommit,
		ParkedMax: c.plan.ParkedMax, HistoryMax: c.plan.HistoryMax,
	})
	if err != nil {
		return fmt.Errorf("replica %d: open: %w", r.number, err)
	}
	r.openings = append(r.openings, p.store.Incarnation())
	if err := r.ownStore(p.store); err != nil {
		return fmt.Errorf("replica %d: %w", r.number, err)
	}
	clk := replicaClock{r}
	p.state, err = state.Open(p.store, state.Config{
		Name: r.name, Signer: signer{r.identity, c.charter.fleet}, Clock: clk,
		IDs:   ids.NewGenerator(ids.WithClock(clk), ids.WithEntropy(random)),
		Admit: r.attempt, InlineBytes: c.plan.InlineBytes,
	})
	if err != nil {
		return fmt.Errorf("replica %d: state: %w", r.number, err)
	}
	if err := fleetsync.LearnHeld(p.store, p.authority); err != nil {
		return fmt.Errorf("replica %d: learn: %w", r.number, err)
	}
	p.engine = fleetsync.New(fleetsync.Config{
		Self: r.ID(), Fleet: c.charter.fleet, Sharing: r.sharing.Sharing, EventType: state.Indexer{}.EventType,
		Rand: random, Gossip: c.plan.Gossip, Now: p.began,
		HeartbeatEvery: c.plan.HeartbeatEvery, RequestTimeout: c.plan.RequestTimeout,
		PageBytes: c.plan.PageBytes, AnswerRate: c.plan.answerRate(),
	}, p.store, p.authority)
	r.process = p
	r.note("start, process %d", p.number)
	c.watch.of(EventStart, r.number, Nobody)
	c.spread.started(r)
	r.drain()
	r.tick(p)
	return nil
}

// attempt notes a version that is about to be committed.
func (r *Replica) attempt(rec *merge.Record) error {
	if r.process == nil {
		return fmt.Errorf("%w: the process has died", errDisk)
	}
	if err := r.permit(rec); err != nil {
		return err
	}
	r.cluster.model.attempted(r, rec, false)
	return nil
}

// onCommit is the store's OnCommit.
func (r *Replica) onCommit(commit store.Commit) {
	r.cluster.model.committed(r, &commit)
	r.cluster.watch.committed(r.number, &commit)
	r.cluster.spread.committed(r, &commit)
	p := r.process
	if p == nil || commit.Path != store.PathLocal {
		return
	}
	p.commits = append(p.commits, commit)
	p.localAt = later(p.localAt, r.cluster.clock.Now().Add(r.cluster.dice.duration(0, 20*time.Millisecond)))
	r.after(p.localAt, func() {
		// All that wait are told as one, as a node does: a burst of writes makes few
		// messages.
		all := store.Commit{Path: store.PathLocal}
		for _, c := range p.commits {
			all.Records = append(all.Records, c.Records...)
		}
		p.commits = nil
		if len(all.Records) > 0 {
			p.engine.Local(all)
		}
	})
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// after lets fn run in the engine's turn of this process at a time, unless the
// process ended.
func (r *Replica) after(at time.Time, fn func()) {
	p := r.process
	r.cluster.clock.After(at.Sub(r.cluster.clock.Now()), func() {
		r.turn(p, func() {
			fn()
			r.drain()
		})
	})
}

// tick lets the engine see time pass, again and again.
func (r *Replica) tick(p *process) {
	clock, every := r.cluster.clock, r.cluster.plan.TickEvery
	var turn func()
	turn = func() {
		if r.process != p {
			return
		}
		if !p.stopped {
			p.engine.Tick(r.steady(p))
			r.drain()
		}
		clock.After(every, turn)
	}
	clock.After(every, turn)
}

// drain carries out what the engine wants done.
func (r *Replica) drain() {
	p := r.process
	if p == nil {
		return // it died while it wrote
	}
	r.checkLoad(p.engine)
	out := p.engine.Drain()
	for _, blame := range out.Blame {
		r.blamed(r.cluster.numberOf(blame.Peer), blame.Err)
	}
	for _, s := range out.Send {
		r.send(s)
	}
	for _, a := range out.Answer {
		reply := a.Read()
		r.send(fleetsync.Send{To: a.To, Message: reply.Message})
		p.engine.Answered(a, reply)
	}
	for _, pub := range out.Publish {
		r.note("gossip %d bytes", len(pub.Data))
		data := pub.Data
		if r.dialect != nil {
			data = r.dialect.gossip(data)
			r.gossipLater()
		}
		r.cluster.network.publish(r.number, data)
	}
	for _, b := range out.Verify {
		verdicts := r.cluster.notary.verify(b.Records)
		delay := r.cluster.dice.duration(0, 15*time.Millisecond)
		r.after(r.cluster.clock.Now().Add(delay), func() { p.engine.Verified(b, verdicts) })
	}
	p.queue = append(p.queue, out.Apply...)
	r.commitNext()
}

func (r *Replica) send(s fleetsync.Send) {
	c := r.cluster
	to := r.route(s.To)
	connection := c.network.connection(r.number, to)
	if c.options.Intercept != nil && !c.options.Intercept(r.number, to, connection, s.Message) {
		return
	}
	frame, err := c.codec.Encode(s.Message)
	if err != nil {
		c.fail(InvariantWire, "replica %d cannot encode %T: %v", r.number, s.Message, err)
		return
	}
	c.observer.sent(r, to, s.Message, frame)
	c.watch.sent(r.number, to, s.Message.Type(), len(frame))
	if r.dialect != nil {
		if newer := r.newerFrame(to, s.Message); newer != nil {
			frame = newer
		}
		if r.dialect.dice.chance(0.1) {
			c.network.send(r.number, to, r.dialect.stranger())
		}
	}
	if r.adversary != nil && !c.healed {
		r.adversary.send(to, s.Message, frame)
		return
	}
	if c.suspect(to) {
		c.checkPrivacy(r, to, s.Message)
	}
	c.network.send(r.number, to, frame)
}

// commitNext lets the committer begin with the oldest batch of the queue.
func (r *Replica) commitNext() {
	p, c := r.process, r.cluster
	if p.busy || len(p.queue) == 0 {
		return
	}
	p.busy = true
	p.turns++
	r.commitAfter(c.dice.duration(0, 10*time.Millisecond) + c.dice.duration(0, p.slow))
}

// commitAfter lets the committer end what it works on after a delay, if that is
// not done by then.
func (r *Replica) commitAfter(delay time.Duration) {
	p := r.process
	turn := p.turns
	r.cluster.clock.After(delay, func() {
		r.turn(p, func() {
			if p.busy && p.turns == turn {
				r.carryOut(p)
			}
		})
	})
}

// hasten ends what makes the committer slow, also for what it works on already.
func (r *Replica) hasten() {
	r.process.slow = 0
	if r.process.busy {
		r.commitAfter(r.cluster.dice.duration(0, 10*time.Millisecond))
	}
}

// carryOut does one store operation of the engine and sends the answer, which
// may be overtaken by the end of the process.
func (r *Replica) carryOut(p *process) {
	c := r.cluster
	b := p.queue[0]
	p.queue = p.queue[1:]
	p.busy = false
	var res store.Result
	var before store.Cursor
	var err error
	if m := b.Batch.Cursor; m != nil {
		if before, err = r.cursor(m.Peer, m.Section); err != nil {
			c.mustRead(err, r)
		}
	}
	switch {
	case b.Chunk != nil:
		_, err = p.store.AddChunk(context.Background(), *b.Chunk)
	case b.Reconsider:
		res, err = p.store.Reconsider(context.Background(), fleetsync.Judging(p.authority))
	default:
		res, err = p.store.Merge(context.Background(), b.Batch)
	}
	c.observer.applied(r, &b, res, err)
	if m := b.Batch.Cursor; m != nil && err == nil {
		c.checkMove(r, m, before)
	}
	if r.process != p {
		return // it died in the update
	}
	if r.tells(err) {
		r.noticed(err) // as its node would
		return
	}
	p.answerAt = later(p.answerAt, c.clock.Now().Add(c.dice.duration(0, 5*time.Millisecond)))
	r.after(p.answerAt, func() { p.engine.Applied(b.ID, res, err) })
	r.commitNext()
}

// kill ends the process between two instants, without any farewell.
func (r *Replica) kill(late time.Duration) {
	if r.process == nil {
		return
	}
	r.note("dies")
	r.cluster.watch.of(EventStop, r.number, Nobody)
	r.process = nil
	r.disk = r.disk.restart()
	r.cluster.network.died(r.number, late)
}
