package sync

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// missing returns the entries that this node neither holds nor has replaced
// nor keeps parked.
func (e *Engine) missing(section merge.Section, entries []Entry) ([]Ref, error) {
	var refs []Ref
	err := e.store.View(func(r *store.Reader) error {
		for _, entry := range entries {
			key, err := merge.ParseOrder(section, string(entry.Order))
			if err != nil {
				return fmt.Errorf("%w: %w", ErrProtocol, err)
			}
			stamp, err := hlc.Unpack(entry.Stamp)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrProtocol, err)
			}
			v := merge.Version{Writer: entry.Writer, Stamp: stamp, Hash: merge.Hash(entry.Hash)}
			known, err := Known(r, key, v)
			if err != nil {
				return err
			}
			if !known {
				refs = append(refs, Ref{Order: entry.Order, Writer: entry.Writer})
			}
		}
		return nil
	})
	return refs, err
}

// Known reports whether a version is held, covered, parked or retracted in the store of a
// reader. It looks at the version's writer, stamp and hash alone, so it may run
// before the signature is checked: the answer can only cause a drop. Errors:
// store.ErrCorrupt.
func Known(r *store.Reader, key merge.Key, v merge.Version) (bool, error) {
	held, err := r.Held(key)
	if err != nil {
		return false, err
	}
	for _, h := range held {
		if h.Hash == v.Hash || merge.Covers(h.Version, v) {
			return true, nil
		}
	}
	parked, err := r.IsParked(key, v.Hash)
	if err != nil || parked {
		return parked, err
	}
	return r.IsRetracted(key, v.Hash)
}

// finder returns which of some records are news.
type finder func([]*merge.Record) ([]*merge.Record, error)

// takeRecords decodes the records of an answer, which it keeps, and sends those
// that are news to the verifier. It returns the sum of their item hashes; ok is false when
// the peer broke the protocol, and the pull was given up.
func (e *Engine) takeRecords(st *step, wires [][]byte, news finder) (sum store.Sum, ok bool) {
	pl := st.pull
	records := make([]*merge.Record, 0, len(wires))
	for _, wire := range wires {
		r, err := merge.DecodeOwned(wire)
		unsupported := errors.Is(err, merge.ErrUnsupported)
		if unsupported {
			err = nil
		}
		if err == nil && r.Key.Section() != pl.section {
			err = fmt.Errorf("%w: %s outside of section %s", ErrProtocol, r.Key, pl.section)
		}
		if err == nil && !unsupported {
			err = e.admission.Check(&r)
		}
		if err != nil {
			e.breach(pl, fmt.Errorf("%w: %w", ErrProtocol, err))
			return sum, false
		}
		sum = sum.Add(r.Hash())
		if unsupported {
			// A later build can judge it, and lists the section anew once it runs here.
			e.counters.Unsupported++
			continue
		}
		records = append(records, &r)
	}
	found, err := news(records)
	if err != nil {
		e.counters.StoreErrors++
		e.abort(pl)
		return sum, false
	}
	if len(found) > 0 {
		e.verify(st, found)
	}
	return sum, true
}

// news returns the records that are neither held, covered nor parked.
func (e *Engine) news(records []*merge.Record) ([]*merge.Record, error) {
	var news []*merge.Record
	err := e.store.View(func(r *store.Reader) error {
		for _, record := range records {
			known, err := Known(r, record.Key, record.Version())
			if err != nil {
				return err
			}
			if !known {
				news = append(news, record)
			}
		}
		return nil
	})
	e.counters.Known += uint64(len(records) - len(news))
	return news, err
}

// newsOfPage is news for the records of a page. They lie next to each other,
// where nothing was held when the page was asked for: one walk tells of all, and
// only those whose keys it meets are looked up.
func (e *Engine) newsOfPage(records []*merge.Record) ([]*merge.Record, error) {
	if len(records) == 0 {
		return nil, nil
	}
	order := func(a, b *merge.Record) int { return strings.Compare(a.Key.Order(), b.Key.Order()) }
	first, last := slices.MinFunc(records, order).Key, slices.MaxFunc(records, order).Key
	var met map[merge.Key]bool
	complete := false
	err := e.store.View(func(r *store.Reader) (err error) {
		met, complete, err = r.KeysWithin(first, last, len(records))
		return err
	})
	if err != nil || !complete {
		return e.news(records)
	}
	var fresh, rest []*merge.Record
	for _, record := range records {
		if met[record.Key] {
			rest = append(rest, record)
			continue
		}
		fresh = append(fresh, record)
	}
	if len(rest) == 0 {
		return fresh, nil
	}
	rest, err = e.news(rest)
	return append(fresh, rest...), err
}

func (e *Engine) verify(st *step, records []*merge.Record) {
	b := VerifyBatch{ID: e.newID(), Records: records}
	e.verifying[b.ID] = st
	st.verifying++
	e.out.Verify = append(e.out.Verify, b)
}

// Verified takes the verdicts on a VerifyBatch, one for each record. A peer
// that sent a bad signature is blamed, since it stores only what verifies.
func (e *Engine) Verified(b VerifyBatch, ok []bool) {
	st := e.verifying[b.ID]
	delete(e.verifying, b.ID)
	if st == nil || st.pull.dead {
		return
	}
	for i, good := range ok {
		if !good {
			e.counters.BadSignatures++
			e.breach(st.pull, fmt.Errorf("%w: signature of %s by %s", ErrProtocol, b.Records[i].Key, b.Records[i].Envelope.LastWriterID))
			e.schedule()
			return
		}
	}
	st.verifying--
	st.records = append(st.records, b.Records...)
	e.advance(st.pull)
	e.schedule()
}

// judge sorts verified records by whether they are admitted. Fleet statements
// are learnt on the way, until no more of them become admissible, since one
// page may hold a statement and those that stand on it in any order.
func (e *Engine) judge(records []*merge.Record) store.Batch {
	for changed := true; changed; {
		changed = false
		for _, r := range records {
			if r.Key.Family() == FleetFamily && e.admission.Judge(r) == 0 && e.admission.Learn(r) {
				changed, e.reconsider = true, true
			}
		}
	}
	b := store.Batch{Mark: e.admission.Mark(), Records: make([]merge.Record, 0, len(records))}
	for _, r := range records {
		switch reason := e.admission.Judge(r); reason {
		case 0:
			b.Records = append(b.Records, *r)
		case store.ReasonFloor:
			// Its tombstone was collected by all; nothing can make it good again.
			e.counters.Collected++
		default:
			b.Park = append(b.Park, store.Parked{Record: *r, Reason: reason})
		}
	}
	return b
}

// Gossip takes a live message that came by way of a connected peer. Its
// records' signatures have been verified.
func (e *Engine) Gossip(from PeerID, g GossipBatch) {
	e.counters.GossipReceived++
	for _, r := range g.Records {
		if !e.cfg.Sharing.Shares(r.Key.Section()) || e.admission.Check(r) != nil {
			continue
		}
		if len(e.gossiped) >= gossipPendingMax {
			e.counters.GossipDropped++
			continue
		}
		e.gossiped = append(e.gossiped, r)
	}
	if p := e.peers[from]; p != nil && p.greeted {
		for _, s := range g.Announced {
			if e.cfg.Sharing.Shares(s) {
				p.want(wish{section: s})
			}
		}
	}
	e.schedule()
}

// flushGossiped cuts gossiped records into batches for the store. While two
// batches are on their way more are gathered, so that a burst makes large
// batches and a single write goes at once.
func (e *Engine) flushGossiped() {
	for len(e.gossiped) > 0 && e.gossipApplying < gossipApplyingMax {
		n := min(len(e.gossiped), batchRecordsMax)
		news, err := e.news(e.gossiped[:n])
		e.gossiped = e.gossiped[n:]
		if err != nil {
			e.counters.StoreErrors++
			continue
		}
		if len(news) == 0 {
			continue
		}
		batch := e.judge(news)
		batch.Path = store.PathGossip
		e.gossipApplying++
		e.apply(ApplyBatch{Batch: batch}, func(res store.Result, err error) {
			e.gossipApplying--
			e.count(res, err)
		})
	}
	if len(e.gossiped) == 0 {
		e.gossiped = nil
	}
}

func (e *Engine) count(res store.Result, err error) {
	e.noteApplied(res.Applied)
	e.counters.Applied += uint64(res.Applied)
	e.counters.Parked += uint64(res.Parked)
	e.dueUnknown = e.dueUnknown || res.Parked > 0
	e.counters.Refused += uint64(res.Refused)
	if err != nil {
		e.counters.StoreErrors++
		e.dueUnknown = true // it may have parked something all the same
	}
}

// releaseDue judges parked versions again when the time of one has come.
func (e *Engine) releaseDue() {
	if !e.due.IsZero() && e.store.Clock().Drift(e.due) <= hlc.DriftMax {
		e.due = hlc.Timestamp{}
		e.reconsider, e.dueUnknown = true, true
	}
}

// findDue looks for the parked version that waits for its time and whose time
// comes first.
func (e *Engine) findDue() {
	if !e.dueUnknown {
		return
	}
	e.dueUnknown, e.due = false, hlc.Timestamp{}
	clock := e.store.Clock()
	err := e.store.View(func(r *store.Reader) error {
		return r.Parked(func(p store.Parked) (more bool) {
			stamp := p.Record.Envelope.UpdatedHLC
			if clock.Drift(stamp) <= hlc.DriftMax {
				// Its time came after the last reconsidering had looked at it.
				e.reconsider = e.reconsider || e.admission.Judge(&p.Record) == 0
				return true
			}
			if e.due.IsZero() || e.due.After(stamp) {
				e.due = stamp
			}
			return true
		})
	})
	if err != nil {
		e.counters.StoreErrors++
		e.dueUnknown = true
	}
}
