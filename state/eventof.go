package state

import (
	"encoding/base64"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/store"
)

// Events of the state stream follow from records: those that a store keeps are
// made of its records when they are read, and those that go to a log of the
// caller's when they are written. Both look alike.

// Payload keys besides those of events.go.
const (
	// payloadScope is the scope of a session or turn, which its post-image does not
	// have: an object as in the images of other kinds.
	payloadScope = "scope"
	// payloadTurns is how many turns are counted in the image of a session.
	payloadTurns = "turns"
	// payloadRecord is a record that this build cannot show: of an unknown kind, or
	// one that breaks the rules of its kind and is hidden from readers, or one that
	// the fleet's statements took away.
	payloadRecord = "record"
)

// eventOf returns the event of a new head. sessionOf returns the session of a
// turn as the turn leaves it, nil when there is none.
func eventOf(r *store.Reader, rec *merge.Record, sessionOf func(turn Turn) (*Session, error)) (eventlog.AppendInput, error) {
	var in eventlog.AppendInput
	rec, err := whole(r, rec)
	if err != nil {
		return eventlog.AppendInput{}, err
	}
	switch rec.Key.Kind {
	case kindSession:
		var ses Session
		if ses, err = decodeSession(rec); err == nil {
			if in, err = sessionEventOf(r, rec, ses); err != nil {
				return eventlog.AppendInput{}, err
			}
		}
	case kindTurn:
		var t Turn
		if t, err = decodeTurn(rec); err == nil {
			ses, err := sessionOf(t)
			if err != nil {
				return eventlog.AppendInput{}, err
			}
			in = turnEvent(t, ses)
			in.Payload[payloadScope] = scopePayload(rec.Key.Scope)
		}
	case kindSkill:
		var sk Skill
		if sk, err = decodeSkill(rec); err == nil {
			in = skillEvent(sk)
		}
	case kindMemory:
		var it MemoryItem
		if it, err = decodeMemory(rec); err == nil {
			in = memoryEvent(it)
		}
	case kindOutcome:
		var o Outcome
		if o, err = decodeOutcome(rec); err == nil {
			in = outcomeEvent(o)
		}
	}
	if in.Payload == nil { // of an unknown kind, or hidden for err
		in = stateEvent("", envelopeOf(rec.Envelope), map[string]any{payloadRecord: recordPayload(rec)})
	}
	in.Type = Indexer{}.EventType(rec.Key.Kind, rec.Envelope.Deleted)
	return in, nil
}

// goneEvent is the event of a record that the fleet's statements took away: it
// shows which one, as a deletion that hides what was known of it.
func goneEvent(rec *merge.Record) eventlog.AppendInput {
	return stateEvent(Indexer{}.EventType(rec.Key.Kind, true), envelopeOf(rec.Envelope), map[string]any{payloadRecord: recordPayload(rec)})
}

// sessionEventOf is the event of a session as callers see it: a deleted one with
// the turns that it has, which its last reader saw counted.
func sessionEventOf(r *store.Reader, rec *merge.Record, ses Session) (eventlog.AppendInput, error) {
	var t tally
	if ses.Deleted {
		var err error
		if t, err = tallyOf(r, rec.Key); err != nil {
			return eventlog.AppendInput{}, err
		}
	}
	in := sessionEvent(t.over(ses))
	in.Payload[payloadScope], in.Payload[payloadTurns] = scopePayload(rec.Key.Scope), t.turns
	return in, nil
}

// recordPayload shows a record whose body means nothing here.
func recordPayload(rec *merge.Record) map[string]any {
	components := rec.Key.ID.Components()
	id := make([]any, len(components))
	for i, c := range components {
		id[i] = c
	}
	p := envelopePayload(envelopeOf(rec.Envelope))
	p["Kind"], p["ID"], p["Scope"] = rec.Key.Kind, id, scopePayload(rec.Key.Scope)
	p["Body"] = base64.StdEncoding.EncodeToString(rec.Body)
	return p
}
