package wire

import "time"

// MemoryItem is one live thing that an agent has learned.
type MemoryItem struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Content string `json:"content"`
	Scope   Scope  `json:"scope"`
	// Source is the provenance: where this memory came from.
	Source    string    `json:"source"`
	CreatedAt time.Time `json:"created_at"`
	Envelope
}

// MemoryReply is one item.
type MemoryReply struct {
	SchemaVersion int `json:"schema_version"`
	MemoryItem
}

// MemoryList is every item that was asked for, newest first.
type MemoryList struct {
	SchemaVersion int          `json:"schema_version"`
	Items         []MemoryItem `json:"items"`
}

// MemoryWrite creates an item, or replaces the one of its id. When it replaces
// one, Scope must be that of the item.
type MemoryWrite struct {
	// ID is empty for a new item with a minted id, and in a PUT, whose path
	// holds it.
	ID      string `json:"id,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Content string `json:"content"`
	Scope   Scope  `json:"scope"`
	Source  string `json:"source,omitempty"`
	Token
}
