package state

import (
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// The bodies of sessions and turns, by the law of body.go.

type sessionBody struct {
	CreatedAt int64  `cbor:"3,keyasint,omitempty"`
	UpdatedAt int64  `cbor:"4,keyasint,omitempty"`
	Title     string `cbor:"5,keyasint,omitempty"`
	Model     string `cbor:"6,keyasint,omitempty"`
	Held      string `cbor:"7,keyasint,omitempty"` // the rules of Secrets.Held
}

type turnBody struct {
	CreatedAt int64  `cbor:"3,keyasint,omitempty"`
	Seq       int64  `cbor:"4,keyasint,omitempty"` // from 1
	Role      string `cbor:"5,keyasint,omitempty"`
	Content   string `cbor:"6,keyasint,omitempty"`
	Apart     bool   `cbor:"7,keyasint,omitempty"` // Content is the first blob of the record
	Held      string `cbor:"8,keyasint,omitempty"` // the rules of Secrets.Held
}

// sessionKey is the record key of a session, whose scope and id are normal.
func sessionKey(scope Scope, id string) merge.Key {
	return merge.Key{Kind: kindSession, Scope: scope, ID: merge.NewID(id)}
}

// turnKey is the record key of a turn, whose scope and ids are normal.
func turnKey(scope Scope, sessionID, id string) merge.Key {
	return merge.Key{Kind: kindTurn, Scope: scope, ID: merge.NewID(sessionID, id)}
}

// encodeSession returns the body of a stamped session. Errors: ErrTooLarge.
func encodeSession(ses Session) (encoded, error) {
	if ses.Deleted {
		return encodeBody(kindSession, tombstoneBody{CreatedAt: ses.CreatedAt.UnixNano()})
	}
	return encodeBody(kindSession, sessionBodyOf(ses))
}

func sessionBodyOf(ses Session) sessionBody {
	return sessionBody{
		CreatedAt: ses.CreatedAt.UnixNano(),
		UpdatedAt: ses.UpdatedAt.UnixNano(),
		Title:     ses.Title,
		Model:     ses.Model,
		Held:      ses.Held,
	}
}

// encodeTurn is encodeSkill for turns.
func encodeTurn(t Turn, apart *merge.BlobRef) (encoded, error) {
	if t.Deleted {
		return encodeBody(kindTurn, tombstoneBody{CreatedAt: t.CreatedAt.UnixNano()})
	}
	body := turnBodyOf(t)
	if apart != nil {
		body.Content, body.Apart = "", true
	}
	return encodeApart(kindTurn, body, apart)
}

func turnBodyOf(t Turn) turnBody {
	return turnBody{CreatedAt: t.CreatedAt.UnixNano(), Seq: t.Seq, Role: t.Role, Content: t.Content, Held: t.Held}
}

// decodeSession is the view of a session's record alone, without its turns.
// Errors: ErrInvalid for a record that breaks the rules of the kind, whoever
// wrote it.
func decodeSession(rec *merge.Record) (Session, error) {
	_, id, err := decodeKey(rec, idText)
	if err != nil {
		return Session{}, err
	}
	var body sessionBody
	if rec.Envelope.Deleted {
		var t tombstoneBody
		err = decodeBody(rec, &t)
		body = sessionBody{CreatedAt: t.CreatedAt, UpdatedAt: rec.Envelope.UpdatedHLC.Time().UnixNano()}
	} else {
		err = decodeBody(rec, &body)
	}
	if err != nil {
		return Session{}, err
	}
	return Session{
		ID:        id,
		Title:     body.Title,
		Model:     body.Model,
		Secrets:   heldIn(rec, body.Held),
		CreatedAt: decodeTime(body.CreatedAt),
		UpdatedAt: decodeTime(body.UpdatedAt),
		Envelope:  envelopeOf(rec.Envelope),
	}, nil
}

// decodeTurn is decodeSession for turns.
func decodeTurn(rec *merge.Record) (Turn, error) {
	_, ids, err := decodeKeyOf(rec, idText, idText)
	if err != nil {
		return Turn{}, err
	}
	var body turnBody
	if rec.Envelope.Deleted {
		var t tombstoneBody
		err = decodeBody(rec, &t)
		body.CreatedAt = t.CreatedAt
	} else if err = decodeBody(rec, &body); err == nil && body.Seq < 1 {
		err = fmt.Errorf("%w: %s has the sequence number %d", ErrInvalid, rec.Key, body.Seq)
	}
	if err == nil {
		err = checkApart(rec, body.Apart, body.Content)
	}
	if err != nil {
		return Turn{}, err
	}
	return Turn{
		Incomplete: body.Apart,
		ID:         ids[1],
		SessionID:  ids[0],
		Seq:        body.Seq,
		Role:       body.Role,
		Content:    body.Content,
		Secrets:    heldIn(rec, body.Held),
		CreatedAt:  decodeTime(body.CreatedAt),
		Envelope:   envelopeOf(rec.Envelope),
	}, nil
}
