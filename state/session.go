package state

import (
	"context"
	"time"
)

// Session is a durable, resumable conversation.
type Session struct {
	// ID is what the creator passed, else a UUIDv7: 1 to 256 bytes of text in
	// Unicode form NFC without control characters.
	ID    string
	Title string
	Model string
	// CreatedAt is UTC with the precision of a nanosecond, between the years 1678
	// and 2262. UpdatedAt is that of the record or of its newest turn, whichever
	// is later.
	CreatedAt time.Time
	UpdatedAt time.Time
	// Envelope counts the turns: SyncVersion is the record's own plus the number of
	// turns, UpdatedHLC and LastWriterID are those of the newest of both. So an
	// append moves the envelope without rewriting the session.
	Envelope
	Secrets
}

// Turn is one entry in a session's transcript.
type Turn struct {
	// ID is what the caller passed, else a UUIDv7, by the rules of Session.ID. It is
	// unique within its session.
	ID        string
	SessionID string
	// Seq is what the turn's author assigned: the highest of the session that it
	// had seen, plus one, from 1. Two instances that were apart may use one Seq.
	Seq int64
	// Role is who speaks, such as "user", "assistant", "tool" or "system".
	Role      string
	Content   string
	CreatedAt time.Time
	// Incomplete says that Content is not here yet and shows as empty: see ErrIncomplete.
	// What has it set cannot be written.
	Incomplete bool `json:",omitempty"`
	Secrets
	Envelope
}

// SessionStore persists conversations and their transcripts, in the provider's
// home scope. Turns are only ever added: to resume a session is to read its
// turns back in order. It is safe for concurrent use. Slices that it returns
// are never nil and belong to the caller.
type SessionStore interface {
	// Create persists a new session, minting an ID if none is set. Errors:
	// ErrConflict for an ID that exists, a deleted one too; ErrInvalid,
	// ErrTooLarge, ErrDenied.
	Create(ctx context.Context, s Session) (Session, error)
	// Get returns the live session of an ID. Errors: ErrNotFound.
	Get(ctx context.Context, id string) (Session, error)
	// List returns all live sessions, oldest CreatedAt first, ties by ID.
	List(ctx context.Context) ([]Session, error)
	// AppendTurn adds a turn to its session, assigning Seq, and an ID if none is
	// set. A turn ID that the session has already is not added again: with the same
	// role and content (and CreatedAt, if set) the stored turn is returned, else
	// the error is ErrConflict. Errors: ErrNotFound for an unknown or deleted
	// session; ErrInvalid, ErrDenied, and ErrTooLarge beyond 8 MiB (TurnRoom tells
	// what is left).
	AppendTurn(ctx context.Context, t Turn) (Turn, error)
	// Turns returns the transcript of a live session by Seq, turns of one Seq by
	// stamp, writer and ID: the same order on every replica. Errors: ErrNotFound.
	Turns(ctx context.Context, sessionID string) ([]Turn, error)
	// Delete leaves a tombstone for the session and hides its turns. Errors:
	// ErrNotFound, ErrDenied.
	Delete(ctx context.Context, id string) error
}
