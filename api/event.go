package api

import (
	"reflect"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/eventlog"
)

var reflectEvent = reflect.TypeFor[wire.Event]()

// wireEvent shows an event of the state stream. Its payload is what package
// state documents: the post-image of one record, beside its session for a turn.
func wireEvent(e *eventlog.Event) *wire.Event {
	w := &wire.Event{Time: e.Time.UTC(), Path: e.Path}
	if t, err := state.DecodeTurn(e.Payload); err == nil {
		shown := wireTurn(t)
		w.Kind, w.Key, w.Envelope, w.Turn = "session.turn", KeyText(merge.NewID(t.SessionID, t.ID)), shown.Envelope, &shown
		w.Scope = payloadScope(e.Payload)
		return w
	}
	if ses, err := state.DecodeSession(e.Payload); err == nil {
		shown := wireSession(ses)
		w.Kind, w.Key, w.Envelope, w.Session = "session", ses.ID, shown.Envelope, &shown
		w.Scope = payloadScope(e.Payload)
		return w
	}
	if sk, err := state.DecodeSkill(e.Payload); err == nil {
		shown := wireSkillFull(sk)
		w.Kind, w.Key, w.Scope, w.Envelope, w.Skill = "skill", sk.Slug, shown.Scope, shown.Envelope, &shown
		return w
	}
	if it, err := state.DecodeMemoryItem(e.Payload); err == nil {
		shown := wireMemory(it)
		w.Kind, w.Key, w.Scope, w.Envelope, w.Memory = "memory", it.ID, shown.Scope, shown.Envelope, &shown
		return w
	}
	if o, err := state.DecodeOutcome(e.Payload); err == nil {
		shown := wireOutcome(o)
		w.Kind, w.Key, w.Envelope, w.Outcome = "skill.outcome", KeyText(merge.NewID(o.Slug, o.StoreID)), shown.Envelope, &shown
		w.Scope = shown.Scope
		return w
	}
	record, _ := e.Payload["record"].(map[string]any)
	return unknownEvent(w, record)
}

// unknownEvent shows the record of an event that this build cannot: of an
// unknown kind, or one that breaks the rules of its kind.
func unknownEvent(w *wire.Event, record map[string]any) *wire.Event {
	w.Kind, _ = record["Kind"].(string)
	w.Scope = scopeOf(record["Scope"])
	parts, _ := record["ID"].([]any)
	id := make([]string, len(parts))
	for i, part := range parts {
		id[i], _ = part.(string)
	}
	w.Key = KeyText(merge.NewID(id...))
	var envelope state.Envelope
	envelope.SyncVersion, _ = record["SyncVersion"].(int64)
	envelope.OriginInstanceID, _ = record["OriginInstanceID"].(string)
	envelope.LastWriterID, _ = record["LastWriterID"].(string)
	envelope.Deleted, _ = record["Deleted"].(bool)
	stamp, _ := record["UpdatedHLC"].(string)
	envelope.UpdatedHLC, _ = hlc.Parse(stamp) // zero for what is none
	w.Envelope = wireEnvelope(envelope)
	return w
}

// payloadScope is the scope of a session or turn, which their images lack.
func payloadScope(payload map[string]any) wire.Scope { return scopeOf(payload["scope"]) }

func scopeOf(value any) (s wire.Scope) {
	fields, _ := value.(map[string]any)
	s.Instance, _ = fields["Instance"].(string)
	s.Project, _ = fields["Project"].(string)
	s.Workspace, _ = fields["Workspace"].(string)
	return s
}
