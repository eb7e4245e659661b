package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// eventGone is set in the first byte of an event that leaves a key without a head.
const eventGone = 0x80

// appendEvent appends the value of e/: path1, with eventGone or without, text
// type, sec8, text order key, text writer, itemHash32.
func appendEvent(dst []byte, sec ordinal, e *Event) []byte {
	first := byte(e.Path)
	if e.Gone {
		first |= eventGone
	}
	dst = append(dst, first)
	dst = appendText(dst, e.Type)
	dst = appendUint64(dst, uint64(sec))
	dst = appendOrder(dst, e.Ref.Key)
	dst = appendText(dst, e.Ref.Writer)
	return append(dst, e.Ref.Hash[:]...)
}

// decodeEvent is the inverse of appendEvent; the key comes apart, since it
// needs the section table. Errors: ErrCorrupt.
func decodeEvent(seq uint64, b []byte) (e Event, sec ordinal, order string, err error) {
	d := decoder{rest: string(b)}
	first := d.byte()
	e = Event{Seq: seq, Path: Path(first &^ eventGone), Gone: first&eventGone != 0, Type: d.text()}
	sec, order = ordinal(d.uint64()), d.text()
	e.Ref.Writer, e.Ref.Hash = merge.InstanceID(d.text()), d.hash()
	if !d.done() || e.Path == 0 || e.Ref.Writer == "" {
		return Event{}, 0, "", fmt.Errorf("%w: event %d of %d bytes", ErrCorrupt, seq, len(b))
	}
	return e, sec, order, nil
}

// Events calls fn for the events of the state stream from the given number on,
// in order, until fn returns false. The stream is compacted: an event whose
// version history has dropped is gone, the newest of each key is always there.
// Errors: ErrCorrupt.
func (r *Reader) Events(from uint64, fn func(e Event) (more bool)) error {
	return scan(r.tx, []byte(prefixEvent), eventKey(nil, from), false, func(key, value []byte) (bool, error) {
		seq, err := lastSeq(key)
		if err != nil {
			return false, err
		}
		e, sec, order, err := decodeEvent(seq, value)
		if err != nil {
			return false, err
		}
		e.Ref.Key, err = r.parseKey(sec, order)
		if errors.Is(err, errUnseen) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return fn(e), nil
	})
}

// EventsWhole returns the smallest number, at least 1, from which on the state
// stream has every event; one more than the newest when that is gone. Errors:
// ErrCorrupt.
func (r *Reader) EventsWhole() (first uint64, err error) {
	newest, err := r.EventHead()
	if err != nil {
		return 0, err
	}
	first = newest + 1
	err = scan(r.tx, []byte(prefixEvent), nil, true, func(key, _ []byte) (bool, error) {
		seq, err := lastSeq(key)
		if err != nil || seq > newest {
			return err == nil, err
		}
		if seq+1 != first {
			return false, nil
		}
		first = seq
		return true, nil
	})
	return first, err
}

// AwaitEvent returns once the state stream has an event after the given number:
// at once when it has. Errors: that of ctx, ErrClosed.
func (s *Store) AwaitEvent(ctx context.Context, after uint64) error {
	return s.events.Await(ctx, after)
}

// EventHead returns the number of the newest event; 0 when there was none.
// Errors: ErrCorrupt.
func (r *Reader) EventHead() (uint64, error) {
	end, err := loadTail(r.tx)
	return end.event, err
}

// ImageBefore returns the version that was head of a key when the state stream
// had come to an event, the event itself excluded. Errors: ErrNotFound when there
// was none or history has dropped it, ErrCorrupt.
func (r *Reader) ImageBefore(k merge.Key, event uint64) (merge.Record, error) {
	versions, err := r.row(k)
	if err != nil {
		return merge.Record{}, err
	}
	var newest *Held
	if head := versions.head(); head != nil && head.Event < event {
		newest = head
	} else {
		past, err := r.History(k)
		if err != nil {
			return merge.Record{}, err
		}
		for i := range past {
			if h := &past[i].Held; h.Event > 0 && h.Event < event && (newest == nil || h.Event > newest.Event) {
				newest = h
			}
		}
	}
	if newest == nil {
		return merge.Record{}, fmt.Errorf("%w: version of %s before event %d", ErrNotFound, k, event)
	}
	return r.load(k, newest)
}

// Image returns the record that a reference names, held or in history. Errors:
// ErrNotFound when history has dropped it, ErrCorrupt.
func (r *Reader) Image(ref Ref) (merge.Record, error) {
	versions, err := r.row(ref.Key)
	if err != nil {
		return merge.Record{}, err
	}
	for i := range versions.held {
		if versions.held[i].Hash == ref.Hash {
			return r.load(ref.Key, &versions.held[i])
		}
	}
	past, err := r.History(ref.Key)
	if err != nil {
		return merge.Record{}, err
	}
	for i := range past {
		if past[i].Hash == ref.Hash {
			return r.load(ref.Key, &past[i].Held)
		}
	}
	return merge.Record{}, missingImage(ref)
}

func missingImage(ref Ref) error { return fmt.Errorf("%w: version of %s", ErrNotFound, ref.Key) }
