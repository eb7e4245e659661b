package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
)

// Past is a version that is not held any more, kept in the local history of its
// key.
type Past struct {
	Held
	// CoveredAt is when this store moved it to history, to the millisecond.
	CoveredAt time.Time
	// Retracted says why the version may not be held; 0 for one that another
	// covers. A retracted one is shown to nobody, covers nothing, and is judged
	// again with every statement.
	Retracted Reason
}

// appendPast appends the value of h/: the held version, then the time in
// milliseconds as 8 bytes, then the reason1 of a retracted one.
func appendPast(dst []byte, p *Past) []byte {
	dst = appendUint64(appendHeld(dst, &p.Held), uint64(p.CoveredAt.UnixMilli()))
	if p.Retracted != 0 {
		dst = append(dst, byte(p.Retracted))
	}
	return dst
}

// decodePast is the inverse of appendPast. Errors: ErrCorrupt.
func decodePast(b []byte) (Past, error) {
	d := decoder{rest: string(b)}
	var p Past
	d.held(&p.Held)
	p.CoveredAt = time.UnixMilli(int64(d.uint64())).UTC()
	if d.rest != "" {
		p.Retracted = Reason(d.byte())
		d.bad = d.bad || p.Retracted == 0
	}
	if !d.done() {
		return Past{}, fmt.Errorf("%w: history row of %d bytes", ErrCorrupt, len(b))
	}
	return p, nil
}

// scanPast reads the history of a key, ascending by seq. Errors: ErrCorrupt.
func scanPast(tx Txn, sec ordinal, k merge.Key) ([]Past, error) {
	var past []Past
	err := scan(tx, appendRowKey(nil, prefixHistory, sec, k), nil, false, func(_, value []byte) (bool, error) {
		p, err := decodePast(value)
		past = append(past, p)
		return true, err
	})
	return past, err
}

// pastOf is the history of a key as the transaction has it so far.
func (g *stage) pastOf(ks *keyState) ([]Past, error) {
	var past []Past
	if ks.sec != nil && ks.row.history > len(ks.past) {
		var err error
		if past, err = scanPast(g.tx, ks.sec.ordinal, ks.key); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				g.fatal = err
			}
			return nil, err
		}
	}
	return append(past, ks.past...), nil
}

// prune brings the histories that outgrew their bound back to it, with the
// records and events that only they refer to.
func (g *stage) prune() error {
	budget, refs := pruneKeysMax, pruneRefsMax
	for _, ks := range g.touched {
		if ks.row.history <= g.s.cfg.HistoryMax+historySlack || budget == 0 || ks.rejudged {
			continue
		}
		budget--
		past, err := g.pastOf(ks)
		if err != nil {
			return err
		}
		gone := map[uint64]bool{} // by seq
		for _, p := range surplus(past, g.s.cfg.HistoryMax, g.s.cfg.Now()) {
			if p.Blobs {
				if refs < merge.BlobsMax {
					continue
				}
				refs -= merge.BlobsMax
				if err := g.letGo(ks, &p); errors.Is(err, ErrCorrupt) {
					continue // what it refers to is not known any more
				} else if err != nil {
					return err
				}
			}
			gone[p.Seq] = true
			g.delete(appendSeqKey(nil, prefixHistory, ks.sec.ordinal, ks.key, p.Seq))
			g.delete(appendSeqKey(nil, prefixRecord, ks.sec.ordinal, ks.key, p.Seq))
			if p.Event > 0 {
				g.delete(eventKey(nil, p.Event))
			}
		}
		ks.row.history = len(past) - len(gone)
		g.setRetracted(ks, slices.ContainsFunc(past, func(p Past) bool { return p.Retracted != 0 && !gone[p.Seq] }))
	}
	return nil
}

// surplus returns the versions of a history that go when at most limit may
// stay: kept first are the newest of each writer and the newest older than an
// hour, a day and a week, then the newest of the rest.
func surplus(past []Past, limit int, now time.Time) []Past {
	if len(past) <= limit {
		return nil
	}
	newest := slices.Clone(past)
	slices.SortFunc(newest, func(a, b Past) int { return merge.Compare(b.Version, a.Version) })
	rank := make(map[uint64]int, len(newest)) // by seq; larger stays longer
	writers := map[merge.InstanceID]bool{}
	for _, p := range newest {
		if !writers[p.Writer] {
			writers[p.Writer] = true
			rank[p.Seq] = 2
		}
	}
	for _, age := range [...]time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour} {
		i := slices.IndexFunc(newest, func(p Past) bool { return now.Sub(p.Stamp.Time()) > age })
		if i >= 0 {
			rank[newest[i].Seq] = max(rank[newest[i].Seq], 1)
		}
	}
	slices.SortStableFunc(newest, func(a, b Past) int { return cmp.Compare(rank[b.Seq], rank[a.Seq]) })
	return newest[limit:]
}

// History returns the covered versions that the store still keeps of a key, in
// the order in which they came. Errors: ErrCorrupt.
func (r *Reader) History(k merge.Key) ([]Past, error) {
	past, err := r.past(k)
	return slices.DeleteFunc(past, func(p Past) bool { return p.Retracted != 0 }), err
}

// past returns everything in the history of a key. Errors: ErrCorrupt.
func (r *Reader) past(k merge.Key) ([]Past, error) {
	versions, err := r.row(k)
	if err != nil || versions.history == 0 {
		return nil, err
	}
	n, _ := r.table.of(k.Section()) // what has a row has an ordinal
	return scanPast(r.tx, n, k)
}

// OwnCovered returns the newest version of a writer in the history of a key,
// nil when there is none: what merge.Supersede wants when the writer's version
// is not held. Errors: ErrCorrupt.
func (r *Reader) OwnCovered(k merge.Key, writer merge.InstanceID) (*merge.Version, error) {
	past, err := r.History(k)
	if err != nil {
		return nil, err
	}
	var newest *merge.Version
	for i := range past {
		v := &past[i].Version
		if v.Writer == writer && (newest == nil || merge.Compare(*v, *newest) > 0) {
			newest = v
		}
	}
	return newest, nil
}
