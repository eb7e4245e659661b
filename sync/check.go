package sync

import (
	"errors"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// check compares every section with one peer, exactly and without fetching
// anything. It walks one section after the other, each from its beginning to
// the first key that differs. What is under way differs too: a difference counts
// when it is the same after nothing has moved for a while.
type check struct {
	peer   PeerID
	life   store.Incarnation
	done   func(Checked)
	result Checked

	begun     bool            // the peer was asked for its heads
	listed    bool            // todo is known
	todo      []merge.Section // in order; the first is at hand while walk is set
	walk      *walk
	request   uint64 // that is awaited, 0 for none
	deadline  time.Time
	notBefore time.Time
	movedAt   time.Time // when it last got on
	obstacle  string    // why it does not
}

// Check compares every shared section with a connected peer, and fetches nothing
// for it. done is called once with what was found, within a call of the engine:
// it must neither block nor call the engine.
func (e *Engine) Check(id PeerID, done func(Checked)) {
	switch {
	case e.peers[id] == nil:
		done(Checked{Peer: id, Unfinished: UnfinishedLost})
		return
	case e.checkOf(id) != nil:
		done(Checked{Peer: id, Unfinished: UnfinishedTwice})
		return
	}
	e.checks = append(e.checks, &check{peer: id, done: done, movedAt: e.now, result: Checked{Peer: id}})
	e.moveChecks()
}

// EndCheck ends the check of a peer with what it has found so far.
func (e *Engine) EndCheck(id PeerID) {
	if c := e.checkOf(id); c != nil {
		e.endCheck(c, UnfinishedEnded)
	}
}

func (e *Engine) checkOf(id PeerID) *check {
	if i := slices.IndexFunc(e.checks, func(c *check) bool { return c.peer == id }); i >= 0 {
		return e.checks[i]
	}
	return nil
}

func (e *Engine) endCheck(c *check, unfinished string) {
	e.checks = slices.DeleteFunc(e.checks, func(o *check) bool { return o == c })
	c.result.Unfinished = unfinished
	c.done(c.result)
}

// loseCheck ends the check of a peer that left, or came back as another.
func (e *Engine) loseCheck(id PeerID) {
	if c := e.checkOf(id); c != nil {
		e.endCheck(c, UnfinishedLost)
	}
}

// moveChecks moves the first few checks on, and gives up those that do not get
// on.
func (e *Engine) moveChecks() {
	for i, c := range slices.Clone(e.checks) {
		if i >= checksMax {
			c.movedAt = e.now // its turn has not come
			continue
		}
		if c.request != 0 && e.now.After(c.deadline) {
			c.request, c.obstacle = 0, UnfinishedSilent
			e.counters.Timeouts++
		}
		if e.now.Sub(c.movedAt) >= checkPatience {
			e.endCheck(c, c.obstacle)
			continue
		}
		if c.request == 0 && !e.now.Before(c.notBefore) {
			e.moveCheck(c)
		}
	}
}

// moveCheck asks the next question of a check.
func (e *Engine) moveCheck(c *check) {
	p := e.peers[c.peer]
	switch {
	case !e.store.Ready():
		c.obstacle = UnfinishedNotReady
		return
	case !p.greeted:
		c.obstacle = UnfinishedSilent
		return
	case !c.begun:
		// What a section holds that was begun a moment ago, its answer tells.
		c.begun, c.life, c.obstacle = true, p.incarnation, UnfinishedSilent
		e.sendHeartbeat(p)
		return
	case !c.listed && len(p.sent) > 0:
		return
	case !c.listed:
		c.todo, c.listed = e.sectionsWith(p), true
		c.movedAt = e.now
	}
	e.walkOn(c, p)
}

// sectionsWith returns the sections of which this node or a peer holds
// something, but for those that are not shared here.
func (e *Engine) sectionsWith(p *peer) []merge.Section {
	all := map[merge.Section]bool{}
	for _, own := range e.sections() {
		all[own.Section] = own.Count > 0
	}
	for section, r := range p.remote.of {
		all[section] = all[section] || r.count > 0 && e.cfg.Sharing.Shares(section)
	}
	var list []merge.Section
	for section, holds := range all {
		if holds {
			list = append(list, section)
		}
	}
	slices.SortFunc(list, merge.Section.Compare)
	return list
}

// walkOn goes on in the section at hand, or begins the next.
func (e *Engine) walkOn(c *check, p *peer) {
	for c.walk == nil {
		if len(c.todo) == 0 {
			e.endCheck(c, "")
			return
		}
		if p.withholds(c.todo[0]) {
			e.closeWalk(c, p, OutcomeNotShared, nil)
			continue
		}
		w, err := e.newWalk(c.todo[0])
		if err != nil && !e.failWalk(c, p, err) {
			return
		}
		if err == nil {
			c.walk = w
		}
	}
	if c.walk.isOver() {
		e.closeWalk(c, p, OutcomeEqual, nil)
		e.walkOn(c, p)
		return
	}
	if wait := c.walk.quietAt; e.now.Before(wait) {
		c.notBefore = wait
		c.movedAt = e.now
		return
	}
	e.askWalk(c, p)
}

func (e *Engine) askWalk(c *check, p *peer) {
	w := c.walk
	m := &Recon{ID: e.newID(), Section: w.section.ID(), Salt: e.salt(), Exact: true}
	if err := e.store.View(func(r *store.Reader) error { return w.fill(m, r) }); err != nil {
		e.failWalk(c, p, err)
		return
	}
	c.request, c.deadline, c.obstacle = m.ID, e.now.Add(e.cfg.RequestTimeout), UnfinishedSilent
	e.send(p, m)
}

// closeWalk notes the outcome of the section at hand and goes on to the next.
func (e *Engine) closeWalk(c *check, p *peer, outcome Outcome, first *Difference) {
	section := c.todo[0]
	c.result.Sections = append(c.result.Sections, CheckedSection{
		Section: section, Outcome: outcome, First: first,
		Here: uint64(e.store.State(section).Count), There: p.remote.section(section).count,
	})
	if outcome == OutcomeDiffers {
		e.counters.Differences++
	}
	c.todo, c.walk = c.todo[1:], nil
}

// failWalk notes that this node could not read its own rows. It reports whether
// that ends the section at hand.
func (e *Engine) failWalk(c *check, p *peer, err error) (closed bool) {
	if errors.Is(err, store.ErrNotReady) {
		c.obstacle = UnfinishedNotReady
		return false
	}
	e.counters.StoreErrors++
	e.closeWalk(c, p, OutcomeDamagedHere, nil)
	return true
}

// receiveCheck takes a message when it answers the question of a check.
func (e *Engine) receiveCheck(p *peer, m Message) (taken bool) {
	c := e.checkOf(p.id)
	if c == nil || c.request == 0 || p.incarnation != c.life {
		return false
	}
	switch m := m.(type) {
	case *Busy:
		if taken = m.ID == c.request; taken {
			wait := min(time.Duration(m.Retry)*time.Millisecond, time.Minute)
			c.request, c.obstacle = 0, UnfinishedBusy
			c.notBefore = e.now.Add(wait + time.Duration(e.random(int(busyRetry))))
		}
	case *Error:
		if taken = m.ID == c.request; taken {
			c.request = 0
			e.refuseWalk(c, p, m.Code)
		}
	case *ReconAnswer:
		if taken = m.ID == c.request; taken {
			c.request = 0
			e.answerWalk(c, p, m)
		}
	}
	return taken
}

// refuseWalk notes why a peer does not answer for the section at hand.
func (e *Engine) refuseWalk(c *check, p *peer, code uint64) {
	switch code {
	case CodeNotShared:
		e.closeWalk(c, p, OutcomeNotShared, nil)
	case CodeUnavailable:
		e.closeWalk(c, p, OutcomeDamagedThere, nil)
	default:
		e.endCheck(c, UnfinishedBroken)
		return
	}
	c.movedAt = e.now
	e.moveCheck(c)
}

// answerWalk takes the answer to the question of a section.
func (e *Engine) answerWalk(c *check, p *peer, m *ReconAnswer) {
	if store.Incarnation(m.Incarnation) != c.life {
		e.endCheck(c, UnfinishedLost)
		e.greetAgain(p)
		return
	}
	w := c.walk
	err := e.store.View(func(r *store.Reader) error { return w.take(r, m) })
	switch {
	case errors.Is(err, ErrProtocol):
		e.blame(p, err)
		e.endCheck(c, UnfinishedBroken)
		return
	case err != nil:
		e.failWalk(c, p, err)
	case w.confirming && w.found != nil:
		e.weigh(c, p, m)
	case w.confirming:
		w.resume()
	case w.found != nil:
		e.doubt(w, m)
	}
	c.movedAt = e.now
	if c.walk != nil && c.walk.isEndless() {
		e.closeWalk(c, p, OutcomeChanging, nil)
	}
	e.moveCheck(c)
}

// doubt notes a key that differs, to be asked of again after a while.
func (e *Engine) doubt(w *walk, m *ReconAnswer) {
	w.confirming, w.key = true, w.found.Key
	w.mine, w.theirHead = e.store.State(w.section), m.Head
	w.quietAt = e.now.Add(e.checkQuiet())
}

// weigh decides whether a key that differs once more differs for good: nothing
// has moved on either side in between, and no pull has just begun or brought
// something.
func (e *Engine) weigh(c *check, p *peer, m *ReconAnswer) {
	w := c.walk
	moves := slices.ContainsFunc(e.order, func(id PeerID) bool {
		pl := e.peers[id].pull
		return pl != nil && pl.section == w.section && e.now.Sub(pl.newsAt) < e.checkQuiet()
	})
	if !moves && e.store.State(w.section) == w.mine && m.Head == w.theirHead {
		e.closeWalk(c, p, OutcomeDiffers, w.found)
		return
	}
	w.moves++
	e.doubt(w, m)
}

// checkQuiet is how long nothing may move before a difference counts. In a small
// fleet everybody tells everybody what it has soon after it is quiet; in a large
// one some hear of it with the next heartbeat.
func (e *Engine) checkQuiet() time.Duration {
	if len(e.order) > partnersMax {
		return 2*quietAfter + e.cfg.HeartbeatEvery
	}
	return 2 * quietAfter
}
