// Package sync makes the stores of a fleet equal: gossip as a hint, the feed
// and reconciliation by ranges as delivery. Import it as fleetsync.
//
// The [Engine] is a state machine without goroutine, clock, socket or logger.
// Its owner feeds it messages, commits and time, drains what it wants done,
// and carries that out; package node does so over libp2p, package simulation
// over a virtual network. Everything is pull: a node compares its (head,
// count, root) of each section with a few partners, and fetches what it lacks.
//
//	HEARTBEAT ---> equal: the cursor moves to the partner's head, nothing is sent
//	               cursor known: CHANGES from there, GET what is missing
//	               no cursor, or unequal though the feed is at its end: RECON, which
//	               halves what differs; GET what is missing, PAGE by PAGE what is a gap
//
// Replication knows nothing of skills or memory: it moves versions, and judges
// header, size, body hash, signature and authority.
//
// # Invariants
//
//   - I1: whatever is lost, duplicated, reordered or cut off, members that can
//     talk to each other again end with equal roots (simulation: TestSeeds).
//     Nothing depends on gossip (TestSeedsWithoutGossip).
//   - I2: a cursor moves in the transaction that stores what it passes, and
//     never past what was refused or failed (TestCursorStaysOnRefusal).
//   - I3: covered versions are never sent, nor what the other holds
//     (TestStoresThatNeverMet).
//   - I4: a record is stored only after its signature was verified, and merged
//     only when admitted; of unknown authority it is parked and judged again
//     after each fleet statement (TestParkedUntilGranted).
//   - I5: what a peer sends is bounded before it is held: frames, lists, pages
//     in flight, gossip on its way to the store (limits.go, FuzzReceive). So is
//     what it asks for: four requests at a time, within a budget of bytes, and
//     nothing is read on the engine's turn (TestAFloodOfRequestsIsNotAnswered);
//     and heads are compared within a budget of sections
//     (TestAFloodOfHeadsIsNotCompared).
//   - I6: a check names the first key that differs (TestACheckNamesTheFirstKeyThatDiffers),
//     and only when nothing moved while it did (TestACheckOfAFleetThatWrites).
//
// # Hazards
//
//   - Apply batches must be carried out in the order in which they were
//     drained: a statement is learnt when its batch is emitted, and what is
//     parked after it must not reach the store before it.
//   - Sums of item hashes can be forged by who may write: prints of equal sums say
//     that stores are equal among honest members. Audits compare every item.
package sync
