// Package eventlog holds the shape of the state stream: events that carry the
// post-image of every change, so that folding them gives the state.
package eventlog

import "time"

// SchemaVersion is the version of an event's payload when its producer names
// none. A payload that gains a key keeps its version; one whose keys are
// renamed or change their type gets the next.
const SchemaVersion = 1

// ActorType says what kind of party produced an event.
type ActorType string

// The kinds of actors.
const (
	ActorAgent  ActorType = "agent"
	ActorHuman  ActorType = "human"
	ActorSystem ActorType = "system"
)

// Event is one entry of a stream. Events are never changed.
type Event struct {
	Stream string
	// Seq numbers the events of one stream densely from 1 in commit order.
	Seq  int64
	Time time.Time
	Type string
	// Actor is empty when nobody said.
	Actor ActorType
	// Payload is the post-image of the affected records, under one key for
	// each; the receiver of an Event must not change it.
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
// it is zero, and SchemaVersion when it is 0.
type AppendInput struct {
	Stream           string
	Type             string
	Actor            ActorType
	Payload          map[string]any
	SchemaVersion    int
	Time             time.Time
	TraceID          string
	SpanID           string
	CausationID      string
	OriginInstanceID string
	Principal        string
}
