package state

import (
	"context"
	"iter"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state/eventlog"
)

// Provider is an agent's durable backend: all that an agent needs to know of
// this module. It is safe for concurrent use.
type Provider interface {
	// Name identifies the backend for diagnostics, such as "memory" or
	// "badger".
	Name() string
	// Sessions returns the store of conversations in the home scope.
	Sessions() SessionStore
	// Skills returns the scoped, searchable store of skills.
	Skills() SkillStore
	// Memory returns the store of memory items.
	Memory() MemoryStore
	// Close releases the backend. It is idempotent; afterwards every call fails.
	Close() error
}

// Replica is what every Provider of this package is besides: one node's copy
// of what its fleet knows.
type Replica interface {
	Provider
	// SkillLibrary is Skills with the calls that go beyond the published ones.
	SkillLibrary() SkillLibrary
	// MemoryLibrary is Memory with the calls that go beyond the published ones.
	MemoryLibrary() MemoryLibrary
	// Conflicts lists the writes that lost to a concurrent one and that nobody
	// has settled yet, in the order of their keys, losers of one key by stamp.
	Conflicts(ctx context.Context) ([]Conflict, error)
	// Contested tells which of some keys have a write that Conflicts lists. It
	// reads those keys alone.
	Contested(ctx context.Context, keys ...merge.Key) (map[merge.Key]bool, error)
	// Home is the home scope: that of the sessions, and where looking up begins.
	Home() Scope
	// Log is the state stream: one event for each record that a write or a merge
	// changed, its post-image as payload. Of a store on the disk it is compacted
	// (eventlog.Compacted) and takes no appends.
	Log() eventlog.Log
	// Watch yields the events after a Seq, then each that follows, local or merged,
	// in order, none twice and none left out but those that are gone (see
	// eventlog.Compacted), until ctx ends or the provider is closed: that error
	// comes last. To go on later, pass the Seq of the last event that was handled.
	// When the provider writes to a log of the caller's, Watch is woken by its own
	// writes. It holds at most a few hundred events, and no lock while the caller
	// has one.
	Watch(ctx context.Context, after int64) iter.Seq2[eventlog.Event, error]
	// Export returns the state as of one event of the stream.
	Export(ctx context.Context) (Snapshot, error)
	// Snapshot saves what Export returns in the log, sealed when there is a codec.
	Snapshot(ctx context.Context) error
	// Import writes what a snapshot holds live and this replica does not hold
	// alike, anew as this instance: sessions with their turns in the home scope,
	// skills, items. What is deleted here is live again; nothing is deleted, and
	// tombstones, outcomes and former writers are not imported. Created times are
	// kept, turns keep ID and Seq too, and a session that is there gets the turns
	// that it lacks. A turn is refused unless the snapshot holds its session, so a
	// part of a snapshot is imported with the sessions of its turns. Each record
	// is one transaction: what cannot be written is counted and reported with the
	// reason, and any other error ends the import; what was done before is
	// returned with it. Doing it twice changes nothing the second time. With
	// dryRun nothing is written. Errors: hlc.ErrClockAhead, those of the store,
	// the signer and ctx.
	Import(ctx context.Context, s Snapshot, dryRun bool) (ImportResult, error)
	// Invalid lists the records of known kinds that are stored and replicated
	// but hidden, because they break the rules of their kind.
	Invalid(ctx context.Context) ([]Invalid, error)
	Settler
	Gatekeeper
}

// Conflict is a write that lost to a concurrent one. The fleet keeps it until
// somebody settles it. A key with several losers makes one Conflict of each.
type Conflict struct {
	Key    merge.Key
	Winner Version
	Loser  Version
}

// Version is one version of a record.
type Version struct {
	Envelope
	// Hash identifies the version in the whole fleet.
	Hash merge.Hash
	// Skill is the decoded value of a skill, nil for other kinds and for one
	// that breaks the rules of its kind. Of a tombstone it holds what remains.
	Skill *Skill
	// Memory is Skill for memory items.
	Memory *MemoryItem
	// Session is Skill for sessions: the record alone, without its turns.
	Session *Session
	// Turn is Skill for turns.
	Turn *Turn
	// Outcome is Skill for outcomes.
	Outcome *Outcome
	// Standing says what the version is to this replica.
	Standing Standing
	// CoveredAt is when this replica moved a covered version to its history, in
	// UTC to the millisecond; zero for others.
	CoveredAt time.Time
}

// Invalid is a stored record that is hidden from readers.
type Invalid struct {
	Key merge.Key
	// Reason says which rule it breaks.
	Reason string
}
