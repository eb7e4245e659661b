// Package mergetest helps tests of what stands on package merge: writers with
// keys, generators of keys, sections, ids and stamps, honest histories of
// concurrent writers, forged versions, and a naive twin of the merge rule.
//
// The [Twin] is written from the words of the design, not from the code of
// package merge, and shares nothing with it but the types: a test that compares
// the two finds what either does not do as written. It is quadratic and keeps
// everything for ever.
//
// An honest [History] is what replicas write that follow the rule: each stamp
// follows all that its writer has seen, and each basis says just that. With
// [HistoryConfig.Clones] two replicas write under one identity, each unaware of
// the other; such a history is honest in everything else.
//
// The generators draw from [pgregory.net/rapid], so that a failing case shrinks.
package mergetest
