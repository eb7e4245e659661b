package state

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"

	"github.com/fleetsync/fleetd/merge"
)

// Scope places a record on the instance, project and workspace axis. The zero
// Scope is global. Scope is comparable. A scope with an Instance never leaves
// its machine.
type Scope = merge.Scope

// Skill is a reusable, versioned unit of learned procedure. Slug is unique
// within a Scope, in the whole fleet: two instances that create one slug while
// apart make one record.
type Skill struct {
	// ID is what the creator passed, else SkillID(Scope, Slug). That derived ID
	// always finds the skill, also when the creator chose another.
	ID string
	// Slug is 1 to 256 bytes of text in Unicode form NFC without control
	// characters, slashes and backslashes, and neither "." nor "..".
	Slug string
	Name string
	// Body is the text of the skill, stored byte for byte.
	Body  string
	Tags  []string
	Scope Scope
	// Uses and Wins count runs that recalled the skill and those of them that
	// succeeded: RecordOutcome counts, and what readers get are the sums over
	// all stores of the fleet (see Outcome). A Conflict's versions have none.
	// What an Upsert passes above the sums is credited to this store; zero,
	// lower and equal totals change nothing.
	Uses int
	Wins int
	// Check is an optional shell command that verifies the skill.
	Check string
	// Version counts the revisions of the content from 1, deletes included.
	Version int
	// CreatedAt and UpdatedAt are UTC with the precision of a nanosecond,
	// between the years 1678 and 2262.
	CreatedAt time.Time
	UpdatedAt time.Time
	// Incomplete says that Body is not here yet and shows as empty: see ErrIncomplete.
	// What has it set cannot be written.
	Incomplete bool `json:",omitempty"`
	Secrets
	Envelope
}

// SkillStore persists scoped skills and searches them. It is safe for
// concurrent use. Slices that it returns are never nil and belong to the
// caller.
type SkillStore interface {
	// Upsert creates or updates the skill of (Scope, Slug). An update counts
	// Version and SyncVersion on and keeps ID, CreatedAt and OriginInstanceID;
	// over a tombstone it revives the skill. A non-zero SyncVersion must match
	// the stored record (see Envelope). Errors: ErrConflict, also when ID is
	// another skill's; ErrInvalid, ErrTooLarge, ErrDenied.
	Upsert(ctx context.Context, sk Skill) (Skill, error)
	// Get finds a skill by exact ID, else by slug from the home scope outward,
	// else the only live one of that slug. Errors: ErrNotFound, ErrAmbiguous,
	// ErrIncomplete, beside which comes what is known of the skill.
	Get(ctx context.Context, idOrSlug string) (Skill, error)
	// List returns the live skills of exactly one scope, by slug.
	List(ctx context.Context, scope Scope) ([]Skill, error)
	// Search returns the live skills of all scopes that match every word of
	// query in slug, name, body or tags, by slug and then ID, at most limit
	// (<= 0: all). The empty query matches all. A word matches where a word
	// begins with it, in any case, and CJK anywhere. Punctuation around it does
	// not count, unless the query is nothing else.
	Search(ctx context.Context, query string, limit int) ([]Skill, error)
	// Delete leaves a tombstone for the skill of this exact ID, else of this
	// slug. Errors: ErrNotFound, ErrAmbiguous when the slug is live in several
	// scopes, ErrDenied.
	Delete(ctx context.Context, idOrSlug string) error
}

// SkillPage selects a page of the live skills, by slug and then scope.
type SkillPage struct {
	// Query is that of SkillStore.Search.
	Query string
	// Scope narrows to exactly one scope, which may be the zero one; nil means all.
	Scope *Scope
	// After is where the page begins: after what lies there, or lay; nil for the
	// first page.
	After *SkillPlace
	// Limit caps the page; <= 0 means no cap.
	Limit int
}

// SkillPlace is the place of a skill in the order of pages. It never changes.
type SkillPlace struct {
	Slug  string
	Scope Scope
}

// Place is where the skill lies in the order of pages.
func (sk *Skill) Place() SkillPlace { return SkillPlace{sk.Slug, sk.Scope} }

// SkillLibrary is what this implementation offers beyond SkillStore.
type SkillLibrary interface {
	SkillStore
	// GetIn returns the live skill of exactly this scope and slug. Errors:
	// ErrNotFound, ErrIncomplete as Get.
	GetIn(ctx context.Context, scope Scope, slug string) (Skill, error)
	// Page returns the skills of a page, and whether others follow. Of what
	// matches it reads those alone, and one more.
	Page(ctx context.Context, q SkillPage) (skills []Skill, more bool, err error)
	// DeleteIn is Delete for exactly this scope and slug. Errors: ErrNotFound,
	// ErrDenied.
	DeleteIn(ctx context.Context, scope Scope, slug string) error
	// DeleteIf is DeleteIn for a caller that has read the skill: it succeeds only
	// if token, the Envelope that was read, still is the stored one's. It is
	// compared as in a write. Errors: ErrConflict, ErrNotFound, ErrDenied.
	DeleteIf(ctx context.Context, scope Scope, slug string, token Envelope) error
	// History lists every version that this replica still has of a skill, as
	// Replica.History does. It is found as Get finds it, and also when it is
	// deleted: by its ID, else by its slug in the home scope and outward.
	// Errors: ErrNotFound, ErrAmbiguous.
	History(ctx context.Context, idOrSlug string) ([]Version, error)
	// RecordOutcome counts one run that recalled the skill that Get finds, and
	// whether it succeeded, and returns the skill with the new sums. The skill's
	// own record stays as it is, and so does its SyncVersion. Errors:
	// ErrNotFound, ErrAmbiguous, ErrDenied.
	RecordOutcome(ctx context.Context, idOrSlug string, won bool) (Skill, error)
	// RecordOutcomeIn is RecordOutcome for exactly this scope and slug. Errors:
	// ErrNotFound, ErrDenied.
	RecordOutcomeIn(ctx context.Context, scope Scope, slug string, won bool) (Skill, error)
	// Report returns the live skills of one scope, of all scopes when nil, with
	// what speaks for each: the most confident first, then by slug and ID, at
	// most limit (<= 0: all).
	Report(ctx context.Context, scope *Scope, limit int) ([]SkillEvidence, error)
}

// skillSpace is the namespace of derived skill ids, itself derived from a name.
const skillSpace = "fleetd/skill-id/1"

// derivedVersion is the UUID version of derived ids: 8, of one's own making. No
// chosen id may be one: it might be that of a skill to come.
const derivedVersion = 8

// SkillID returns the id that is derived from a scope and a slug in form NFC:
// the same on every instance. It is a UUID of version 8 over SHA-256.
func SkillID(scope Scope, slug string) string {
	// Neither part holds control characters, so 0x00 and the 0x1f of the
	// section id divide them without ambiguity.
	name := skillSpace + "\x00" + merge.Section{Family: kindSkill, Scope: scope}.ID() + "\x00" + slug
	return uuid.NewHash(sha256.New(), uuid.Nil, []byte(name), derivedVersion).String()
}
