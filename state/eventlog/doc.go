// Package eventlog holds streams of events: what the state stream is made of,
// the log that keeps it, and what a fold of it needs, which is snapshots, their
// seals, and upcasters for payloads of older builds.
//
// Events carry the post-image of every change, so folding a stream gives the
// state. A [Log] numbers and keeps them; [Memory] is one that lives as long as
// the process. The package knows no kind of record, and imports nothing but the
// standard library.
//
// # Invariants
//
// eventlogtest.RunSuite holds the first four for every Log.
//
//   - I1: the events of a stream are numbered densely from 1 in the order in
//     which Append took them, whoever appends at once; streams are independent.
//   - I2: an Append that returns an error left nothing and used no number.
//   - I3: what a log keeps is its own: neither the appender's later changes nor
//     a reader's are seen by anybody.
//   - I4: a payload read is, as JSON, the payload appended.
//   - I5: a seal opens for the stream, number, payload and key that it was made
//     with, and for nothing else (TestASealOpensForNothingElse, FuzzOpen).
//   - I6: an upcast changes its input nowhere, and brings an event to the newest
//     version or leaves it as it was (TestAnUpcastIsWholeOrNothing).
//
// # Hazards
//
//   - A log does not know what a snapshot holds. One that is saved under a
//     larger number than it covers hides the events between from a fold.
//   - An event cannot be taken back. A caller that appends and commits elsewhere
//     appends last, or within the transaction of a log that takes part in it.
//   - A seal says who made a snapshot, not that it is the newest: who can write
//     to the log can put an older one back under its own number. A fold from
//     there reaches the same state.
package eventlog
