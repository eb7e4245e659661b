package store

import (
	"context"
	"errors"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Batch is what came from elsewhere: already decoded, verified and judged. Its
// records must be sealed or decoded ones.
type Batch struct {
	Path Path
	// From is the peer that delivered it, whose room it takes when it is parked;
	// empty for nobody in particular, as with gossip, which others pass on.
	From merge.InstanceID
	// Records are admitted versions, in any order, of any keys.
	Records []merge.Record
	// Mark is what Judge.Mark was before they were judged. When the statements
	// changed on their way here, the next Reconsider judges every version.
	Mark [32]byte
	// Park are versions that must wait.
	Park []Parked
	// Cursor, when set, moves with the last of the batch.
	Cursor *CursorMove
}

// Result counts what became of the versions of a batch.
type Result struct {
	// Applied are held since; each is in a Commit.
	Applied int
	// Covered were covered by a held version.
	Covered int
	// Known were there already.
	Known int
	// Parked are parked now, and durable.
	Parked int
	// Retracted are not held any more, since the statements do not admit them, and
	// Restored are held again.
	Retracted, Restored int
	// Refused found no room among the parked: they are not stored. The exchange
	// was not clean, and the cursor was not moved.
	Refused int
}

// Add returns the sum of both.
func (r Result) Add(o Result) Result {
	return Result{
		Applied: r.Applied + o.Applied, Covered: r.Covered + o.Covered, Known: r.Known + o.Known,
		Parked: r.Parked + o.Parked, Refused: r.Refused + o.Refused,
		Retracted: r.Retracted + o.Retracted, Restored: r.Restored + o.Restored,
	}
}

// Merge applies versions that came from elsewhere and parks others. Every
// stamp is observed before its version is committed; a version from beyond
// hlc.DriftMax is parked with ReasonFuture. A batch that is too large for one
// transaction is applied in several, and the cursor moves in the last: when
// Merge fails, a part may have been applied, and applying the batch again does
// no harm. Errors: that of ctx before a part, ErrCorrupt, ErrClosed, the
// engine's.
func (s *Store) Merge(ctx context.Context, b Batch) (Result, error) {
	var total Result
	for {
		var req *request
		req, b = s.part(b)
		last := len(b.Records)+len(b.Park) == 0
		if last {
			req.cursor = b.Cursor
			req.unclean = total.Refused > 0
		}
		result, err := s.submitParts(ctx, req)
		total = total.Add(result)
		if err != nil || last {
			return total, err
		}
	}
}

// part takes from a batch what fits into one transaction.
func (s *Store) part(b Batch) (*request, Batch) {
	req := newRequest(b.Path)
	req.by = &b.Mark
	req.entries = make([]entry, 0, min(len(b.Records), mergeRecordsMax))
	records, bytes := 0, 0
	fits := func(rec *merge.Record, p *packed) bool {
		records++
		bytes += recordBytes(rec, p)
		return records == 1 || records <= mergeRecordsMax && bytes <= mergeBytesMax
	}
	for len(b.Records) > 0 {
		e := entry{rec: b.Records[0], packed: pack(&b.Records[0])}
		if !fits(&e.rec, &e.packed) {
			return req, b
		}
		b.Records = b.Records[1:]
		if s.observe(&e.rec) {
			req.entries = append(req.entries, e)
			continue
		}
		req.parks = append(req.parks, parkWrite{Parked{Record: e.rec, Reason: ReasonFuture, Path: b.Path, From: b.From}, e.packed, false})
	}
	for len(b.Park) > 0 {
		p := parkWrite{b.Park[0], pack(&b.Park[0].Record), false}
		p.Path, p.From = b.Path, b.From
		if !fits(&p.Record, &p.packed) {
			return req, b
		}
		b.Park = b.Park[1:]
		req.parks = append(req.parks, p)
	}
	return req, b
}

// observe folds a foreign stamp into the clock; it reports false for one that
// lies too far ahead.
func (s *Store) observe(rec *merge.Record) bool {
	return !errors.Is(s.clock.Observe(rec.Envelope.UpdatedHLC), hlc.ErrClockDrift)
}

// submitParts submits a request, in halves when the engine finds it too large:
// rows with large bases may be more than part estimates.
func (s *Store) submitParts(ctx context.Context, req *request) (Result, error) {
	err := s.submit(ctx, req)
	if !errors.Is(err, ErrTooLarge) || req.records() < 2 {
		return req.result, err
	}
	first, second := req.split()
	total, err := s.submitParts(ctx, first)
	if err != nil {
		return total, err
	}
	second.unclean = second.unclean || total.Refused > 0
	result, err := s.submitParts(ctx, second)
	return total.Add(result), err
}

// split makes two requests of one, with the moves in the second.
func (q *request) split() (first, second *request) {
	first, second = newRequest(q.path), newRequest(q.path)
	first.by, second.by = q.by, q.by
	e, p := len(q.entries)/2, len(q.parks)/2
	if e+p == 0 {
		e = len(q.entries) // one of each: records first, then the parked
	}
	first.entries, second.entries = q.entries[:e], q.entries[e:]
	first.parks, second.parks = q.parks[:p], q.parks[p:]
	second.cursor, second.unclean = q.cursor, q.unclean
	return first, second
}
