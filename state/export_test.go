package state

import "github.com/fleetsync/fleetd/merge"

// The external tests reach these parts of the package through here.

// QueryMatches reports whether a search text matches the fields.
func QueryMatches(text string, fields ...string) bool { return parseQuery(text).matches(fields...) }

// DecodeRecord returns the value of a record: a Session, Turn, Skill, Outcome
// or MemoryItem.
func DecodeRecord(rec *merge.Record) (any, error) {
	switch rec.Key.Kind {
	case kindSkill:
		return decodeSkill(rec)
	case kindSession:
		return decodeSession(rec)
	case kindTurn:
		return decodeTurn(rec)
	case kindOutcome:
		return decodeOutcome(rec)
	}
	return decodeMemory(rec)
}

// EncodeBody returns the body of such a value.
func EncodeBody(value any) ([]byte, error) {
	switch v := value.(type) {
	case Skill:
		return encodeSkill(v)
	case Session:
		return encodeSession(v)
	case Turn:
		return encodeTurn(v)
	case Outcome:
		return encodeOutcome(v)
	}
	return encodeMemory(value.(MemoryItem))
}
