package state

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/store"
)

// foldPage is how many events are read at a time.
const foldPage = 1024

// fold applies all events of a log after the last one that was applied.
func (p *projection) fold(ctx context.Context, log eventlog.Log) error {
	switch log := log.(type) {
	case storeLog:
		return p.foldStore(ctx, log)
	case eventlog.Scanner:
		return p.foldScan(ctx, log)
	default:
		return p.foldPages(ctx, log)
	}
}

// foldStore folds the stream of a store: each record is the image of its event,
// so none of them has to become a payload and back.
func (p *projection) foldStore(ctx context.Context, log storeLog) error {
	return log.each(ctx, p.lastSeq, func(r *store.Reader, e store.Event, rec *merge.Record) (more bool, err error) {
		p.lastSeq = int64(e.Seq)
		if e.Gone {
			p.drop(rec.Key)
			return true, nil
		}
		if rec, err = whole(r, rec); err != nil {
			return false, err
		}
		p.applyRecord(rec)
		return true, nil
	})
}

func (p *projection) foldScan(ctx context.Context, log eventlog.Scanner) error {
	for e, err := range log.Scan(ctx, StateStream, p.lastSeq) {
		if err != nil {
			return fmt.Errorf("state: read the state stream after %d: %w", p.lastSeq, err)
		}
		if err := p.take(e); err != nil {
			return err
		}
	}
	return nil
}

// take applies the next event.
func (p *projection) take(e eventlog.Event) error {
	if e.Stream != StateStream || e.Seq <= p.lastSeq {
		return fmt.Errorf("%w: the log gives event %d of %.60q after event %d of %q", ErrInvalid, e.Seq, e.Stream, p.lastSeq, StateStream)
	}
	if err := p.apply(e); err != nil {
		return fmt.Errorf("state: event %d, %.60q: %w", e.Seq, e.Type, err)
	}
	p.lastSeq = e.Seq
	return nil
}

func (p *projection) foldPages(ctx context.Context, log eventlog.Log) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		events, err := log.Read(ctx, StateStream, p.lastSeq, foldPage)
		if err != nil {
			return fmt.Errorf("state: read the state stream after %d: %w", p.lastSeq, err)
		}
		for _, e := range events {
			if err := p.take(e); err != nil {
				return err
			}
		}
		if len(events) < foldPage {
			return nil
		}
	}
}

// Skipped counts events that a fold did not understand, by type: they are of
// later builds, of records that are hidden, or of sessions in another scope.
type Skipped map[string]int

// String lists the types with their counts, for a log.
func (s Skipped) String() string {
	var parts []string
	for _, t := range slices.Sorted(maps.Keys(s)) {
		parts = append(parts, fmt.Sprintf("%s: %d", t, s[t]))
	}
	return strings.Join(parts, ", ")
}
