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
		return bodyOf(encodeSkill(v, nil))
	case Session:
		return bodyOf(encodeSession(v))
	case Turn:
		return bodyOf(encodeTurn(v, nil))
	case Outcome:
		return bodyOf(encodeOutcome(v))
	}
	return bodyOf(encodeMemory(value.(MemoryItem), nil))
}

func bodyOf(e encoded, err error) ([]byte, error) { return e.body, err }
