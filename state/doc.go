// Package state is what agents see of a fleet: sessions, skills and memory items
// behind a Provider, over the replicated store.
//
// NewMemory needs no set-up; Open serves a store that replicates. Both run the
// same code over a store.Store, so what an agent observes does not depend on
// what lies below. Each write is stamped by the Stamper, becomes one version
// in deterministic CBOR, is signed, admitted and committed in one transaction;
// each read is a view of the heads, last-writer-wins over the whole fleet.
//
// Every change, local or merged, is one event of the state stream: Replica.Log
// reads it, Watch follows it, Fold and Replay make the state of it again. A store
// keeps the stream as references to its records; a provider in memory may write
// it to a log of the caller's instead (eventlog).
//
// The published interfaces (Provider, SessionStore, SkillStore, MemoryStore)
// stay exactly as agents were written against them (published_test.go, and
// testdata/exported.txt for every exported name). What goes beyond stands in Replica,
// SkillLibrary and MemoryLibrary. Versions that lost, or that were replaced,
// can be listed and brought back, and what one instance wrote can be undone:
// see Settler.
//
// # Invariants
//
//   - I1: every provider behaves alike, whatever engine lies below
//     (statetest.RunSuite on each).
//   - I2: a write that returns an error left nothing: no record, no event
//     (statetest, TestAFailingEngineLeavesNothing).
//   - I3: replicas that hold the same versions answer every read alike,
//     conflicts included (TestReplicasThatExchangedAnswerAlike).
//   - I4: the index is a pure function of the heads (TestIndexRowsFollowHeads).
//   - I5: no record, however malformed, makes the index or a list fail
//     (FuzzIndex).
//   - I6: the bytes of a body never change under a build that reads it
//     (TestVectors in testdata).
//   - I7: a history lists every version that the replica has held, until the
//     store prunes it; the conflicts listed are the held versions that are not
//     the head (TestHistoryListsWhatWasHeld).
//   - I8: once Keep or Restore has settled a key, no replica that exchanges lists
//     a conflict that they had read (TestSettledConflictsAreGoneEverywhere; beyond
//     merge.BasisMax writers see TestKeepOfMoreConflictsThanABasisNames).
//   - I9: after Revert a record says what it would say had the writer not written
//     since, as far as the replica knows, and doing it again changes nothing
//     (TestRevertEqualsANaiveModel).
//   - I10: every acknowledged outcome counts once: the sums of a skill are exact
//     however many stores count and in whatever order they meet
//     (TestOutcomesAreExactOverReplicas, statetest).
//   - I11: folding the state stream, from its start or from any saved snapshot,
//     gives the state byte for byte, whatever paths the changes came by
//     (TestFoldingAStreamGivesTheState, statetest). A mutation is one event (an
//     Upsert that credits outcomes is two in the stream of a store, one for each
//     record), and one whose event cannot be appended leaves nothing
//     (statetest.RunLogSuite).
//   - I12: a session shows the same turns in the same order on every replica that
//     holds them (TestTwoInstancesTalkInOneSessionOffline and I3), and an append
//     never revives it (TestAnAppendNeverRevivesASession).
//   - I13: content of any length up to the limit is read as it was written, by every
//     way there is (statetest); what has not come yet is never shown as if it were
//     empty, nor written over (TestWhatIsIncompleteSaysSo).
//
// # Hazards
//
//   - A chosen skill ID is an alias. When two instances create one slug with
//     different chosen IDs, only the winner's resolves; SkillID always does.
//   - Compare-and-set decides within one store. Across the fleet two winners
//     become a Conflict.
//   - Two stores of one id, a copied data directory, count in one record: the
//     last of them wins, and what the other counted is a Conflict and not in the
//     sums (TestACopiedStoreCountsInOneRecord).
//   - Totals that were read on one replica and written on another that knows
//     less are credited there, and count twice once both meet. Pass zero when
//     copying skills between replicas.
//   - Histories are local: a replica that came late has not what was covered
//     before. Revert leaves what it cannot know and says so; a writer can bring
//     that about with a forged basis, and then a person chooses by Restore.
//   - The session in a turn's event is its record of then with its turns counted
//     by the turn's Seq: when instances talk in one session at once, several of
//     its events may show one count. A fold counts the turns themselves.
//   - The stream of a store is compacted: whoever stops for long may miss
//     intermediate versions of a record, never its newest.
//   - When content comes after its record there is no event for that: the event of
//     the record shows it from then on. Whoever watches and wants content looks again
//     at what had Incomplete set.
//   - A build that updates a record drops the fields of a newer build's body
//     that it does not know; the version it replaced stays in history.
package state
