package state

import (
	"context"
	"time"
)

// MemoryItem is one thing that an agent has learned, attributable to where it
// came from.
type MemoryItem struct {
	// ID is minted (UUIDv7) unless the writer passes one: 1 to 256 bytes of
	// text in Unicode form NFC without control characters.
	ID string
	// Kind is free text, such as "fact", "preference" or "observation".
	Kind    string
	Content string
	Scope   Scope
	// Source is the provenance: where this memory came from.
	Source string
	// CreatedAt is UTC with the precision of a nanosecond, between the years
	// 1678 and 2262.
	CreatedAt time.Time
	// Incomplete says that Content is not here yet and shows as empty: see ErrIncomplete.
	// What has it set cannot be written.
	Incomplete bool `json:",omitempty"`
	Secrets
	Envelope
}

// RecallQuery selects memory items.
type RecallQuery struct {
	// Query matches items that hold every word of it in content, kind or
	// source; the empty query matches all. Words match as in
	// SkillLibrary.Search.
	Query string
	// Scope narrows to exactly one scope; the zero Scope means every scope.
	Scope Scope
	// Limit caps the result; <= 0 means no cap.
	Limit int
}

// MemoryPage selects a page of the live memory items, newest first, ties by ID and
// then scope descending.
type MemoryPage struct {
	// Query is that of RecallQuery.
	Query string
	// Kind narrows to the items of one kind unless it is empty.
	Kind string
	// Scope narrows to exactly one scope, which may be the zero one; nil means all.
	Scope *Scope
	// After is where the page begins: after what lies there, or lay; nil for the
	// first page.
	After *MemoryPlace
	// Limit caps the page; <= 0 means no cap.
	Limit int
}

// MemoryPlace is the place of an item in the order of pages. It never changes.
type MemoryPlace struct {
	CreatedAt time.Time
	ID        string
	Scope     Scope
}

// Place is where the item lies in the order of pages.
func (it *MemoryItem) Place() MemoryPlace { return MemoryPlace{it.CreatedAt, it.ID, it.Scope} }

// MemoryStore persists and recalls memory items. It is safe for concurrent
// use. Slices that it returns are never nil and belong to the caller.
type MemoryStore interface {
	// Write creates an item, minting an ID if none is set, or updates the item
	// of that ID: then CreatedAt and OriginInstanceID are kept, and a non-zero
	// SyncVersion must match the stored record (see Envelope). Errors:
	// ErrConflict; ErrInvalid, also for a known ID with another Scope;
	// ErrTooLarge, ErrDenied.
	Write(ctx context.Context, m MemoryItem) (MemoryItem, error)
	// Recall returns the live items that match, newest CreatedAt first, ties by
	// ID descending.
	Recall(ctx context.Context, q RecallQuery) ([]MemoryItem, error)
	// Delete leaves a tombstone for the item. Errors: ErrNotFound, ErrAmbiguous
	// when the ID is live in several scopes, ErrDenied.
	Delete(ctx context.Context, id string) error
}

// MemoryLibrary is what this implementation offers beyond MemoryStore.
type MemoryLibrary interface {
	MemoryStore
	// Get returns the live item of this ID. One ID lives in several scopes only
	// when instances used it so while apart: then the home scope decides, from
	// it outward, as for skills. Errors: ErrNotFound, ErrAmbiguous,
	// ErrIncomplete, beside which comes what is known of the item.
	Get(ctx context.Context, id string) (MemoryItem, error)
	// GetIn returns the live item of exactly this scope and ID. Errors:
	// ErrNotFound, ErrIncomplete as Get.
	GetIn(ctx context.Context, scope Scope, id string) (MemoryItem, error)
	// List returns the live items of exactly one scope in the order of Recall;
	// of one kind unless kind is empty.
	List(ctx context.Context, scope Scope, kind string) ([]MemoryItem, error)
	// Page returns the items of a page, and whether others follow. Of what
	// matches it reads those alone, and one more.
	Page(ctx context.Context, q MemoryPage) (items []MemoryItem, more bool, err error)
	// DeleteIn is Delete for exactly this scope and ID. Errors: ErrNotFound,
	// ErrDenied.
	DeleteIn(ctx context.Context, scope Scope, id string) error
	// DeleteIf is DeleteIn for a caller that has read the item: it succeeds only
	// if token, the Envelope that was read, still is the stored one's. It is
	// compared as in a write. Errors: ErrConflict, ErrNotFound, ErrDenied.
	DeleteIf(ctx context.Context, scope Scope, id string, token Envelope) error
	// History lists every version that this replica still has of an item, as
	// Replica.History does. It is found as Get finds it, and also when it is
	// deleted. Errors: ErrNotFound, ErrAmbiguous.
	History(ctx context.Context, id string) ([]Version, error)
}
