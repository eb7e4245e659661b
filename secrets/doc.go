// Package secrets finds keys and tokens in text by the forms that their issuers
// publish. It is pure: it reads nothing but the text, and keeps nothing.
//
// A rule is a structure, never a guess at randomness: a prefix that one issuer
// uses, an alphabet and a length, and where the form has a checksum or holds
// something that can be decoded, that too. So a hash, an id or a commit is never
// taken for a secret, and a password in plain words is not found.
//
// The rules were written from what the issuers say of their tokens; each names
// where. They are a table of this package and no library, since those that keep
// such rules for Go come with an engine, its configuration and 70 to 200 further
// modules.
//
// # Invariants
//
//   - I1: each rule finds its examples and leaves what only resembles them
//     (TestRules).
//   - I2: Redact leaves nothing that Find finds
//     (TestRedactedTextHoldsNothingThatIsFound).
//   - I3: findings are in order, within the text, and do not overlap (FuzzFind).
//   - I4: the time is linear in the length of the text, whatever it says
//     (BenchmarkHostile).
//
// # Hazards
//
//   - What no rule knows is not found: a password in a sentence, a token of a
//     service that gives its tokens no form, anything that was encoded, encrypted
//     or taken apart. This keeps slips back; it stops nobody who wants to leak.
//   - Text with a NUL byte, or that is not UTF-8, is not looked at.
package secrets
