package state

import (
	"crypto/sha256"

	"github.com/fleetsync/fleetd/merge"
)

// skillContentContext separates digests of skills from other hashes.
const skillContentContext = "fleetd/skill-content/1\x00"

// SkillDigest returns the digest of what a version of a skill makes an agent do:
// SHA-256 over a context string, the SHA-256 of its body and that of its check.
// Whoever writes the same text again makes the same digest, under whatever slug,
// name, tags and scope, and it follows from the record alone, also while the body
// is not here yet. Files of a skill will be added behind, so that those without
// keep their digest. ok is false for what is no live skill, or breaks the rules.
// It is pure.
func SkillDigest(rec *merge.Record) (digest [sha256.Size]byte, ok bool) {
	if rec.Key.Kind != kindSkill || rec.Envelope.Deleted {
		return digest, false
	}
	sk, err := decodeSkill(rec)
	if err != nil {
		return digest, false
	}
	body := sha256.Sum256([]byte(sk.Body))
	if ref := apartOf(rec); ref != nil {
		body = ref.Hash
	}
	check := sha256.Sum256([]byte(sk.Check))
	h := sha256.New()
	h.Write([]byte(skillContentContext)) // a hash takes everything
	h.Write(body[:])
	h.Write(check[:])
	return [sha256.Size]byte(h.Sum(nil)), true
}
