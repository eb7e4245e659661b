package state

import (
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state/eventlog"
)

// What the gate holds of sessions and turns lies in a scope beside the home scope,
// and readers see it in its place there. So does a snapshot, as long as the home
// scope has no record of it.

// isHeldPlace reports whether a key is of a session or a turn beside the home scope.
func (p *projection) isHeldPlace(key merge.Key) bool {
	return key.Family() == kindSession && p.home.Instance == "" && key.Scope != p.home && meantFor(key.Scope) == p.home
}

// applyHeld is apply for an event of a session or a turn that is held, or was; done
// is false for any other of another scope.
func (p *projection) applyHeld(e eventlog.Event) (done bool, err error) {
	r := payloadReader{fields: e.Payload}
	if scope := r.scope(payloadScope); r.err != nil || p.home.Instance != "" || meantFor(scope) != p.home {
		return false, nil //nolint:nilerr // whoever asked about the scope has said so
	}
	switch e.Type {
	case EvSessionCreated, EvSessionDeleted:
		ses, err := DecodeSession(e.Payload)
		if err != nil {
			return false, err
		}
		turns := payloadReader{fields: e.Payload}
		return p.takeHeldSession(discount(ses, turns.number(payloadTurns))), turns.err
	case EvTurnAppended, evTurnDeleted:
		t, err := DecodeTurn(e.Payload)
		return err == nil && p.takeHeldTurn(t), err
	}
	return false, nil
}

// takeHeldRecord is applyHeld for a record of a store.
func (p *projection) takeHeldRecord(rec *merge.Record) (done bool) {
	switch rec.Key.Kind {
	case kindSession:
		ses, err := decodeSession(rec)
		return err == nil && p.takeHeldSession(ses)
	case kindTurn:
		t, err := decodeTurn(rec)
		return err == nil && p.takeHeldTurn(t)
	}
	return false
}

func (p *projection) takeHeldSession(ses Session) (done bool) {
	key := sessionKey(p.home, ses.ID)
	return takeHeld(&p.sessions, key, ses, p.sessions.get(key).ID == "", p.sessions.get(key).Held, ses.Held, ses.Deleted)
}

func (p *projection) takeHeldTurn(t Turn) (done bool) {
	key := turnKey(p.home, t.SessionID, t.ID)
	return takeHeld(&p.turns, key, t, p.turns.get(key).ID == "", p.turns.get(key).Held, t.Held, t.Deleted)
}

// takeHeld takes the image of something that is held where there is none of the
// home scope, and away what is held no more.
func takeHeld[T any](images *images[T], key merge.Key, image T, vacant bool, was, held string, deleted bool) (done bool) {
	switch {
	case was != "" && (deleted || held == ""):
		images.delete(key)
	case held != "" && !deleted && (vacant || was != ""):
		images.set(key, image)
	case held == "" && !deleted:
		return false
	}
	return true
}
