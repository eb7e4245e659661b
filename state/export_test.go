package state

import "github.com/fleetsync/fleetd/merge"

// The external tests reach these parts of the package through here.

// QueryMatches reports whether a search text matches the fields.
func QueryMatches(text string, fields ...string) bool { return parseQuery(text).matches(fields...) }

// DecodeRecord returns the Skill or the MemoryItem of a record.
func DecodeRecord(rec *merge.Record) (any, error) {
	if rec.Key.Kind == kindSkill {
		return decodeSkill(rec)
	}
	return decodeMemory(rec)
}

// EncodeBody returns the body of a Skill or a MemoryItem.
func EncodeBody(value any) ([]byte, error) {
	if sk, ok := value.(Skill); ok {
		return encodeSkill(sk)
	}
	return encodeMemory(value.(MemoryItem))
}
