package state

import (
	"github.com/fleetsync/fleetd/state/eventlog"
)

// StateStream is the stream that every change of state is recorded on.
const StateStream = "state"

// The types of the events of StateStream. The payload of each is the
// post-image of the record that changed.
const (
	EvSessionCreated = "session.created"
	EvTurnAppended   = "session.turn_appended"
	EvSessionDeleted = "session.deleted"
	EvSkillUpserted  = "skill.upserted"
	EvSkillDeleted   = "skill.deleted"
	EvMemoryWritten  = "memory.written"
	EvMemoryDeleted  = "memory.deleted"
)

// EvOutcomeRecorded is the type of the event of an outcome, which is no
// published one: the kind and ".written", as the Indexer names every kind that
// has no words of its own.
const EvOutcomeRecorded = "skill.outcome.written"

// The types by which deleted turns and outcomes show. Nobody deletes them but
// to undo what an instance has written.
const (
	evTurnDeleted    = "session.turn.deleted"
	evOutcomeDeleted = "skill.outcome.deleted"
)

// Payload keys under which an event carries its post-image.
const (
	payloadSession = "session"
	payloadTurn    = "turn"
	payloadSkill   = "skill"
	payloadMemory  = "item"
)

// sessionEvent is the event of a stamped session.
func sessionEvent(ses Session) eventlog.AppendInput {
	eventType := EvSessionCreated
	if ses.Deleted {
		eventType = EvSessionDeleted
	}
	return stateEvent(eventType, ses.Envelope, map[string]any{payloadSession: sessionPayload(ses)})
}

// turnEvent is the event of a stamped turn, beside its session as the turn
// leaves it; nil when the turn is here before its session.
func turnEvent(t Turn, ses *Session) eventlog.AppendInput {
	payload := map[string]any{payloadTurn: turnPayload(t)}
	if ses != nil {
		payload[payloadSession] = sessionPayload(*ses)
	}
	return stateEvent(EvTurnAppended, t.Envelope, payload)
}

// skillEvent is the event of a stamped skill. It follows from the record alone
// (its time is the stamp's), so that a log rebuilt from records says the same.
func skillEvent(sk Skill) eventlog.AppendInput {
	eventType := EvSkillUpserted
	if sk.Deleted {
		eventType = EvSkillDeleted
	}
	return stateEvent(eventType, sk.Envelope, map[string]any{payloadSkill: skillPayload(sk)})
}

// memoryEvent is skillEvent for memory items.
func memoryEvent(it MemoryItem) eventlog.AppendInput {
	eventType := EvMemoryWritten
	if it.Deleted {
		eventType = EvMemoryDeleted
	}
	return stateEvent(eventType, it.Envelope, map[string]any{payloadMemory: memoryPayload(it)})
}

func stateEvent(eventType string, e Envelope, payload map[string]any) eventlog.AppendInput {
	return eventlog.AppendInput{
		Stream:           StateStream,
		Type:             eventType,
		Payload:          payload,
		SchemaVersion:    eventlog.SchemaVersion,
		Time:             e.UpdatedHLC.Time(),
		OriginInstanceID: e.LastWriterID,
	}
}
