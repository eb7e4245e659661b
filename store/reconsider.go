package store

import (
	"context"

	"github.com/fleetsync/fleetd/merge"
)

// Verdict is what a judge says of a parked version.
type Verdict uint8

const (
	// VerdictPark leaves it parked.
	VerdictPark Verdict = iota
	// VerdictAdmit releases it: it is merged like any other.
	VerdictAdmit
)

// Reconsider judges every parked version again: after a fleet statement, at
// start, when the time of a stamp has come. judge runs on the caller's
// goroutine, outside of any transaction. An admitted version whose stamp is
// still too far ahead stays parked; one that a held version covers goes to the
// key's history. The result counts those that stay as Parked. Errors: that of
// ctx before a part, ErrCorrupt, ErrClosed, the engine's.
func (s *Store) Reconsider(ctx context.Context, judge func(rec *merge.Record) Verdict) (Result, error) {
	var total Result
	var from []byte
	for {
		released, stay, next, err := s.judgeSome(from, judge)
		total.Parked += stay
		if err != nil {
			return total, err
		}
		for _, req := range released {
			result, err := s.submitParts(ctx, req)
			total = total.Add(result)
			if err != nil {
				return total, err
			}
		}
		if next == nil {
			return total, nil
		}
		from = next
	}
}

// judgeSome judges parked versions from a row of q/ on, until a transaction is
// full. It returns the requests that release the admitted ones, one for each
// run of one path, and the row to go on from, nil at the end.
func (s *Store) judgeSome(from []byte, judge func(*merge.Record) Verdict) (released []*request, stay int, next []byte, err error) {
	records, bytes := 0, 0
	err = s.View(func(r *Reader) error {
		return r.parkedFrom(from, func(key []byte, p Parked) bool {
			if records == scanChunkMax || bytes > txnBytesMax {
				next = append([]byte(nil), key...)
				return false
			}
			records++
			if judge(&p.Record) != VerdictAdmit || !s.observe(&p.Record) {
				stay++
				return true
			}
			if n := len(released); n == 0 || released[n-1].path != p.Path {
				released = append(released, newRequest(p.Path))
			}
			req := released[len(released)-1]
			e := entry{rec: p.Record, packed: pack(&p.Record), parked: true}
			bytes += recordBytes(&e.rec, &e.packed)
			req.entries = append(req.entries, e)
			return true
		})
	})
	return released, stay, next, err
}
