package store

import (
	"slices"

	"github.com/fleetsync/fleetd/merge"
)

// Retraction follows from the fleet's statements: a version that was held may
// not be any more (its writer was banned), and then what it covered may have to
// come back; later it may be allowed again. So a key whose versions are judged
// otherwise than before is computed anew from all that is known of it: it holds
// every version, of v/ and h/, that is admissible and that no admissible one
// covers, and what it held but for what these cover. What is not admissible stays in h/, marked, under the bounds of
// history; i/ 3 finds the keys that have such versions.

// candidate is a version of a key that is judged anew.
type candidate struct {
	Held
	past   *Past // nil for one that is held
	reason Reason
	stays  bool // among what the key will hold
}

// rejudgeAll computes keys of a request anew, as many as the transaction has room
// for, or notes by what they are judged.
func (g *stage) rejudgeAll(req *request) error {
	for i, k := range req.keys {
		done, err := g.rejudge(req, k)
		if err != nil || !done {
			return err
		}
		req.judged = i + 1
	}
	g.noteJudging(req)
	return nil
}

// rejudge computes one key anew. It reports false when the transaction has no
// room for it.
func (g *stage) rejudge(req *request, k merge.Key) (done bool, err error) {
	ks, err := g.key(k)
	if err != nil {
		return true, err
	}
	all, err := g.candidates(ks, req.judge)
	if err != nil || !changesAnything(all) {
		return true, err
	}
	if !g.hasRoomToRestore(req, all) {
		return false, nil
	}
	g.change(ks)
	ks.rejudged = true
	old := row{held: ks.row.held}
	var next []Held
	marked := false
	for i := range all {
		c := &all[i]
		if err := g.place(req, ks, c); err != nil {
			return true, err
		}
		if c.stays {
			next = append(next, c.Held)
		}
		marked = marked || !c.stays && c.reason != 0 && !c.drops()
	}
	slices.SortFunc(next, func(a, b Held) int { return merge.Compare(a.Version, b.Version) })
	ks.row.held = next
	g.setRetracted(ks, marked)
	g.setConflict(ks, len(next) > 1)
	return true, g.turnHead(req, ks, &old)
}

// place moves a version to where it belongs: held, covered or retracted.
func (g *stage) place(req *request, ks *keyState, c *candidate) error {
	isHeld := c.past == nil
	switch {
	case c.stays && isHeld:
		return nil
	case c.stays:
		return g.restore(req, ks, c)
	case isHeld && c.reason == 0:
		g.cover(req, ks, &c.Held)
		return nil
	case isHeld:
		return g.retract(req, ks, c)
	case c.past.Retracted != c.reason:
		return g.remark(ks, c)
	}
	return nil
}

// candidates returns all versions that are known of a key, judged.
func (g *stage) candidates(ks *keyState, judge Judge) ([]candidate, error) {
	past, err := g.pastOf(ks)
	if err != nil {
		return nil, err
	}
	all := make([]candidate, 0, len(ks.row.held)+len(past))
	for _, h := range ks.row.held {
		all = append(all, candidate{Held: h})
	}
	for i := range past {
		all = append(all, candidate{Held: past[i].Held, past: &past[i]})
	}
	var admitted, held []merge.Version
	for i := range all {
		c := &all[i]
		var sure bool
		if c.reason, sure = judge.JudgeVersion(ks.key, c.Version); !sure {
			rec, err := g.record(ks, &c.Held)
			if err != nil {
				return nil, err
			}
			c.reason = judge.Judge(rec)
		}
		if c.reason == 0 {
			admitted = append(admitted, c.Version)
		}
		if c.reason == 0 && c.past == nil {
			held = append(held, c.Version)
		}
	}
	// What is held goes only for what will be held. Of honest writers that is the
	// same; but a version in history may cover what its own successor does not, when
	// two machines wrote under one key, and whoever never had it would bring back for
	// ever what it takes away here.
	for _, v := range merge.Resolve(append(held, merge.Resolve(admitted)...)) {
		i := slices.IndexFunc(all, func(c candidate) bool { return c.Hash == v.Hash })
		all[i].stays = true
	}
	return all, nil
}

// changesAnything reports whether a key has to be written.
func changesAnything(all []candidate) bool {
	return slices.ContainsFunc(all, func(c candidate) bool {
		isHeld := c.past == nil
		return c.stays != isHeld || !isHeld && c.past.Retracted != c.reason
	})
}

// hasRoomToRestore reports whether the records that a key gets back fit into
// the transaction. One key always does.
func (g *stage) hasRoomToRestore(req *request, all []candidate) bool {
	bytes := 0
	for i := range all {
		if all[i].stays && all[i].past != nil {
			bytes += all[i].Size
		}
	}
	if req.restored > 0 && req.restored+bytes > txnBytesMax {
		return false
	}
	req.restored += bytes
	return true
}

// drops reports whether a version that may not be held is not kept either: the
// tombstone of a floor is what remains of it. The head that somebody saw last
// is kept, to be written anew by a person.
func (c *candidate) drops() bool {
	if c.reason != ReasonFloor {
		return false
	}
	if c.past == nil {
		return c.Deleted
	}
	return c.past.Retracted != ReasonFloor
}

// leave stages that a version is not held any more. The section's head moves
// past it, so that partners compare.
func (g *stage) leave(req *request, ks *keyState, h *Held) {
	key := feedKey(g.arena.room(feedKeyBytes), ks.sec.ordinal, h.Seq)
	g.arena.keep(key)
	g.delete(key)
	g.tail.seq++
	g.effects = append(g.effects, effect{newMove(ks, h, true), g.tail.seq})
	req.commit.Covered = append(req.commit.Covered, Ref{ks.key, h.Writer, h.Hash})
}

// retract moves a held version to the marked part of history, or drops it.
func (g *stage) retract(req *request, ks *keyState, c *candidate) error {
	g.leave(req, ks, &c.Held)
	req.result.Retracted++
	p := Past{Held: c.Held, CoveredAt: g.s.cfg.Now().UTC(), Retracted: c.reason}
	if c.drops() {
		return g.dropPast(ks, &p, false)
	}
	g.writePast(ks, &p)
	ks.row.history++
	return nil
}

// remark changes why a version in history may not be held, 0 for one that is
// only covered.
func (g *stage) remark(ks *keyState, c *candidate) error {
	p := *c.past
	p.Retracted = c.reason
	if c.drops() {
		return g.dropPast(ks, &p, true)
	}
	g.writePast(ks, &p)
	return nil
}

// restore brings a version of history back among the held ones, at a new place
// in the feed: partners have read past its old one.
func (g *stage) restore(req *request, ks *keyState, c *candidate) error {
	rec, err := g.record(ks, &c.Held)
	if err != nil {
		return err
	}
	g.delete(appendSeqKey(nil, prefixHistory, ks.sec.ordinal, ks.key, c.Seq))
	g.delete(appendSeqKey(nil, prefixRecord, ks.sec.ordinal, ks.key, c.Seq))
	ks.row.history--
	g.tail.seq++
	c.Seq = g.tail.seq
	e := entry{rec: *rec, packed: pack(rec)}
	g.setRecord(ks, &e, c.Seq)
	g.setFeed(ks, &c.Held)
	g.effects = append(g.effects, effect{newMove(ks, &c.Held, false), c.Seq})
	req.result.Restored++
	req.commit.Records = append(req.commit.Records, *rec)
	return nil
}

// writePast stages one row of h/.
func (g *stage) writePast(ks *keyState, p *Past) {
	size := rowKeySize(prefixHistory, ks.key, seqBytes)
	key := appendSeqKey(g.arena.room(size), prefixHistory, ks.sec.ordinal, ks.key, p.Seq)
	g.arena.keep(key)
	g.finish(key, appendPast(g.arena.room(heldBytes(&p.Held)+9+checksumBytes), p))
}

// dropPast stages that nothing is kept of a version. inHistory says that it has
// a row there.
func (g *stage) dropPast(ks *keyState, p *Past, inHistory bool) error {
	if err := g.letGo(ks, p); err != nil {
		return err
	}
	g.delete(appendSeqKey(nil, prefixRecord, ks.sec.ordinal, ks.key, p.Seq))
	if p.Event > 0 {
		g.delete(eventKey(nil, p.Event))
	}
	if inHistory {
		g.delete(appendSeqKey(nil, prefixHistory, ks.sec.ordinal, ks.key, p.Seq))
		ks.row.history--
	}
	return nil
}

// isRetracted reports whether a version is in the marked part of its key's
// history.
func (g *stage) isRetracted(ks *keyState, item merge.Hash) (bool, error) {
	if ks.sec == nil || ks.row.history == 0 || g.s.retracted.Load()+int64(g.retracted) == 0 {
		return false, nil
	}
	stored, err := g.getRow(retractedKey(ks.sec.ordinal, ks.key))
	if err != nil || stored == nil {
		return false, err
	}
	past, err := g.pastOf(ks)
	return slices.ContainsFunc(past, func(p Past) bool { return p.Hash == item && p.Retracted != 0 }), err
}

// setRetracted stages i/ 3: whether the key has retracted versions.
func (g *stage) setRetracted(ks *keyState, marked bool) {
	key := retractedKey(ks.sec.ordinal, ks.key)
	stored, err := g.getRow(key)
	if err != nil || (stored != nil) == marked {
		return // g.fatal ends the group
	}
	by := -1
	var value []byte
	if marked {
		by, value = 1, []byte{}
	}
	g.setRow(key, value)
	g.retracted += by
	g.undo = append(g.undo, func() { g.retracted -= by })
}

func retractedKey(sec ordinal, k merge.Key) []byte { return appendRowKey(nil, prefixRetracted, sec, k) }

// turnHead stages what follows when a key has another head than it had, or none.
func (g *stage) turnHead(req *request, ks *keyState, old *row) error {
	was, head := old.head(), ks.row.head()
	switch {
	case head != nil && (was == nil || was.Hash != head.Hash):
		rec, err := g.headRecord(req, ks, head)
		if err != nil {
			return err
		}
		return g.moveHead(req, ks, old, head, rec)
	case head == nil && was != nil:
		return g.loseHead(req, ks, was)
	}
	return nil
}

// headRecord is the record of a new head, which may have come back just now.
func (g *stage) headRecord(req *request, ks *keyState, head *Held) (*merge.Record, error) {
	for i := range req.commit.Records {
		if req.commit.Records[i].Hash() == head.Hash {
			return &req.commit.Records[i], nil
		}
	}
	return g.record(ks, head)
}

// loseHead stages that nothing is visible of a key any more.
func (g *stage) loseHead(req *request, ks *keyState, was *Held) error {
	previous, err := g.record(ks, was)
	if err != nil {
		return err
	}
	ks.head = nil
	g.tail.event++
	event := Event{Seq: g.tail.event, Path: req.path, Ref: Ref{ks.key, was.Writer, was.Hash}, Gone: true}
	if indexer := g.s.cfg.Indexer; indexer != nil {
		event.Type = indexer.EventType(ks.key.Kind, true)
		if err := g.index(previous, nil); err != nil {
			return err
		}
	}
	g.setEvent(ks, &event)
	req.commit.Events = append(req.commit.Events, event)
	return nil
}
