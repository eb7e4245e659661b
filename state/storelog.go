package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/store"
)

// storeLog shows the state stream that a store keeps: references to its
// records, in commit order. It is compacted: when history drops a version, its
// event goes with it; the newest of each record is always there. Nothing is
// appended to it but by writing to the provider.
type storeLog struct{ *replica }

var _ eventlog.Compacted = storeLog{}

// Append implements eventlog.Log. Errors: ErrInvalid always.
func (storeLog) Append(context.Context, eventlog.AppendInput) (eventlog.Event, error) {
	return eventlog.Event{}, fmt.Errorf("%w: the events of a store are made by writing to its provider", ErrInvalid)
}

// Read implements eventlog.Log. The session in the event of a turn is its record
// as it was then, its turns counted by the turn's Seq.
func (l storeLog) Read(ctx context.Context, stream string, afterSeq int64, limit int) ([]eventlog.Event, error) {
	if err := eventlog.CheckStream(stream); err != nil {
		return nil, err
	}
	events := []eventlog.Event{}
	if stream != StateStream {
		return events, nil
	}
	err := l.each(ctx, afterSeq, func(r *store.Reader, e store.Event, rec *merge.Record) (bool, error) {
		in := goneEvent(rec)
		if !e.Gone {
			var err error
			if in, err = eventOf(r, rec, func(t Turn) (*Session, error) { return sessionAt(r, rec, t, e.Seq) }); err != nil {
				return false, err
			}
		}
		events = append(events, eventlog.Event{
			Stream: StateStream, Seq: int64(e.Seq), Time: in.Time, Type: in.Type, Payload: in.Payload,
			SchemaVersion: in.SchemaVersion, Path: e.Path.String(), OriginInstanceID: in.OriginInstanceID,
		})
		return limit <= 0 || len(events) < limit, nil
	})
	if err != nil {
		return nil, err
	}
	return events, nil
}

// each calls fn for the events after a number whose records are still there, in
// order, until it returns false or an error.
func (l storeLog) each(ctx context.Context, afterSeq int64, fn func(*store.Reader, store.Event, *merge.Record) (more bool, err error)) error {
	return l.view(ctx, func(r *store.Reader) error {
		var failed error
		err := r.Events(uint64(max(afterSeq, 0))+1, func(e store.Event) (more bool) {
			rec, err := image(r, e)
			if errors.Is(err, store.ErrNotFound) {
				return true
			}
			if err == nil {
				more, err = fn(r, e, &rec)
			}
			failed = cmp.Or(err, ctx.Err())
			return more && failed == nil
		})
		return cmp.Or(failed, err)
	})
}

// image is the record that an event shows. Of one that the fleet's statements
// took away, only that it is gone.
func image(r *store.Reader, e store.Event) (merge.Record, error) {
	if !e.Gone {
		return r.Image(e.Ref)
	}
	was, err := r.RetractedImage(e.Ref)
	if err != nil {
		return merge.Record{}, err
	}
	return withoutContent(&was), nil
}

// sessionAt is the session of a turn as the turn's event left it; nil when the
// turn came before its session, or the session's record of then is gone.
func sessionAt(r *store.Reader, rec *merge.Record, turn Turn, event uint64) (*Session, error) {
	image, err := r.ImageBefore(sessionKey(rec.Key.Scope, turn.SessionID), event)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil //nolint:nilnil // no session is an answer
	}
	if err != nil {
		return nil, err
	}
	ses, err := decodeSession(&image)
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // it is hidden
	}
	ses = tally{turns: turn.Seq, stamp: rec.Envelope.UpdatedHLC, writer: rec.Envelope.LastWriterID}.over(ses)
	return &ses, nil
}

// Retained implements eventlog.Compacted.
func (l storeLog) Retained(ctx context.Context, stream string) (first int64, err error) {
	if err := eventlog.CheckStream(stream); err != nil || stream != StateStream {
		return 1, err
	}
	err = l.view(ctx, func(r *store.Reader) error {
		whole, err := r.EventsWhole()
		first = int64(whole)
		return err
	})
	return first, err
}

// withoutContent is a record as a deletion shows it: what identifies it, and
// nothing of what it said.
func withoutContent(rec *merge.Record) merge.Record {
	var t tombstoneBody
	if decodeBody(rec, &t) != nil {
		t = tombstoneBody{} // it broke the rules of its kind
	}
	body, err := merge.Marshal(t)
	if err != nil {
		panic("state: encode a tombstone: " + err.Error()) // texts and numbers always encode
	}
	gone := *rec
	gone.Body, gone.Blobs, gone.Envelope.Deleted = body, nil, true
	return gone
}
