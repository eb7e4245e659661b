package state

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/store"
)

// recorder writes the events of one provider to a log of the caller's: stamp,
// append, apply. The store belongs to the provider alone and nothing reaches it
// past the recorder, so a write that has its event is never refused any more.
// Safe for concurrent use.
type recorder struct {
	log eventlog.Log

	// writing has room for one: it is taken by each write from its reads to its end,
	// and by whoever must see log and store say the same.
	writing chan struct{}

	// last is the Seq of the newest event that the store has.
	last store.Eventcount

	mu sync.Mutex // guards all following fields
	// partial says why the store is not all that the log says; empty when it is.
	partial string
}

func newRecorder(log eventlog.Log) *recorder {
	return &recorder{log: log, writing: make(chan struct{}, 1)}
}

// enter waits until nobody writes. Errors: that of ctx, store.ErrClosed.
func (c *recorder) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case c.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.last.Closed() {
		<-c.writing
		return store.ErrClosed
	}
	return nil
}

func (c *recorder) leave() { <-c.writing }

// close ends all waiting, refuses writes, and waits for the one in progress: its
// event may be in the log already.
func (c *recorder) close() {
	c.last.Close()
	c.writing <- struct{}{}
	<-c.writing
}

// lacks notes why the store is not all that the log says.
func (c *recorder) lacks(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.partial = why
}

// whole returns an error when the store is not all that the log says: a snapshot
// of it would hide the rest. Errors: ErrConflict.
func (c *recorder) whole() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.partial != "" {
		return fmt.Errorf("%w: no snapshot of a log of which this provider is a part: %s", ErrConflict, c.partial)
	}
	return nil
}

// head returns the Seq of the newest event that the store has.
func (c *recorder) head() int64 { return int64(c.last.Load()) }

// advance notes that the store has an event.
func (c *recorder) advance(seq int64) { c.last.Advance(uint64(seq)) }

// write is store.Write with the event in between: when it cannot be appended,
// nothing is written.
func (c *recorder) write(ctx context.Context, st *store.Store, lock string, build func(r *store.Reader) ([]merge.Record, error)) error {
	if err := c.enter(ctx); err != nil {
		return err
	}
	defer c.leave()
	// From the event on, the write must not stop for the caller's sake.
	appended := int64(0)
	err := st.Write(context.WithoutCancel(ctx), lock, func(r *store.Reader) ([]merge.Record, error) {
		records, err := build(r)
		if err != nil || len(records) == 0 {
			return nil, err
		}
		in, err := eventOfAll(r, records)
		if err != nil {
			return nil, err
		}
		event, err := c.log.Append(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("state: append event: %w", err)
		}
		appended = event.Seq
		return records, nil
	})
	if err == nil && appended > 0 {
		if last := c.head(); appended != last+1 {
			c.lacks(fmt.Sprintf("event %d follows %d, so somebody else has appended in between", appended, last))
		}
		c.advance(appended)
	}
	return err
}

// eventOfAll is one event for what one call writes: that of the first record,
// with the post-images of all.
func eventOfAll(r *store.Reader, records []merge.Record) (eventlog.AppendInput, error) {
	var whole eventlog.AppendInput
	for i := range records {
		in, err := eventOf(r, &records[i], func(t Turn) (*Session, error) { return sessionWith(r, &records[i], t) })
		if err != nil {
			return eventlog.AppendInput{}, err
		}
		if i == 0 {
			whole = in
			continue
		}
		for key, image := range in.Payload {
			whole.Payload[key] = image
		}
	}
	return whole, countOutcomes(r, records, whole.Payload)
}

// countOutcomes puts the sums of a skill's outcomes into its image, those that
// the same call credits included: whoever projects the event has all of it.
func countOutcomes(r *store.Reader, records []merge.Record, payload map[string]any) error {
	image, isSkill := payload[payloadSkill].(map[string]any)
	if !isSkill || records[0].Envelope.Deleted {
		return nil
	}
	key := records[0].Key
	sums, err := outcomeSumsOf(r, key.Scope, string(key.ID))
	if err != nil {
		return err
	}
	for i := range records[1:] {
		o, err := decodeOutcome(&records[1+i])
		if err != nil {
			continue
		}
		before, err := heldOutcome(r, records[1+i].Key)
		if err != nil {
			return err
		}
		if before != nil {
			sums = sums.minus(sumsOf(*before))
		}
		sums = sums.plus(sumsOf(o))
	}
	counted := sums.shownBy(Skill{})
	image["Uses"], image["Wins"] = int64(counted.Uses), int64(counted.Wins)
	return nil
}

// sessionWith is the live session of a turn that is about to be written, as the
// turn leaves it.
func sessionWith(r *store.Reader, rec *merge.Record, turn Turn) (*Session, error) {
	key := sessionKey(rec.Key.Scope, turn.SessionID)
	ses, err := liveSession(r, key)
	if errors.Is(err, ErrNotFound) {
		return nil, nil //nolint:nilnil // a deleted session has turns that can be undone
	}
	if err != nil {
		return nil, err
	}
	t, err := tallyOf(r, key)
	if err != nil {
		return nil, err
	}
	before, err := head(r, rec.Key)
	if err != nil {
		return nil, err
	}
	if before == nil {
		t.turns++
	}
	t.take(rec.Envelope.UpdatedHLC, rec.Envelope.LastWriterID)
	ses = t.over(ses)
	return &ses, nil
}
