// Package store is the durable set of versions of one instance: what it holds,
// in which order it came, what is parked, where it stands in the feeds of
// others, and the content that versions refer to.
//
// The logic is written once, over a small ordered key-value port, [Engine]:
// [NewMemory] and [OpenBadger] are engines, so that a memory store, a badger
// store and the simulation's virtual disk cannot differ. [Open] makes a
// [Store] of an engine. Local writes go through [Store.Write], everything that
// comes from elsewhere through [Store.Merge]; [Store.View] reads one snapshot.
//
// All writers meet in one queue with group commit: the caller at its head
// commits everything queued meanwhile in one transaction with one sync. The
// layout of the rows is in keys.go.
//
// # Invariants
//
//   - I1: what Write, Merge, Reconsider and SetLocal acknowledge is durable, all
//     of it or nothing (TestCrash, storetest).
//   - I2: the held versions of a key are merge.Resolve of every version that
//     was kept and is admissible by the statements of the last [Store.Reconsider],
//     whatever the order and grouping of versions and statements; what is not
//     admissible shows nowhere, covers nothing, and is here for when it is again, under
//     the bounds of history (storetest models).
//   - I3: stamps of Clock rise strictly over restarts: the newest stamp is
//     written in every transaction (TestCrash).
//   - I4: v/, r/, s/ and h/ agree one to one, and the counts and sums of the
//     sections are those of v/ ([Store.Verify] proves it at once, [Store.Scrub] beside
//     commits; storetest).
//   - I5: the feed has exactly one entry for each held version, in commit order;
//     places are never used twice (storetest model).
//   - I6: a failed transaction leaves the memory of the store as it was
//     (storetest faults).
//   - I7: bytes that are not what was written are ErrCorrupt, never a wrong
//     value (storetest corruption). So is a row that is gone, where another row
//     tells of it; see the hazards for those where none does.
//   - I8: parked versions and histories are bounded, and no peer that makes up
//     writers takes the room of what others deliver (storetest).
//   - I9: a blob stays while a held or history version refers to it, or while
//     [Store.PutBlob] keeps it, and goes after that; it is read as exactly what
//     its hash says, or as an error; and one that is referred to and not all here,
//     or damaged, is wanted, over restarts (storetest blobs, at a fault of every
//     update and with damage to every row).
//   - I10: no local write commits that was judged by less than the statements of a
//     Reconsider that began before it; and when versions come from elsewhere that
//     were judged by others, the next Reconsider judges every version, also after a
//     crash (storetest retraction, retracting).
//
// # Hazards
//
//   - A disk that loses the tail of what it had acknowledged leaves the store
//     at an earlier, consistent point. Cursors of partners then lie beyond the
//     end of their incarnation ([CursorBeyond]); only a reconciliation tells
//     what else is missing.
//   - A row that is gone without a trace is noticed at Open when it is one of the
//     store's own (m/, but for incarnations, the index and local values); it marks
//     its section as Suspect when it is one of v/, which nobody acts on yet; r/ is
//     noticed by whoever reads the key; s/, h/, i/ 1, i/ 3, b/r and, of heads, e/ by Verify
//     alone; other rows of blobs by whoever reads the content, and it is wanted
//     from then on. Of other events, parked versions, rows of the indexer, cursors,
//     incarnations and local values nobody knows that they were there. Cursors are
//     made again, and cost one reconciliation; a parked version comes again when it shows in the roots of
//     others; index rows and local values stay lost (storetest lost rows). Nothing
//     but blobs is repaired yet: a store that lost a row of s/ cannot offer that version,
//     and one that lost a row of v/ holds less than its partners until a
//     comparison of roots brings it again.
//   - A copied or restored store has the identity of the original. The
//     incarnations tell them apart; whoever opens it must take care of the key.
//   - When an engine fails in its commit, the outcome is unknown. The caller gets
//     the error, OnCommit is told nothing, and the store believes the disk before
//     its next commit: what did happen shows in the sections and in the feed.
//     Badger's engine refuses all further use then ([ErrFailed]).
//   - Records are taken as they are: signatures, authority and the shape of
//     bodies are the callers' to judge.
package store
