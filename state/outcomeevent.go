package state

import "github.com/fleetsync/fleetd/state/eventlog"

// payloadOutcome is the payload key of an outcome's post-image.
const payloadOutcome = "outcome"

// outcomeEvent is skillEvent for outcomes. Their types are those that the
// Indexer gives to any kind.
func outcomeEvent(o Outcome) eventlog.AppendInput {
	eventType := Indexer{}.EventType(kindOutcome, o.Deleted)
	return stateEvent(eventType, o.Envelope, map[string]any{payloadOutcome: outcomePayload(o)})
}

func outcomePayload(o Outcome) map[string]any {
	p := envelopePayload(o.Envelope)
	p["Scope"] = scopePayload(o.Scope)
	p["Slug"], p["StoreID"], p["Uses"], p["Wins"] = o.Slug, o.StoreID, o.Uses, o.Wins
	return p
}

// DecodeOutcome is DecodeSkill for outcome events.
func DecodeOutcome(payload map[string]any) (Outcome, error) {
	r := newPayloadReader(payload, payloadOutcome)
	o := Outcome{
		Slug: r.text("Slug"), Scope: r.scope("Scope"), StoreID: r.text("StoreID"),
		Uses: r.number("Uses"), Wins: r.number("Wins"), Envelope: r.envelope(),
	}
	if r.err != nil {
		return Outcome{}, r.err
	}
	return o, nil
}
