package eventlog

import (
	"fmt"
	"time"
)

// SchemaVersion is the version of an event's payload when its producer names
// none. A payload that gains a key keeps its version; one whose keys are
// renamed or change their type gets the next.
const SchemaVersion = 1

// PathLocal is the path of an event whose appender names none.
const PathLocal = "local"

// ActorType says what kind of party produced an event.
type ActorType string

// The kinds of actors.
const (
	ActorAgent  ActorType = "agent"
	ActorHuman  ActorType = "human"
	ActorSystem ActorType = "system"
)

// Event is one entry of a stream. A log never changes one; a copy belongs to
// whoever got it.
type Event struct {
	Stream string
	// Seq numbers the events of one stream densely from 1 in commit order.
	Seq int64
	// Time is in UTC.
	Time time.Time
	Type string
	// Actor is empty when nobody said.
	Actor ActorType
	// Payload is the post-image of the affected records, under one key for
	// each. It is never nil in an event from a log.
	Payload map[string]any
	// SchemaVersion is the version of the payload's shape, from 1.
	SchemaVersion int
	// Path says how the change came here: "local", "gossip", "feed",
	// "reconcile", "restore" or "retract".
	Path string
	// TraceID, SpanID and CausationID link the event to what caused it; each
	// may be empty.
	TraceID     string
	SpanID      string
	CausationID string
	// OriginInstanceID is the instance that produced the event.
	OriginInstanceID string
	// Principal is on whose authority; empty for the agent itself.
	Principal string
}

// AppendInput is an event before a log took it: the log assigns Seq, Time when
// it is zero, SchemaVersion when it is 0, and Path when it is empty. The fields
// mean what they mean in Event.
//
// Stream and Type are not empty, all text is UTF-8, and the payload is made of
// what JSON has: nil, bool, string, int, int64, finite float64, valid
// json.Number, []any and map[string]any, at most 100 of the latter two in one
// another. Numbers may come back as another of these types (a log that keeps
// JSON gives json.Number), never with another value. A nil Payload is an empty
// one.
type AppendInput struct {
	Stream           string
	Type             string
	Actor            ActorType
	Payload          map[string]any
	SchemaVersion    int
	Time             time.Time
	Path             string
	TraceID          string
	SpanID           string
	CausationID      string
	OriginInstanceID string
	Principal        string
}

// NewEvent returns the event that a log stores for in, but for its Seq, which is
// 0: checked, with the time by now where in has none, with the other defaults,
// and with a payload of its own. Logs share it so that all take the same.
// Errors: ErrInvalid.
func NewEvent(in AppendInput, now func() time.Time) (Event, error) {
	if err := in.check(); err != nil {
		return Event{}, err
	}
	e := Event{
		Stream: in.Stream, Time: in.Time, Type: in.Type, Actor: in.Actor,
		Payload: cloneObject(in.Payload), SchemaVersion: in.SchemaVersion, Path: in.Path,
		TraceID: in.TraceID, SpanID: in.SpanID, CausationID: in.CausationID,
		OriginInstanceID: in.OriginInstanceID, Principal: in.Principal,
	}
	if e.Time.IsZero() {
		e.Time = now()
	}
	e.Time = e.Time.UTC() // drops the monotonic reading too, which nothing stores
	if e.SchemaVersion == 0 {
		e.SchemaVersion = SchemaVersion
	}
	if e.Path == "" {
		e.Path = PathLocal
	}
	return e, nil
}

func (in AppendInput) check() error {
	if err := CheckStream(in.Stream); err != nil {
		return err
	}
	if err := checkName("type", in.Type); err != nil {
		return err
	}
	for _, field := range []struct{ name, text string }{
		{"actor", string(in.Actor)},
		{"path", in.Path},
		{"trace id", in.TraceID},
		{"span id", in.SpanID},
		{"causation id", in.CausationID},
		{"origin", in.OriginInstanceID},
		{"principal", in.Principal},
	} {
		if err := checkText(field.name, field.text); err != nil {
			return err
		}
	}
	if in.SchemaVersion < 0 {
		return fmt.Errorf("%w: schema version %d", ErrInvalid, in.SchemaVersion)
	}
	return checkPayload(in.Payload)
}

// Clone returns a copy that shares nothing with e.
func (e Event) Clone() Event {
	e.Payload = cloneObject(e.Payload)
	return e
}
