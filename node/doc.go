// Package node makes an instance of fleetd of the packages below it: the store
// in its data directory, the replication engine, and a libp2p host with
// streams, gossip and joining. It adapts and composes; what is merged, admitted
// and sent is decided below.
//
// Init begins a fleet, Join enters one; both make a data directory. New opens
// it, Run takes part in the fleet until its context ends, Close releases it.
// State is what agents read and write.
//
// It is the only package with goroutines of its own. One owns the engine
// (loop), a few check signatures (signatures), one applies what came to the
// store (committer); each connected member has one that writes to it and one
// that reads from it (link, links). All of them end before Run returns.
//
//	local write -> store -> commitQueue -> loop -> gossip
//	stream, gossip -> loop -> signatures -> loop -> committer -> store
//
// # Invariants
//
//   - I1: whatever fails, Init and Join leave a whole data directory or none
//     (TestJoinRefusals, TestInitLeavesNothing).
//   - I2: a store is only opened by the instance that made it, and a new store
//     never begins under a key that wrote before (TestStoreAndKeyBelongTogether).
//   - I3: two processes never use one data directory
//     (TestOneProcessADirectory).
//   - I4: of several joiners with one ticket or one name exactly one becomes a
//     member (TestOneTicketRaced).
//   - I5: with gossip off a fleet converges all the same
//     (TestThreeConvergeWithoutGossip).
//   - I6: strangers get no answer but to a ticket (TestStrangers).
//   - I7: nothing runs on after Run (every test; goleak).
//
// # Hazards
//
//   - The loop must never wait for anybody: everybody waits for it. What it
//     hands out goes to queues that drop, or whose content the engine bounds.
//   - A copied data directory is the same instance twice. The fleet cannot tell
//     which one wrote what.
package node
