package eventlog

import (
	"context"
	"fmt"
	"iter"
	"unicode/utf8"
)

// Log keeps streams of events, and snapshots of what their folds give.
//
// Implementations are safe for concurrent use. A stream needs no set-up: it
// begins with its first event or snapshot. Every method refuses a stream that
// [CheckStream] refuses, with ErrInvalid. A context that is over before a write
// began is its error, and nothing is written; reads may look at theirs. Any
// other error is the log's own trouble and not the caller's.
// eventlogtest.RunSuite holds an implementation to all of this.
type Log interface {
	// Append writes in as the next event of its stream and returns it with what
	// the log assigned, as [NewEvent] says. It is atomic: on an error there is no
	// event, and the next one gets the Seq that this one would have had. When it
	// returned, every later Read sees the event. Errors: ErrInvalid.
	Append(ctx context.Context, in AppendInput) (Event, error)
	// Read returns the events of a stream whose Seq is larger than afterSeq, in
	// the order of Seq, at most limit of them; limit <= 0 is no cap. Beyond the
	// end, and of an unknown stream, the slice is empty and not nil. A log that
	// is [Compacted] skips what is gone, which does not count against limit: so
	// fewer than limit events are always the last ones. The caller owns what it
	// gets. Errors: ErrInvalid.
	Read(ctx context.Context, stream string, afterSeq int64, limit int) ([]Event, error)
	// SaveSnapshot keeps s, in place of a snapshot of the same stream and Seq.
	// Errors: ErrInvalid, also for a negative Seq.
	SaveSnapshot(ctx context.Context, s Snapshot) error
	// LatestSnapshot returns the stream's snapshot with the largest Seq that is
	// not larger than upTo; upTo <= 0 means any. The caller owns its payload.
	// Errors: ErrNotFound, ErrInvalid.
	LatestSnapshot(ctx context.Context, stream string, upTo int64) (Snapshot, error)
}

// Compacted is a Log that drops old events: those whose records a later event
// of the stream shows anew. The newest image of every record always stays, so a
// fold from the start gives the same state. Seq stays dense as it was assigned;
// Read has gaps where events are gone.
type Compacted interface {
	Log
	// Retained returns the smallest Seq, at least 1, from which on every event
	// of the stream is still there: a Read after first-1, or after anything
	// larger, misses no change. Before it there are gaps. It is 1 when nothing
	// was dropped, and one more than the last Seq when the last event was.
	// Errors: ErrInvalid.
	Retained(ctx context.Context, stream string) (first int64, err error)
}

// Scanner is a Log that can show its events without a copy of each, for readers
// of all of them.
type Scanner interface {
	Log
	// Scan yields what Read returns without a limit, as it was when the scan began,
	// until the consumer stops or the first error. Whoever gets an event must not
	// change its payload. Errors: ErrInvalid, that of ctx.
	Scan(ctx context.Context, stream string, afterSeq int64) iter.Seq2[Event, error]
}

// Snapshot is what folding a stream up to and including Seq gave. The log does
// not look into Payload; it may be sealed by a [SnapshotCodec]. Seq 0 is before
// the first event.
type Snapshot struct {
	Stream  string
	Seq     int64
	Payload []byte
}

// Check returns ErrInvalid for a snapshot that no log takes.
func (s Snapshot) Check() error {
	if s.Seq < 0 {
		return fmt.Errorf("%w: a snapshot at %d", ErrInvalid, s.Seq)
	}
	return CheckStream(s.Stream)
}

// CheckStream returns ErrInvalid for what is no name of a stream: the empty
// text, and what is not UTF-8.
func CheckStream(stream string) error {
	return checkName("stream", stream)
}

func checkName(field, name string) error {
	if name == "" {
		return fmt.Errorf("%w: the %s is empty", ErrInvalid, field)
	}
	return checkText(field, name)
}

func checkText(field, text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: the %s %q is not UTF-8", ErrInvalid, field, text)
	}
	return nil
}
