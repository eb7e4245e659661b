// Package merge holds the replicated record and the rule by which replicas
// agree: pure functions over versions, no I/O.
//
// A [Record] is one writer's version of a [Key]. It is signed over a canonical
// CBOR header; a decoded Record is only a view of the bytes that were signed,
// which are stored, hashed and forwarded as they were received, so that fields
// of a newer build survive an older one.
//
// # The rule
//
// Versions of a key are totally ordered by stamp, then writer, then item hash
// ([Compare]). W covers V when W is larger and its basis says that its writer
// had seen V ([Covers]). A key holds every version that no other held version
// covers ([Resolve], [Insert]): the largest is the head, last-writer-wins, and
// all that ordinary readers see; the others are conflicts, writes that lost to
// a concurrent one and that are kept on every replica until somebody settles
// them. A delete is a version like any other: a tombstone.
//
// # Invariants
//
//   - I1: joining stores is commutative, associative and idempotent; equal sets
//     of versions of honest writers give equal stores in whatever order and
//     however often they arrive (TestLaws, against a naive twin).
//   - I2: a key holds at most one version of each writer (TestLaws).
//   - I3: the head is what plain last-writer-wins gives (TestLaws).
//   - I4: a version covers itself and the head that its writer saw
//     (TestSupersede).
//   - I5: decoding then encoding a record gives the same bytes, and every byte
//     of the header is under the signature (TestVectors, FuzzDecode).
//   - I6: a record has one form: but for fields of a newer build, no other bytes
//     decode to the same fields (TestHeaderForm, TestRecordForm, FuzzDecode,
//     FuzzCheckCanonical). FORMAT.md specifies it.
//   - I7: a text is never taken for a key, and String tells all instances apart
//     (TestTextIsNeverAKey, FuzzParseInstanceID).
//
// # Hazards
//
//   - A writer that shrinks or forges its basis can make false conflicts, or
//     hide concurrent writes stamped up to its own stamp. With such bases the
//     result may depend on the order of arrival; stores that exchange until
//     quiet are still equal (TestForgedBases).
//   - Two machines that share one identity cover each other's versions without
//     knowing what those had covered. What was settled may then come back as a
//     conflict; stores that exchange are equal again, and the head is the same
//     (TestClonesMayHoldAConflictLonger).
//   - A basis names at most [BasisMax] writers. Beyond that old entries are left
//     out, which may show a conflict that is none (TestTrimOnlyShowsFalseConflicts),
//     and settling more conflicts takes more than one write
//     (TestSettlingMoreThanABasisNames).
//   - An origin is a claim. Only the writer is proven by the signature.
package merge
