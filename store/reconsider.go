package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/fleetsync/fleetd/merge"
)

// Judge is what the fleet's statements make of versions. It is pure: the same
// statements give the same answers. It may be asked on any goroutine, within a
// transaction too, and must not call the store.
type Judge interface {
	// Judge returns why a version may not be held, 0 when it may.
	Judge(rec *merge.Record) Reason
	// JudgeVersion is Judge without the record; sure is false when that is needed.
	JudgeVersion(k merge.Key, v merge.Version) (reason Reason, sure bool)
	// Mark names the statements that take something away: while it stays the same,
	// nothing that was admitted has become inadmissible. One that was left may come
	// back.
	Mark() [32]byte
}

// Reconsider judges again what is here: after a fleet statement, at start, when
// the time of a stamp has come. Parked versions that are admitted are merged
// like any other; one whose stamp is still too far ahead stays parked; one that
// a held version covers goes to the key's history. When the statements take
// something away that they did not when Reconsider last came to its end (see
// Judge.Mark), or versions came since that were judged by other ones (see
// Batch.Mark), every version is judged: what is not admissible is retracted, and
// what it had covered comes back. The result counts those that stay parked as
// Parked. A local write that was begun before is built anew. Errors: that of ctx
// before a part, ErrCorrupt, ErrClosed, the engine's; then the next call begins
// anew.
func (s *Store) Reconsider(ctx context.Context, judge Judge) (Result, error) {
	mark := judge.Mark()
	known, err := s.judgedBy()
	if err != nil {
		return Result{}, err
	}
	narrowed := known == nil || !bytes.Equal(known, mark[:])
	if narrowed {
		// From here on no write commits that was judged by less. The mark is taken
		// away first and written last, so that a crash in between starts it over.
		if err := s.submit(ctx, &request{turn: make(chan struct{}, 1), judge: judge, by: &mark, judging: begun}); err != nil {
			return Result{}, err
		}
	}
	total, err := s.rejudgeAll(ctx, judge, narrowed)
	if err != nil {
		return total, err
	}
	released, err := s.release(ctx, judge)
	total = total.Add(released)
	if err != nil || !narrowed {
		return total, err
	}
	return total, s.submit(ctx, &request{turn: make(chan struct{}, 1), judge: judge, by: &mark, judging: ended})
}

// rejudgeAll computes the keys anew that are judged otherwise: of all, or of
// those that have retracted versions.
func (s *Store) rejudgeAll(ctx context.Context, judge Judge, all bool) (Result, error) {
	var total Result
	if !all && s.retracted.Load() == 0 {
		return total, nil
	}
	find := s.retractedFrom
	if all {
		find = func(from []byte) ([]merge.Key, []byte, error) { return s.misjudgedFrom(from, judge) }
	}
	for from := []byte(nil); ; {
		keys, next, err := find(from)
		if err != nil {
			return total, err
		}
		result, err := s.rejudgeKeys(ctx, judge, keys)
		total = total.Add(result)
		if err != nil {
			return total, err
		}
		if next == nil {
			return total, nil
		}
		from = next
	}
}

// rejudgeKeys computes keys anew, as many at once as fit into a transaction.
func (s *Store) rejudgeKeys(ctx context.Context, judge Judge, keys []merge.Key) (Result, error) {
	var total Result
	for n := len(keys); len(keys) > 0; {
		req := newRequest(PathRetract)
		req.judge, req.keys = judge, keys[:min(n, len(keys))]
		err := s.submit(ctx, req)
		switch {
		case errors.Is(err, ErrTooLarge) && len(req.keys) > 1:
			n = len(req.keys) / 2
		case err != nil:
			return total, err
		default:
			total = total.Add(req.result)
			keys = keys[req.judged:]
		}
	}
	return total, nil
}

// misjudgedFrom returns keys that do not hold what they should, looking at so
// many rows of v/ from one on, and the row to go on from, nil at the end.
func (s *Store) misjudgedFrom(from []byte, judge Judge) (keys []merge.Key, next []byte, err error) {
	rows := 0
	err = s.View(func(r *Reader) error {
		return scan(r.tx, []byte(prefixVersions), from, false, func(key, value []byte) (bool, error) {
			if rows++; rows > rejudgeRowsMax || len(keys) == rejudgeKeysMax {
				next = bytes.Clone(key)
				return false, nil
			}
			n, order, err := splitRowKey(prefixVersions, key, 0)
			if err != nil {
				return false, err
			}
			k, err := r.parseKey(n, order)
			if errors.Is(err, errUnseen) {
				return true, nil // begun after the statements were learnt
			}
			if err != nil {
				return false, err
			}
			versions, err := decodeRow(value)
			if err != nil {
				return false, err
			}
			wrong, err := r.isMisjudged(k, n, &versions, judge)
			if wrong {
				keys = append(keys, k)
			}
			return true, err
		})
	})
	return keys, next, err
}

// isMisjudged reports whether a version of a key is judged otherwise than it was.
func (r *Reader) isMisjudged(k merge.Key, n ordinal, versions *row, judge Judge) (bool, error) {
	reasonOf := func(h *Held) (Reason, error) {
		reason, sure := judge.JudgeVersion(k, h.Version)
		if sure {
			return reason, nil
		}
		rec, err := r.load(k, h)
		if err != nil {
			return 0, err
		}
		return judge.Judge(&rec), nil
	}
	for i := range versions.held {
		if reason, err := reasonOf(&versions.held[i]); err != nil || reason != 0 {
			return err == nil, err
		}
	}
	if versions.history == 0 {
		return false, nil
	}
	past, err := scanPast(r.tx, n, k)
	if err != nil {
		return false, err
	}
	for i := range past {
		if reason, err := reasonOf(&past[i].Held); err != nil || reason != past[i].Retracted {
			return err == nil, err
		}
	}
	return false, nil
}

// retractedFrom returns some of the keys that have retracted versions, from a
// row of i/ 3 on, and the row to go on from, nil at the end.
func (s *Store) retractedFrom(from []byte) (keys []merge.Key, next []byte, err error) {
	err = s.View(func(r *Reader) error {
		return r.retractedKeys(from, func(key []byte, k merge.Key) bool {
			if len(keys) == rejudgeKeysMax {
				next = bytes.Clone(key)
				return false
			}
			keys = append(keys, k)
			return true
		})
	})
	return keys, next, err
}

// release merges the parked versions that are admitted.
func (s *Store) release(ctx context.Context, judge Judge) (Result, error) {
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
func (s *Store) judgeSome(from []byte, judge Judge) (released []*request, stay int, next []byte, err error) {
	records, size := 0, 0
	err = s.View(func(r *Reader) error {
		return r.parkedFrom(from, func(key []byte, p Parked) bool {
			if records == scanChunkMax || size > txnBytesMax {
				next = bytes.Clone(key)
				return false
			}
			records++
			reason := judge.Judge(&p.Record)
			if reason == 0 && !s.observe(&p.Record) {
				reason = ReasonFuture
			}
			if reason != 0 && reason == p.Reason {
				stay++
				return true
			}
			if n := len(released); n == 0 || released[n-1].path != p.Path {
				released = append(released, newRequest(p.Path))
			}
			req := released[len(released)-1]
			packed := pack(&p.Record)
			size += recordBytes(&p.Record, &packed)
			if reason != 0 { // it stays, for another reason
				p.Reason = reason
				req.parks = append(req.parks, parkWrite{p, packed, true})
				return true
			}
			req.entries = append(req.entries, entry{rec: p.Record, packed: packed, parked: true})
			return true
		})
	})
	return released, stay, next, err
}
