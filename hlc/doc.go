// Package hlc is the hybrid logical clock that stamps every version in a fleet.
//
// A [Timestamp] is a physical part in milliseconds and a counter. A [Clock]
// issues them so that a version written after another was seen always carries
// the larger stamp, on whatever machine it was written.
//
// # Invariants
//
//   - I1: every Now is strictly greater than every earlier Now and Observe of
//     the same clock (TestClockModel).
//   - I2: a clock opened with a Last begins after it, so stamps rise across
//     restarts as long as the caller persists Last with what it stamped
//     (TestClockModel, and the store's crash tests).
//   - I3: the clock never runs more than [DriftMax] ahead of the physical time
//     that it was given: remote stamps beyond that are refused and not folded
//     in, and Now fails instead of running away (TestClockModel).
//   - I4: the byte, text and integer forms order and round-trip as Compare
//     does (TestCodecOrder, FuzzParse, FuzzDecodeBinary).
//   - I5: nothing wraps: a full counter borrows the next millisecond, and the
//     end of the range is an error (TestCase19FrozenClock, TestEndOfRange).
//
// # Hazards
//
//   - A caller that acknowledges a write before Last is durable may issue the
//     same stamp twice after a crash. Replicas still agree, because the merge
//     order ends in a content hash, but one of the two writes loses silently.
//   - A physical clock that was once far ahead leaves Last far ahead. Now then
//     returns [ErrClockAhead] until real time catches up; nothing here turns
//     the clock back, since that would let new writes lose to old ones.
//   - A member that keeps sending stamps just within the bound, counter full,
//     can make Now fail for a millisecond at a time. The caller may retry.
//   - Two clocks under one instance identity (a copied machine) may issue equal
//     stamps. This package cannot see it.
//
// The package does no I/O: physical time is an argument.
package hlc
