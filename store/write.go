package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// Write is one local write. build reads through r, stamps with Clock, seals,
// and returns the records to be held; none is no write. It runs on the
// caller's goroutine, beside other writers, and runs again when something that
// it read by key (Held, Head, Record, Load, Image, OwnCovered, History, Index,
// Local) changed before its records were committed; what it read by scanning
// is not checked. Nothing is written until build's last run, and all of its
// records or none.
//
// Writers that pass the same lock, usually the key's text, run one after the
// other, so that they do not repeat each other's work; correctness does not
// depend on it. A build must not call Write, Merge or another writer of the
// store.
//
// Write returns nil once the records are durable. Errors: that of build,
// unchanged; ErrCovered for a record that would not be held; ErrTooLarge;
// hlc.ErrClockDrift for a stamp from the far future; that of ctx when it ends
// before the commit; ErrClosed; the engine's.
func (s *Store) Write(ctx context.Context, lock string, build func(r *Reader) ([]merge.Record, error)) error {
	return s.optimistic(ctx, lock, func(req *request, r *Reader) error {
		records, err := build(r)
		if err != nil {
			return err
		}
		req.entries = make([]entry, 0, len(records))
		for _, rec := range records {
			// What this clock has issued it knows, also when time went back since.
			if stamp := rec.Envelope.UpdatedHLC; stamp.After(s.clock.Last()) {
				if err := s.clock.Observe(stamp); err != nil {
					return fmt.Errorf("store: write %s: %w", rec.Key, err)
				}
			}
			req.add(rec)
		}
		if req.records() > txnRecordsMax || req.bytes() > txnBytesMax {
			return fmt.Errorf("%w: %d records", ErrTooLarge, len(records))
		}
		return nil
	})
}

// SetLocal stores a small node-private value that never leaves this machine:
// an invitation, an address. nil deletes it. Errors: ErrTooLarge beyond
// 256 KiB, that of ctx, ErrClosed, the engine's.
func (s *Store) SetLocal(ctx context.Context, name string, value []byte) error {
	return s.UpdateLocal(ctx, name, func([]byte) ([]byte, error) { return value, nil })
}

// UpdateLocal reads and replaces a node-private value in one step: fn gets the
// old value, nil when there is none, and returns the new one, nil to delete.
// It may run more than once. Errors: that of fn, unchanged, and those of
// SetLocal.
func (s *Store) UpdateLocal(ctx context.Context, name string, fn func(old []byte) ([]byte, error)) error {
	return s.optimistic(ctx, prefixLocal+name, func(req *request, r *Reader) error {
		old, err := r.Local(name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		value, err := fn(old)
		if err != nil {
			return err
		}
		if len(name)+len(value) > localBytesMax {
			return fmt.Errorf("%w: local value %.60q of %d bytes", ErrTooLarge, name, len(value))
		}
		req.locals = []localWrite{{name, value}}
		return nil
	})
}

// optimistic fills a request from a snapshot and commits it, again and again
// until nothing that was read has changed in between. After a few rounds it
// fills it while nothing else can commit, so that it ends however busy the
// store is.
func (s *Store) optimistic(ctx context.Context, lock string, fill func(*request, *Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	release, err := s.locks.acquire(ctx, lock)
	if err != nil {
		return err
	}
	defer release()
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	for attempt := 0; ; attempt++ {
		req := newRequest(PathLocal)
		req.strict = true
		prepare := func() error {
			req.reads, req.epoch = &readSet{}, s.epoch.Load()
			return s.view(req.reads, func(r *Reader) error { return fill(req, r) })
		}
		if attempt >= retriesMax {
			req.prepare = prepare
		} else if err := prepare(); err != nil {
			return err
		} else if req.empty() {
			return nil
		}
		if err := s.submit(ctx, req); !errors.Is(err, errStale) {
			return err
		}
	}
}
