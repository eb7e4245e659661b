package wire

import (
	"fmt"
	"strings"
	"time"
)

// Session is one live conversation.
type Session struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Model     string    `json:"model"`
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the session or its newest turn was written.
	UpdatedAt time.Time `json:"updated_at"`
	Gated
	// The envelope counts the turns, too: each adds one to SyncVersion.
	Envelope
}

// SessionReply is one session.
type SessionReply struct {
	SchemaVersion int `json:"schema_version"`
	Session
}

// SessionList is every session, oldest first.
type SessionList struct {
	SchemaVersion int       `json:"schema_version"`
	Sessions      []Session `json:"sessions"`
	// NextCursor is that of MemoryList.
	NextCursor string `json:"next_cursor,omitempty"`
}

// SessionWrite creates a session. ID is empty for one with a minted id.
type SessionWrite struct {
	ID    string `json:"id,omitempty"`
	Title string `json:"title,omitempty"`
	Model string `json:"model,omitempty"`
}

// Fault is that of MemoryWrite, for sessions.
func (w SessionWrite) Fault() string {
	if w.ID == "." || w.ID == ".." {
		return fmt.Sprintf("the id %q is a path", w.ID)
	}
	return strayIn(namedText{"id", w.ID}, namedText{"title", w.Title}, namedText{"model", w.Model})
}

// Turn is one entry in the transcript of a session.
type Turn struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	// Seq is the place in the session, from 1. Two instances that were apart may
	// have used one.
	Seq       int64     `json:"seq"`
	Role      string    `json:"role"`
	Content   string    `json:"content"`
	CreatedAt time.Time `json:"created_at"`
	// Incomplete says that the content is not here yet, and shows as empty.
	Incomplete bool `json:"incomplete,omitempty"`
	Gated
	Envelope
}

// TurnReply is one turn.
type TurnReply struct {
	SchemaVersion int `json:"schema_version"`
	Turn
}

// TurnList is the transcript of a session, in the order of all replicas.
type TurnList struct {
	SchemaVersion int    `json:"schema_version"`
	Turns         []Turn `json:"turns"`
	// NextCursor is that of MemoryList.
	NextCursor string `json:"next_cursor,omitempty"`
}

// TurnWrite appends a turn to a session.
type TurnWrite struct {
	// ID is empty for a turn with a minted id. A turn that is sent again under
	// its id is not added twice.
	ID      string `json:"id,omitempty"`
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Fault is that of MemoryWrite, for turns.
func (w TurnWrite) Fault() string {
	switch {
	case strings.TrimSpace(w.Role) == "":
		return "the role is empty"
	case strings.TrimSpace(w.Content) == "":
		return "the text is empty"
	case w.ID == ".", w.ID == "..":
		return fmt.Sprintf("the id %q is a path", w.ID)
	}
	return strayIn(namedText{"text", w.Content}, namedText{"role", w.Role}, namedText{"id", w.ID})
}
