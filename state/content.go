package state

import (
	"bytes"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/merge"
)

// content is what writing a version of a kind anew takes. One row of contentOf
// for each kind whose versions are restored and reverted.
type content struct {
	// next returns the body of the version that follows head and says what from
	// says; deleted asks for a tombstone instead. What makes the record the same
	// one (its id, its creation, its count of versions) goes on from head.
	// Errors: ErrInvalid for a from that breaks the rules of the kind,
	// ErrTooLarge.
	next func(head, from *merge.Record, deleted bool, now time.Time) (encoded, error)
	// says returns what a live version says, as bytes that are equal when the
	// contents are. Errors: ErrInvalid for one that breaks the rules.
	says func(rec *merge.Record) ([]byte, error)
}

// contentOf returns the row of a kind. Errors: ErrInvalid for a kind whose
// versions this build cannot write.
func contentOf(key merge.Key) (content, error) {
	switch key.Kind {
	case kindSkill:
		return content{next: nextSkill, says: skillSays}, nil
	case kindOutcome:
		return content{next: nextOutcome, says: outcomeSays}, nil
	case kindMemory:
		return content{next: nextMemory, says: memorySays}, nil
	case kindSession:
		return content{next: nextSession, says: sessionSays}, nil
	case kindTurn:
		return content{next: nextTurn, says: turnSays}, nil
	}
	return content{}, fmt.Errorf("%w: this build does not write records of the kind %.64q; a build that knows the kind can settle %s",
		ErrInvalid, key.Kind, key)
}

// apartIf returns the blob of a version that is written anew: its content stays
// where it is, and need not be here.
func apartIf(apart bool, from *merge.Record) *merge.BlobRef {
	if !apart {
		return nil
	}
	return apartOf(from)
}

// saying is what a body without times and counts says, with the hash of content
// that is apart.
func saying(body any, rec *merge.Record) ([]byte, error) {
	said, err := merge.Marshal(body)
	if ref := apartOf(rec); ref != nil {
		said = append(said, ref.Hash[:]...)
	}
	return said, err
}

// same reports whether two versions say the same.
func (c content) same(a, b *merge.Record) bool {
	if a.Envelope.Deleted || b.Envelope.Deleted {
		return a.Envelope.Deleted == b.Envelope.Deleted
	}
	x, errX := c.says(a)
	y, errY := c.says(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func nextSkill(head, from *merge.Record, deleted bool, now time.Time) (encoded, error) {
	next, err := decodeSkill(from)
	if err != nil {
		if !deleted {
			return encoded{}, err
		}
		next = brokenSkill(from)
	}
	if known, err := decodeSkill(head); err == nil {
		next.ID, next.CreatedAt, next.Version = known.ID, known.CreatedAt, max(next.Version, known.Version)
	}
	next.Version, next.UpdatedAt, next.Deleted = successor(next.Version), now, deleted
	return encodeSkill(next, apartIf(next.Incomplete, from))
}

func nextMemory(head, from *merge.Record, deleted bool, _ time.Time) (encoded, error) {
	next, err := decodeMemory(from)
	if err != nil {
		if !deleted {
			return encoded{}, err
		}
		next = brokenMemory(from)
	}
	if known, err := decodeMemory(head); err == nil {
		next.CreatedAt = known.CreatedAt
	}
	next.Deleted = deleted
	return encodeMemory(next, apartIf(next.Incomplete, from))
}

func skillSays(rec *merge.Record) ([]byte, error) {
	sk, err := decodeSkill(rec)
	if err != nil {
		return nil, err
	}
	body := skillBodyOf(sk)
	body.ID, body.Version, body.CreatedAt, body.UpdatedAt, body.Held = "", 0, 0, 0, ""
	return saying(body, rec)
}

func memorySays(rec *merge.Record) ([]byte, error) {
	it, err := decodeMemory(rec)
	if err != nil {
		return nil, err
	}
	body := memoryBodyOf(it)
	body.CreatedAt, body.Held = 0, ""
	return saying(body, rec)
}
