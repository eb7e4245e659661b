package state

import (
	"context"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Settler looks at the versions of records and brings old ones back. Whatever
// it writes is an ordinary new version, stamped, signed and admitted as any
// other: a later write elsewhere is not undone by it, a concurrent one wins or
// becomes a conflict by its stamp, and it can itself be reverted. What it
// decides on is what it covers: when a merge comes in between it decides anew,
// and a conflict that it has not read stays a conflict.
//
// It writes the kinds that this build knows: skills and their outcomes, memory
// items, sessions and turns. Fields of a newer build's body are not brought
// back. A session that is deleted hides its turns, others' too, and one that is
// restored shows them. Outcomes that are restored or reverted are no more
// counted, and their store counts on from there.
type Settler interface {
	// Keys lists the keys of a kind and id that hold a version, one for each
	// scope, of deleted records and of unknown kinds too. There may be none.
	Keys(ctx context.Context, kind string, id merge.ID) ([]merge.Key, error)
	// History lists every version that this replica still has of a key, newest
	// first by stamp, writer and hash: the head, conflicts, and covered versions
	// from its local history. That keeps about 50 covered versions of a key,
	// first the newest of each writer and the newest older than an hour, a day
	// and a week; replicas differ in what they have. A version of an unknown
	// kind, or one that breaks the rules of its kind, is listed undecoded.
	// Errors: ErrNotFound when there is none.
	History(ctx context.Context, key merge.Key) ([]Version, error)
	// Restore writes the content of a version of a key anew, over everything that
	// the key holds: its conflicts are settled by it (but see Keep). Restoring a
	// tombstone deletes. ID, CreatedAt and OriginInstanceID stay those of the
	// head, as does the Seq of a turn, and the content version of a skill counts on
	// from the larger one. It returns the version that was written. When the head says the same already
	// and nothing is in conflict, it writes nothing and returns the head, so
	// that it may be repeated. Errors: ErrNotFound for a version that this
	// replica does not have; ErrInvalid for one that breaks the rules of its
	// kind, and for an unknown kind; ErrTooLarge, ErrDenied.
	Restore(ctx context.Context, key merge.Key, hash merge.Hash) (Version, error)
	// Keep settles the conflicts of a key in favour of its head, whose content is
	// written anew. One write covers the versions of merge.BasisMax writers, its
	// own included: of more conflicts the oldest stay listed, to be settled by
	// another Keep once the first has reached the fleet. Errors: ErrNotFound when
	// the key has no conflict, ErrInvalid and those of Restore.
	Keep(ctx context.Context, key merge.Key) (Version, error)
	// WrittenBy lists what Revert would do. Its Changes tell in Now which version
	// would come back.
	WrittenBy(ctx context.Context, writer string, since hlc.Timestamp) ([]Change, error)
	// Revert undoes what an instance has written, stamped since or later (zero:
	// ever), as far as it still shows, and keeps what others wrote later. For
	// each key of a known kind, in the order of keys:
	//
	//   - When the head is such a write, the newest other version is written anew,
	//     be it a conflict or covered, as Restore does. When the writer created
	//     the record, it is deleted. When this replica does not have what was
	//     there before, nothing is done, and the Change says so: another replica
	//     may have it.
	//   - When such a write is a conflict of another's head, that head is written
	//     anew over it, so that it is settled.
	//
	// Conflicts among others stay as they are. Each key is one transaction; a key
	// that this instance may not write, or that grew too large, is left and
	// reported. Any other error ends it; what was done before is returned with
	// it. Doing it twice changes nothing the second time. Errors: ErrInvalid for
	// a writer that is no instance id, hlc.ErrClockAhead, those of the store, the
	// signer and ctx.
	Revert(ctx context.Context, writer string, since hlc.Timestamp) ([]Change, error)
}

// Change is what undoing a writer does, or would do, to one record.
type Change struct {
	Key merge.Key
	// Was is the version to be undone: the head or a conflict.
	Was Version
	// Now is the version that Revert has written, and of WrittenBy the one whose
	// content it would write; nil for none.
	Now *Version
	// Outcome says what became of the record.
	Outcome ChangeOutcome
	// Reason says why a record was left; of one that was restored, what is to be
	// known. It may be empty.
	Reason string
}

// ChangeOutcome is what undoing a writer does to one record.
type ChangeOutcome string

const (
	// ChangeRestored is a record that says again what it said before.
	ChangeRestored ChangeOutcome = "restored"
	// ChangeDeleted is a record that the writer had created.
	ChangeDeleted ChangeOutcome = "deleted"
	// ChangeSettled is a record whose head is another's: the writer's conflict is
	// settled.
	ChangeSettled ChangeOutcome = "settled"
	// ChangeUnchanged is a record that says already what it would be restored to.
	ChangeUnchanged ChangeOutcome = "unchanged"
	// ChangeLeft is a record that could not be undone, see Change.Reason.
	ChangeLeft ChangeOutcome = "left"
)
