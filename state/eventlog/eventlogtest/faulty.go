package eventlogtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/fleetsync/fleetd/state/eventlog"
)

// ErrInjected is what FailOn lets a Faulty log fail with.
var ErrInjected = errors.New("eventlogtest: injected failure")

// Op names a method of a log.
type Op string

// The methods of a log.
const (
	OpAppend         Op = "append"
	OpRead           Op = "read"
	OpSaveSnapshot   Op = "save snapshot"
	OpLatestSnapshot Op = "latest snapshot"
)

// Ops returns every Op.
func Ops() []Op { return []Op{OpAppend, OpRead, OpSaveSnapshot, OpLatestSnapshot} }

// Plan says with what error the n-th call of op fails, counted from 1 for each
// op; nil lets it happen. It is called by whoever calls the log, possibly by
// several at once.
type Plan func(op Op, n int) error

// FailOn returns the plan by which the given calls of op fail with ErrInjected;
// all of them when none is given.
func FailOn(op Op, calls ...int) Plan {
	return func(called Op, n int) error {
		if called != op || len(calls) > 0 && !slices.Contains(calls, n) {
			return nil
		}
		return fmt.Errorf("%w: %s %d", ErrInjected, op, n)
	}
}

// Faulty is a log that fails on demand, before the log below is asked: so a
// failed call has no effect, as a Log must see to. It is safe for concurrent
// use; NewFaulty makes one. It is not eventlog.Compacted, whatever lies below.
type Faulty struct {
	log eventlog.Log

	mu    sync.Mutex // guards what follows
	plan  Plan
	calls map[Op]int
}

var _ eventlog.Log = (*Faulty)(nil)

// NewFaulty returns a log over another that fails by plan; nil for never.
func NewFaulty(log eventlog.Log, plan Plan) *Faulty {
	return &Faulty{log: log, plan: plan, calls: map[Op]int{}}
}

// SetPlan makes plan the one of the calls to come, and counts from 1 again.
func (f *Faulty) SetPlan(plan Plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan = plan
	clear(f.calls)
}

// Calls returns how many calls of op the present plan has seen, failed ones
// included.
func (f *Faulty) Calls(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// fault counts a call and returns how it fails.
func (f *Faulty) fault(op Op) error {
	f.mu.Lock()
	f.calls[op]++
	plan, n := f.plan, f.calls[op]
	f.mu.Unlock()
	if plan == nil {
		return nil
	}
	return plan(op, n)
}

// Append implements eventlog.Log.
func (f *Faulty) Append(ctx context.Context, in eventlog.AppendInput) (eventlog.Event, error) {
	if err := f.fault(OpAppend); err != nil {
		return eventlog.Event{}, err
	}
	return f.log.Append(ctx, in)
}

// Read implements eventlog.Log.
func (f *Faulty) Read(ctx context.Context, stream string, afterSeq int64, limit int) ([]eventlog.Event, error) {
	if err := f.fault(OpRead); err != nil {
		return nil, err
	}
	return f.log.Read(ctx, stream, afterSeq, limit)
}

// SaveSnapshot implements eventlog.Log.
func (f *Faulty) SaveSnapshot(ctx context.Context, s eventlog.Snapshot) error {
	if err := f.fault(OpSaveSnapshot); err != nil {
		return err
	}
	return f.log.SaveSnapshot(ctx, s)
}

// LatestSnapshot implements eventlog.Log.
func (f *Faulty) LatestSnapshot(ctx context.Context, stream string, upTo int64) (eventlog.Snapshot, error) {
	if err := f.fault(OpLatestSnapshot); err != nil {
		return eventlog.Snapshot{}, err
	}
	return f.log.LatestSnapshot(ctx, stream, upTo)
}
