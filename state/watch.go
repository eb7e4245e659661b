package state

import (
	"context"
	"iter"

	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/store"
)

// watchPage is how many events a watcher reads at a time.
const watchPage = 256

// Watch implements Replica.
func (p *replica) Watch(ctx context.Context, after int64) iter.Seq2[eventlog.Event, error] {
	return func(yield func(eventlog.Event, error) bool) {
		after := after // each range begins there
		for {
			end, err := p.eventHead(ctx)
			var events []eventlog.Event
			if err == nil {
				events, err = p.Log().Read(ctx, StateStream, after, watchPage)
			}
			if err != nil {
				yield(eventlog.Event{}, err)
				return
			}
			full := len(events) == watchPage
			for _, e := range events {
				if p.recorder != nil && e.Seq > end {
					full = false // it is in the log and not applied yet
					break
				}
				after = e.Seq
				if !yield(e, nil) {
					return
				}
			}
			if full {
				continue
			}
			after = max(after, end) // what is missing up to there is gone
			if err := p.await(ctx, after); err != nil {
				yield(eventlog.Event{}, err)
				return
			}
		}
	}
}

// eventHead returns the Seq of the newest event that the provider has taken in.
func (p *replica) eventHead(ctx context.Context) (end int64, err error) {
	if p.recorder != nil {
		end = p.recorder.head()
	}
	err = p.view(ctx, func(r *store.Reader) error {
		if p.recorder != nil {
			return nil // only that it is open
		}
		n, err := r.EventHead()
		end = int64(n)
		return err
	})
	return end, err
}

// await returns once there is an event after a number.
func (p *replica) await(ctx context.Context, after int64) error {
	if p.recorder != nil {
		return p.recorder.last.Await(ctx, uint64(after))
	}
	return p.store.AwaitEvent(ctx, uint64(after))
}
