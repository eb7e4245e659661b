package wire

import "time"

// The types of events that are about the stream itself. All others say what
// happened to a record: its kind, and a word such as "upserted" or "deleted".
const (
	// EventReset says that the position asked for is none of this store, so that
	// what happened since is not known: list anew. The events that follow begin
	// where the store was when it was sent.
	EventReset = "reset"
	// EventEnd is the last of a stream that the daemon ends. Ask again, after its
	// position.
	EventEnd = "end"
)

// Event is one change of one record, local or merged: the record as it is after
// it.
type Event struct {
	SchemaVersion int `json:"schema_version"`
	// Position is the place in the stream of this store: asked for what comes after
	// it, the stream goes on without loss or repetition. It is the id of the event.
	Position string `json:"position"`
	// Type is that of the event, such as "memory.written".
	Type string    `json:"type"`
	Time time.Time `json:"time"`
	// Path says how the change came to this node: "local", "gossip", "feed",
	// "reconcile", "restore" or "retract".
	Path string `json:"path"`
	// Kind, Key and Scope are those of the record, as in a Conflict.
	Kind  string `json:"kind"`
	Key   string `json:"key"`
	Scope Scope  `json:"scope"`
	Envelope
	// Writer is the name of the member that made the last write; absent when it is
	// none.
	Writer string `json:"writer,omitempty"`
	// One of these is the record. All are absent for other kinds, and for content
	// that breaks its kind's rules.
	Skill   *Skill      `json:"skill,omitempty"`
	Memory  *MemoryItem `json:"memory,omitempty"`
	Session *Session    `json:"session,omitempty"`
	Turn    *Turn       `json:"turn,omitempty"`
	Outcome *Outcome    `json:"outcome,omitempty"`
	// Reason says why a stream was reset, or has ended.
	Reason string `json:"reason,omitempty"`
}

// EventFilter selects events. The zero value selects all.
type EventFilter struct {
	// Kind selects the records of one kind, such as "memory"; empty means all.
	Kind string
	// Scope selects exactly one scope; nil means every scope.
	Scope *Scope
}
