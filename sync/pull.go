package sync

import (
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// mode is how a pull walks a section.
type mode uint8

const (
	byFeed   mode = iota // from the cursor, in commit order
	byRanges             // where digests differ: see reconciliation
)

// pull is one exchange that fetches what a peer has of one section. Pages of
// it are steps that go to the store in order; the next page is asked for while
// earlier ones are verified and stored.
type pull struct {
	peer    *peer
	section merge.Section
	life    store.Incarnation // of the peer, when the pull began
	mode    mode
	forced  bool // by ranges although the cursor is at the head
	inline  bool

	request  uint64    // id of the page that is awaited, 0 for none
	getting  uint64    // id of the GET that is awaited, 0 for none
	asked    int       // versions that it asks for
	refsGoal int       // how many fit an answer, as far as is known
	pageAt   time.Time // when that page was asked for
	getAt    time.Time // when those records were
	deadline time.Time // for the oldest of both
	after    uint64    // byFeed: position
	since    store.Incarnation
	ranges   *reconciliation // byRanges
	ended    bool            // nothing more is to be asked
	steps    []*step
	applied  int
	newsAt   time.Time // when it last brought something new, or began
	halted   bool      // the peer is busy: nothing more is asked
	unclean  bool      // something was refused room: no cursor moves any more
	dead     bool
	aim      aim
}

// step is one page of a pull on its way from the wire to the store. Records
// that are fetched for a page of entries go there in parts, as they come: they
// may be many, and the connection may end before the last. The cursor moves
// with the last part.
type step struct {
	pull      *pull
	peer      PeerID
	after     uint64     // byFeed: the position before the page
	asked     []question // byRanges: what the page answers
	refs      []Ref      // still to be fetched
	tags      []tag      // of refs, under salt, when they are asked for by these
	salt      []byte
	verifying int             // batches at the verifier
	records   []*merge.Record // verified, not at the store yet
	storing   bool            // a part is at the store
	cursor    *store.CursorMove
}

func (e *Engine) begin(p *peer, w wish) {
	p.unwant(w.section)
	e.lastTurn++
	p.turn = e.lastTurn
	if e.goOn(p, w.section) {
		return
	}
	pl := &pull{peer: p, section: w.section, life: p.incarnation, forced: w.list, newsAt: e.now}
	p.pull = pl
	e.counters.Pulls++
	mine, theirs := e.store.State(w.section), p.remote.section(w.section)
	pl.aim = newAim(mine, theirs)
	at, hasCursor := e.cursor(p, w.section)
	switch {
	case w.audit != nil:
		e.reconcile(pl, *w.audit, true)
	case hasCursor && !w.list && !e.echoes(theirs, at.Seq, mine):
		pl.after, pl.since = at.Seq, at.Incarnation
		behind := theirs.head - min(theirs.head, at.Seq)
		pl.inline = !theirs.isEcho(mine) && (!e.cfg.Gossip || behind > inlineBehindMin)
	case mine.Count == 0 && theirs.count < gapCountMin && !w.list:
		pl.since, pl.inline = p.incarnation, true
	default:
		e.reconcile(pl, store.Span{}, false)
	}
	pl.inline = pl.inline && !theirs.refused // only what was refused is lacking
	e.askPage(pl)
}

// echoes reports whether so much of a peer's feed may be what it had of this
// node that comparing costs less than listing it.
func (e *Engine) echoes(theirs *remote, after uint64, mine store.SectionState) bool {
	return theirs.isEcho(mine) && theirs.head > after+echoMin && e.store.Ready()
}

// isEcho reports whether a peer was sent versions of the section not long ago,
// or holds less than this node and so is likely to be fetching it.
func (r *remote) isEcho(mine store.SectionState) bool {
	return r.served || r.count < uint64(mine.Count)
}

// goOn takes up the pull of a section that was left because the peer was busy.
// Its places mean nothing in another life of the peer.
func (e *Engine) goOn(p *peer, section merge.Section) bool {
	pl := p.paused[section]
	delete(p.paused, section)
	if pl == nil || pl.life != p.incarnation {
		return false
	}
	p.pull, pl.halted, pl.newsAt = pl, false, e.now
	e.advance(pl)
	return true
}

// askPage requests the next page unless one is awaited, the last came, or too
// many are on their way to the store.
func (e *Engine) askPage(pl *pull) {
	if pl.request != 0 || pl.ended || pl.halted || len(pl.steps) >= stepsMax {
		return
	}
	if pl.mode == byRanges {
		e.askRanges(pl)
		return
	}
	e.request(pl, &Changes{
		ID: e.newID(), Section: pl.section.ID(),
		Incarnation: uint64(pl.since), After: pl.after, Inline: pl.inline, Bytes: pl.peer.pace.limit(),
	})
}

// request asks for a page of a pull.
func (e *Engine) request(pl *pull, m Message) {
	pl.request, pl.pageAt = e.lastID, e.now
	pl.deadline = e.now.Add(e.cfg.RequestTimeout)
	e.send(pl.peer, m)
}

// fetching returns the oldest step with records still to be fetched.
func (pl *pull) fetching() *step {
	for _, st := range pl.steps {
		if len(st.refs) > 0 {
			return st
		}
	}
	return nil
}

// advance moves a pull on: pages go to the store when they are ready, missing
// records and further pages are asked for, and the end is noticed.
func (e *Engine) advance(pl *pull) {
	if pl.dead {
		return
	}
	e.emitSteps(pl)
	if pl.halted {
		e.leave(pl)
		return
	}
	if st := pl.fetching(); st != nil && pl.getting == 0 && pl.hasRoom(st) {
		pl.getting, pl.getAt = e.newID(), e.now
		pl.deadline = e.now.Add(e.cfg.RequestTimeout)
		e.send(pl.peer, st.get(pl))
	}
	e.askPage(pl)
	if pl.request == 0 && pl.getting == 0 {
		pl.deadline = time.Time{} // waiting for this node, not for the peer
	}
	if pl.ended && len(pl.steps) == 0 {
		e.finish(pl)
	}
}

// get asks for the next records of a step.
func (st *step) get(pl *pull) *Get {
	if pl.refsGoal == 0 {
		pl.refsGoal = refsMax
	}
	n := min(len(st.refs), pl.refsGoal)
	pl.asked = n
	m := &Get{ID: pl.getting, Section: pl.section.ID(), Refs: []Ref{}, Bytes: pl.peer.pace.limit()}
	if len(st.tags) == 0 {
		m.Refs = st.refs[:n]
		return m
	}
	m.Salt = st.salt
	m.After, m.UpTo = st.refs[0].before(), st.refs[n-1].position()
	for i := range st.tags[:n] {
		m.Tags = append(m.Tags, st.tags[i][:]...)
	}
	return m
}

// taken notes that the first n records of a step were answered. When that is
// not all that was asked for, fewer are asked for the next time: names are
// bytes, too.
func (st *step) taken(n uint64) {
	pl := st.pull
	if n < uint64(pl.asked) {
		pl.refsGoal = int(n + n/8 + 1)
	} else {
		pl.refsGoal = min(2*pl.refsGoal, refsMax)
	}
	st.refs = st.refs[n:]
	if len(st.tags) > 0 {
		st.tags = st.tags[n:]
	}
}

// hasRoom reports whether more may be fetched for a step: what came for it is
// on its way to the store.
func (pl *pull) hasRoom(st *step) bool {
	stuck := st.storing || st != pl.steps[0]
	return st.verifying < partsMax && (len(st.records) == 0 || !stuck)
}

// emitSteps sends to the store what may go there, in the order of the pages. One
// that moves a cursor waits until those before it are stored: were they to fail,
// it must not move. The others follow each other at once, so that the store
// never waits for the engine's turn.
func (e *Engine) emitSteps(pl *pull) {
	for i, st := range pl.steps {
		if i > 0 && st.cursor != nil {
			return
		}
		e.emitReady(st)
		if !st.isAtStore() {
			return
		}
	}
}

// isAtStore reports whether all that will come of a page is on its way to the
// store.
func (st *step) isAtStore() bool {
	return st.storing && len(st.refs) == 0 && st.verifying == 0 && len(st.records) == 0
}

// emitReady sends to the store what may go there of one page.
func (e *Engine) emitReady(st *step) {
	switch {
	case st.storing:
	case len(st.refs) == 0 && st.verifying == 0:
		e.emit(st, true)
	case len(st.refs) > 0 && len(st.records) > 0:
		e.emit(st, false)
	}
}

// emit sends a page, or a part of one, to the store.
func (e *Engine) emit(st *step, last bool) {
	st.storing = true
	batch := e.judge(st.records)
	batch.Path, batch.From = store.PathFeed, st.peer
	if st.pull.mode != byFeed {
		batch.Path = store.PathReconcile
	}
	if last {
		batch.Cursor = st.cursor
	}
	if st.pull.unclean {
		batch.Cursor = nil
	}
	st.records = nil
	e.apply(ApplyBatch{Batch: batch}, func(res store.Result, err error) { e.stepApplied(st, last, res, err) })
}

func (e *Engine) stepApplied(st *step, last bool, res store.Result, err error) {
	e.count(res, err)
	st.storing = false
	pl := st.pull
	if pl.dead {
		return
	}
	if err != nil {
		// The store did not move the cursor, so the next pull comes back to the
		// same place.
		pl.peer.notBefore = e.now.Add(e.cfg.HeartbeatEvery)
		e.abort(pl)
		return
	}
	// What found no room among the parked must come again, but does not keep
	// back what follows it.
	pl.unclean = pl.unclean || res.Refused > 0
	pl.applied += res.Applied
	e.countRepaired(pl, res.Applied)
	if res.Applied+res.Parked > 0 {
		pl.newsAt, pl.peer.barren = e.now, false
	}
	if last {
		pl.steps = slices.DeleteFunc(pl.steps, func(s *step) bool { return s == st })
	}
	e.advance(pl)
}

// finish ends a pull whose last page is stored.
func (e *Engine) finish(pl *pull) {
	p := pl.peer
	e.retire(pl)
	mine, r := e.store.State(pl.section), p.remote.section(pl.section)
	r.refused, r.served = pl.unclean, false
	if at, ok := pl.reached(); ok && at >= r.head {
		p.unwant(pl.section) // a greeting that came meanwhile wants what has come by now
	}
	switch {
	case pl.mode == byRanges && pl.ranges.borrowed != (store.Span{}):
		// Whoever lent it goes on.
	case pl.unclean:
		p.unwant(pl.section)
		r.refusedRoom = e.rooms
		r.refusedUntil = e.now.Add(refusedRetry * e.cfg.HeartbeatEvery)
	case pl.mode == byRanges && pl.ranges.exact:
		p.compare = p.compare || pl.applied > 0
	case pl.mode == byRanges && pl.applied == 0 && !pl.ranges.partial:
		// Not again while neither side moves. After one that brought something there
		// may be more: what was covered here need not be by what came instead.
		r.listed = standoff{sum: mine.Sum, mine: uint64(mine.Count), head: r.head, n: r.count}
		r.idle = r.listed
		p.compare = p.compare || !pl.forced
	default:
		p.compare = true
	}
}

// reached returns the place in the peer's feed up to which everything was
// received; ok is false for a pull that proves none.
func (pl *pull) reached() (at uint64, ok bool) {
	if pl.mode == byFeed {
		return pl.after, !pl.unclean
	}
	rc := pl.ranges
	return rc.from.Seq, !pl.unclean && !rc.exact && !rc.partial && rc.borrowed == (store.Span{})
}

// halt makes a pull of a peer that is busy ask no more. What came is kept: to
// fetch it again would make the peer busier, and might get no further.
func (e *Engine) halt(pl *pull) {
	pl.request, pl.getting, pl.deadline, pl.halted = 0, 0, time.Time{}, true
	if pl.mode == byRanges {
		pl.ranges.askAgain(pl.ranges.asked)
		pl.ranges.asked = nil
		for _, g := range pl.ranges.open {
			g.request = 0
		}
	}
	for i, st := range pl.steps {
		if len(st.refs) == 0 {
			continue
		}
		if i+1 < len(pl.steps) { // one page is enough to keep
			pl.goBack(pl.steps[i+1:])
			pl.steps = pl.steps[:i+1]
		}
		break
	}
	e.advance(pl)
}

// goBack makes a pull ask again for pages that it drops.
func (pl *pull) goBack(dropped []*step) {
	pl.ended = false
	if pl.mode == byFeed {
		pl.after = dropped[0].after
		return
	}
	for _, st := range dropped {
		pl.ranges.askAgain(st.asked)
	}
}

// leave lets go of a halted pull once nothing of it is on its way, so that the
// section can be had of others meanwhile, and wants it again unless both sides
// are equal by now. It goes on then where it was: were it to begin anew, what
// costs more than the peer answers at once would never come to its end.
func (e *Engine) leave(pl *pull) {
	if len(pl.steps) > 0 {
		st := pl.steps[0]
		if len(st.refs) == 0 || st.verifying > 0 || st.storing || len(st.records) > 0 {
			return
		}
	}
	p := pl.peer
	p.pull, p.compare = nil, true
	if pl.mode == byRanges && pl.ranges.lender != nil {
		e.retire(pl)
		return
	}
	if p.remote.section(pl.section).isEqual {
		e.retire(pl)
		return
	}
	if len(p.paused) >= pausedMax {
		e.retire(pl) // it begins anew
	} else {
		p.paused[pl.section] = pl
	}
	p.wantFirst(wish{section: pl.section, list: pl.forced})
}

// abort gives a pull up; what it had stored stays, and a later comparison
// begins it again.
func (e *Engine) abort(pl *pull) {
	e.retire(pl)
	pl.peer.compare = true
}

func (e *Engine) retire(pl *pull) {
	pl.dead = true
	pl.steps = nil
	if pl.peer.pull == pl {
		pl.peer.pull = nil
	}
	if pl.ranges != nil {
		e.giveBack(pl)
	}
}

// breach gives a pull up because its peer broke the protocol.
func (e *Engine) breach(pl *pull, err error) {
	e.blame(pl.peer, err)
	pl.peer.notBefore = e.now.Add(e.cfg.HeartbeatEvery)
	e.abort(pl)
}
