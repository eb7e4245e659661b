package state

import (
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// A turn that is held lies beside the home scope and is shown in its place in the
// session, which stays where it is: nothing else of the session is held with it. A
// session is held only for what its own record says.

// sessionTexts are the texts of a session in which the gate looks for secrets.
func sessionTexts(ses Session) []string { return []string{ses.Title, ses.Model, ses.ID} }

// turnTexts are sessionTexts for turns.
func turnTexts(t Turn) []string { return []string{t.Content, t.Role, t.ID} }

// either returns the head of a key, or that of its held place when there is none;
// tombstones included, and nil when there is neither.
func (p *replica) either(r *store.Reader, key merge.Key) (*merge.Record, error) {
	rec, err := head(r, key)
	place, ok := p.heldPlace(key)
	if rec != nil || err != nil || !ok {
		return rec, err
	}
	return head(r, place)
}

// tally is tallyOf with the turns that are held.
func (s sessions) tally(r *store.Reader, session merge.Key) (tally, error) {
	t, err := tallyOf(r, session)
	if err != nil {
		return tally{}, err
	}
	err = s.heldTurns(r, string(session.ID), func(rec *merge.Record) error {
		t.turns++
		t.take(rec.Envelope.UpdatedHLC, rec.Envelope.LastWriterID)
		return nil
	})
	return t, err
}

// heldTurns calls fn for the head of each turn of a session that is held, in their
// order.
func (s sessions) heldTurns(r *store.Reader, sessionID string, fn func(rec *merge.Record) error) error {
	place, _ := s.heldScope(s.scope())
	return s.heldRows(r, s.scope(), func(rest []string) error {
		key := turnKey(s.scope(), sessionID, rest[len(rest)-1])
		at, err := s.shown(r, key)
		if err != nil || at.Scope != place {
			return err
		}
		rec, err := head(r, at)
		if err != nil || rec == nil {
			return err
		}
		return fn(rec)
	}, indexTurnIn, sessionID)
}

// highestSeq returns the highest Seq of a session's turns, those that are held
// included; 0 when it has none.
func (s sessions) highestSeq(r *store.Reader, sessionID string) (int64, error) {
	highest, err := highestSeq(r, s.scope(), sessionID)
	place, ok := s.heldScope(s.scope())
	if err != nil || !ok {
		return highest, err
	}
	held, err := highestSeq(r, place, sessionID)
	return max(highest, held), err
}

// turnVersion makes the version of a stamped turn, of which key is where it is meant
// to be, and the turn as it is then.
func (s sessions) turnVersion(r *store.Reader, key merge.Key, stamped Turn, apart *merge.BlobRef, v verdict) (Turn, merge.Record, error) {
	stamped.Warned = v.warned()
	if v.hold {
		key, _ = s.heldPlace(key)
		stamped.Held = v.rules
	}
	body, err := encodeTurn(stamped, apart)
	if err != nil {
		return Turn{}, merge.Record{}, err
	}
	rec, err := s.version(r, key, stamped.Envelope, body)
	stamped.Envelope = envelopeOf(rec.Envelope)
	return stamped, rec, err
}
