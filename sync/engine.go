package sync

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Engine is the replication state machine of one node. It has no goroutine,
// clock or socket: its owner calls the methods below from one goroutine at a
// time, then drains the outbox. It reads the store itself and asks for every
// write.
type Engine struct {
	cfg       Config
	store     *store.Store
	admission Admission

	now        time.Time // only differences count
	peers      map[PeerID]*peer
	budgets    map[PeerID]*budgets // also of peers that left not long ago
	own        ownSections
	order      []PeerID // ascending; the order of every walk over peers
	lastID     uint64
	lastAnswer uint64
	lastTurn   uint64
	withheld   []string // families that are not shared here, ascending
	verifying  map[uint64]*step
	applying   map[uint64]func(store.Result, error)

	blobs          blobs
	gossiped       []*merge.Record // verified, on their way to a batch
	gossipApplying int
	checks         []*check // as they were asked for; the first few are under way

	reconsider  bool          // a verdict may have changed since the last reconsidering began
	rooms       uint64        // how often room was made among the parked
	judging     bool          // a reconsidering is under way
	judgeAgain  bool          // the last one failed; the next heartbeat tries again
	due         hlc.Timestamp // the oldest stamp among the versions parked for their time; zero for none
	dueUnknown  bool          // due must be looked for
	learnt      store.Sum     // of the fleet sections when all their statements were known to be learnt
	heartbeatAt time.Time
	ready       bool      // the store was seen to be
	changedAt   time.Time // when something changed here that partners were not told
	localAt     time.Time // when this node's own callers last changed something
	randomAt    time.Time

	out      Outbox
	counters Counters
}

// New returns an engine over a store whose fleet statements have been learnt
// by admission (see Learn). Its first Drain asks to judge parked versions
// again, since a crash may have come between a statement and that.
func New(cfg Config, st *store.Store, admission Admission) *Engine {
	if cfg.HeartbeatEvery <= 0 {
		cfg.HeartbeatEvery = HeartbeatDefault
	}
	if cfg.RequestTimeout <= 0 {
		cfg.RequestTimeout = RequestTimeoutDefault
	}
	if cfg.PageBytes <= 0 || cfg.PageBytes > payloadBytesGoal {
		cfg.PageBytes = payloadBytesGoal
	}
	if cfg.AnswerRate <= 0 {
		cfg.AnswerRate = answerRate
	}
	e := &Engine{
		cfg: cfg, store: st, admission: admission,
		now:         cfg.Now,
		peers:       map[PeerID]*peer{},
		budgets:     map[PeerID]*budgets{},
		verifying:   map[uint64]*step{},
		applying:    map[uint64]func(store.Result, error){},
		ready:       st.Ready(),
		reconsider:  true,
		blobs:       blobs{look: true},
		dueUnknown:  true,
		heartbeatAt: cfg.Now.Add(cfg.HeartbeatEvery),
		randomAt:    cfg.Now.Add(randomPartnerEvery),
	}
	// Requests are numbered from a random place: an answer to the process before
	// this one, late in a queue of the peer, must not pass for an answer to it.
	e.lastID = uint64(e.random(1 << 32))
	for _, f := range topicFamilies {
		e.withhold(f)
	}
	return e
}

// FleetFamily is the family of fleet statements: it is brought to its head
// before any other.
const FleetFamily = "fleet"

// Connected tells that messages can be sent to a peer.
func (e *Engine) Connected(id PeerID) {
	if e.peers[id] != nil || id == e.cfg.Self {
		return
	}
	e.peers[id] = newPeer(id, e.now, e.budgetsOf(id))
	at, _ := slices.BinarySearchFunc(e.order, id, comparePeers)
	e.order = slices.Insert(e.order, at, id)
	e.sendHello(e.peers[id])
}

// Disconnected tells that a peer cannot be reached any more.
func (e *Engine) Disconnected(id PeerID) {
	p := e.peers[id]
	if p == nil {
		return
	}
	if p.pull != nil {
		e.abort(p.pull)
	}
	e.dropFetches(p)
	e.loseCheck(id)
	delete(e.peers, id)
	if at, found := slices.BinarySearchFunc(e.order, id, comparePeers); found {
		e.order = slices.Delete(e.order, at, at+1)
	}
	e.schedule()
}

func comparePeers(a, b PeerID) int { return strings.Compare(string(a), string(b)) }

// Receive takes one message of a connected peer.
func (e *Engine) Receive(from PeerID, m Message) {
	p := e.peers[from]
	if p == nil {
		return
	}
	p.heardAt = e.now
	if !e.receiveCheck(p, m) {
		e.receive(p, m)
	}
	e.moveChecks()
	e.schedule()
}

func (e *Engine) receive(p *peer, m Message) {
	switch m := m.(type) {
	case *Hello:
		e.onHello(p, m, true)
	case *HelloAck:
		e.onHello(p, &m.Hello, false)
	case *Heartbeat:
		e.onHeartbeat(p, m)
	case *Busy:
		e.onBusy(p, m)
	case *Error:
		e.onError(p, m)
	case *Bye:
		// The connection will end; nothing is owed to a peer that leaves.
	default:
		e.receiveRequest(p, m)
		e.receiveAnswer(p, m)
		e.receiveBlob(p, m)
	}
}

func (e *Engine) receiveRequest(p *peer, m Message) {
	switch m := m.(type) {
	case *Changes:
		e.serveChanges(p, m)
	case *Get:
		e.serveGet(p, m)
	case *Recon:
		e.serveRecon(p, m)
	case *PageReq:
		e.servePage(p, m)
	}
}

func (e *Engine) receiveAnswer(p *peer, m Message) {
	switch m := m.(type) {
	case *ChangesPage:
		e.onChangesPage(p, m)
	case *CursorInvalid:
		e.onCursorInvalid(p, m)
	case *Records:
		e.onRecords(p, m)
	case *ReconAnswer:
		e.onReconAnswer(p, m)
	case *Page:
		e.onPage(p, m)
	}
}

// Tick moves time on: repeats greetings, gives up on answers that did not
// come, and compares heads with partners. Its owner calls it a few times a
// second.
func (e *Engine) Tick(now time.Time) {
	if now.Before(e.now) {
		return
	}
	e.now = now
	for _, id := range e.order {
		p := e.peers[id]
		if !p.greeted && now.Sub(p.helloAt) >= e.cfg.RequestTimeout/4 {
			e.sendHello(p)
		}
		if pl := p.pull; pl != nil && pl.isLate(now, e.cfg.RequestTimeout) {
			e.counters.Timeouts++
			p.pace.missed()
			p.barren = true
			e.abort(pl)
			p.compare = true
		}
	}
	e.tickBlobs()
	e.moveChecks()
	if !e.ready && e.store.Ready() {
		e.ready = true
		for _, id := range e.order {
			e.peers[id].compare = true // nothing could be compared before
		}
	}
	e.heartbeats()
	e.releaseDue()
	e.schedule()
}

// Local takes a commit that this node's own callers made: it is gossiped, and
// its fleet statements count from now on.
func (e *Engine) Local(c store.Commit) {
	if c.Path != store.PathLocal {
		return
	}
	e.changedAt, e.localAt = e.now, e.now
	for i := range c.Records {
		if c.Records[i].Key.Family() == FleetFamily {
			e.learn(&c.Records[i])
		}
	}
	if e.cfg.Gossip {
		for _, p := range composeGossip(&e.cfg, c.Records) {
			e.out.Publish = append(e.out.Publish, p)
			e.counters.Published++
		}
	}
}

// Reconsider makes the next Drain judge again what is here, for somebody who has
// learnt a statement past the engine: what it had judged by less may be on its
// way into the store.
func (e *Engine) Reconsider() { e.reconsider = true }

// Probe makes the next Drain compare heads with every peer at once, for
// somebody who waits for the answer.
func (e *Engine) Probe() {
	for _, id := range e.order {
		e.sendHeartbeat(e.peers[id])
	}
}

// Drain returns what is to be done, and forgets it.
func (e *Engine) Drain() Outbox {
	e.flushGossiped()
	if e.reconsider && !e.judging {
		e.reconsider, e.judging = false, true
		e.apply(ApplyBatch{Reconsider: true}, e.reconsidered)
	}
	out := e.out
	e.out = Outbox{}
	return out
}

// Judging is what a driver passes to store.Reconsider: it admits what the
// statements admit, and learns released statements at once. Safe for
// concurrent use when the Admission is.
func Judging(admission Admission) store.Judge { return judging{admission} }

type judging struct{ Admission }

// Judge implements store.Judge.
func (j judging) Judge(r *merge.Record) store.Reason {
	reason := j.Admission.Judge(r)
	if reason == 0 && r.Key.Family() == FleetFamily {
		j.Learn(r)
	}
	return reason
}

// reconsidered is called when a reconsidering ended. What it released may
// stand under others that are parked, so it goes on until nothing moves.
func (e *Engine) reconsidered(res store.Result, err error) {
	e.judging = false
	if err != nil {
		e.counters.StoreErrors++
		e.judgeAgain = true
		return
	}
	e.reconsider = e.reconsider || res.Applied > 0
	e.counters.Retracted += uint64(res.Retracted)
	e.counters.Restored += uint64(res.Restored)
	e.noteApplied(res.Applied + res.Retracted + res.Restored)
	if res.Applied+res.Covered > 0 { // there is room again
		e.rooms++
	}
}

// Applied takes the result of an ApplyBatch.
func (e *Engine) Applied(id uint64, res store.Result, err error) {
	done := e.applying[id]
	if done == nil {
		panic(fmt.Sprintf("sync: applied batch %d was never asked for", id))
	}
	delete(e.applying, id)
	done(res, err)
	e.schedule()
}

// apply queues a store operation; done is called with its result.
func (e *Engine) apply(b ApplyBatch, done func(store.Result, error)) {
	b.ID = e.newID()
	e.applying[b.ID] = done
	e.out.Apply = append(e.out.Apply, b)
}

func (e *Engine) newID() uint64 {
	e.lastID++
	return e.lastID
}

func (e *Engine) send(p *peer, m Message) {
	e.out.Send = append(e.out.Send, Send{To: p.id, Message: m})
}

func (e *Engine) blame(p *peer, err error) {
	e.out.Blame = append(e.out.Blame, Blame{Peer: p.id, Err: err})
}
