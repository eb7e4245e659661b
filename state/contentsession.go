package state

import (
	"time"

	"github.com/fleetsync/fleetd/merge"
)

func nextSession(head, from *merge.Record, deleted bool, now time.Time) (encoded, error) {
	next, err := decodeSession(from)
	if err != nil {
		if !deleted {
			return encoded{}, err
		}
		next = Session{CreatedAt: from.Envelope.UpdatedHLC.Time()}
	}
	if known, err := decodeSession(head); err == nil {
		next.CreatedAt = known.CreatedAt
	}
	next.UpdatedAt, next.Deleted = now, deleted
	return encodeSession(next)
}

// nextTurn keeps the place of a turn in its session, which a tombstone does not
// name.
func nextTurn(head, from *merge.Record, deleted bool, _ time.Time) (encoded, error) {
	next, err := decodeTurn(from)
	if err != nil {
		if !deleted {
			return encoded{}, err
		}
		next = Turn{CreatedAt: from.Envelope.UpdatedHLC.Time()}
	}
	if known, err := decodeTurn(head); err == nil {
		next.CreatedAt = known.CreatedAt
		if !known.Deleted {
			next.Seq = known.Seq
		}
	}
	next.Deleted = deleted
	return encodeTurn(next, apartIf(next.Incomplete, from))
}

func sessionSays(rec *merge.Record) ([]byte, error) {
	ses, err := decodeSession(rec)
	if err != nil {
		return nil, err
	}
	body := sessionBodyOf(ses)
	body.CreatedAt, body.UpdatedAt, body.Held = 0, 0, ""
	return merge.Marshal(body)
}

func turnSays(rec *merge.Record) ([]byte, error) {
	t, err := decodeTurn(rec)
	if err != nil {
		return nil, err
	}
	body := turnBodyOf(t)
	body.CreatedAt, body.Seq, body.Held = 0, 0, ""
	return saying(body, rec)
}
