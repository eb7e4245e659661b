package state

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/hlc"
)

// The payload of an event is made of values that JSON has: an object for each
// record with the published field names, the envelope inline; times as RFC
// 3339 with nanoseconds, stamps as "wall.counter", numbers as int64 (read back
// from JSON as json.Number, so that none loses digits).

func sessionPayload(ses Session) map[string]any {
	p := envelopePayload(ses.Envelope)
	p["ID"], p["Title"], p["Model"] = ses.ID, ses.Title, ses.Model
	setHeld(p, ses.Held)
	p["CreatedAt"], p["UpdatedAt"] = ses.CreatedAt.Format(time.RFC3339Nano), ses.UpdatedAt.Format(time.RFC3339Nano)
	return p
}

func turnPayload(t Turn) map[string]any {
	p := envelopePayload(t.Envelope)
	p["ID"], p["SessionID"], p["Seq"], p["Role"], p["Content"] = t.ID, t.SessionID, t.Seq, t.Role, t.Content
	setIncomplete(p, t.Incomplete)
	setHeld(p, t.Held)
	p["CreatedAt"] = t.CreatedAt.Format(time.RFC3339Nano)
	return p
}

// skillPayload shows the totals that the image has. One that a store's record
// gives has none: outcomes are records, and events, of their own.
func skillPayload(sk Skill) map[string]any {
	tags := make([]any, len(sk.Tags))
	for i, tag := range sk.Tags {
		tags[i] = tag
	}
	p := envelopePayload(sk.Envelope)
	p["Scope"] = scopePayload(sk.Scope)
	p["ID"], p["Slug"], p["Name"], p["Body"] = sk.ID, sk.Slug, sk.Name, sk.Body
	p["Tags"], p["Check"] = tags, sk.Check
	setIncomplete(p, sk.Incomplete)
	setHeld(p, sk.Held)
	p["Uses"], p["Wins"], p["Version"] = int64(sk.Uses), int64(sk.Wins), int64(sk.Version)
	p["CreatedAt"], p["UpdatedAt"] = sk.CreatedAt.Format(time.RFC3339Nano), sk.UpdatedAt.Format(time.RFC3339Nano)
	return p
}

func memoryPayload(it MemoryItem) map[string]any {
	p := envelopePayload(it.Envelope)
	p["Scope"] = scopePayload(it.Scope)
	p["ID"], p["Kind"], p["Content"], p["Source"] = it.ID, it.Kind, it.Content, it.Source
	setIncomplete(p, it.Incomplete)
	setHeld(p, it.Held)
	p["CreatedAt"] = it.CreatedAt.Format(time.RFC3339Nano)
	return p
}

// setIncomplete says of an image that its content was not here yet when the event
// was read.
func setIncomplete(p map[string]any, incomplete bool) {
	if incomplete {
		p["Incomplete"] = true
	}
}

// setHeld says of an image that it was held back by the gate for secrets.
func setHeld(p map[string]any, held string) {
	if held != "" {
		p["Held"] = held
	}
}

func scopePayload(s Scope) map[string]any {
	return map[string]any{"Instance": s.Instance, "Project": s.Project, "Workspace": s.Workspace}
}

func envelopePayload(e Envelope) map[string]any {
	return map[string]any{
		"SyncVersion":      e.SyncVersion,
		"OriginInstanceID": e.OriginInstanceID,
		"UpdatedHLC":       e.UpdatedHLC.String(),
		"LastWriterID":     e.LastWriterID,
		"Deleted":          e.Deleted,
	}
}

// DecodeSession returns the session of a session's or a turn's event, also
// after a trip through JSON. Errors: ErrInvalid.
func DecodeSession(payload map[string]any) (Session, error) {
	r := newPayloadReader(payload, payloadSession)
	ses := Session{
		ID: r.text("ID"), Title: r.text("Title"), Model: r.text("Model"),
		CreatedAt: r.time("CreatedAt"), UpdatedAt: r.time("UpdatedAt"), Secrets: r.secrets(), Envelope: r.envelope(),
	}
	if r.err != nil {
		return Session{}, r.err
	}
	return ses, nil
}

// DecodeTurn is DecodeSession for the turn of a turn's event.
func DecodeTurn(payload map[string]any) (Turn, error) {
	r := newPayloadReader(payload, payloadTurn)
	t := Turn{
		ID: r.text("ID"), SessionID: r.text("SessionID"), Seq: r.number("Seq"), Role: r.text("Role"), Content: r.text("Content"), Incomplete: r.flag("Incomplete"),
		CreatedAt: r.time("CreatedAt"), Secrets: r.secrets(), Envelope: r.envelope(),
	}
	if r.err != nil {
		return Turn{}, r.err
	}
	return t, nil
}

// DecodeSkill returns the skill of a skill event's payload, also after a trip
// through JSON. Errors: ErrInvalid.
func DecodeSkill(payload map[string]any) (Skill, error) {
	r := newPayloadReader(payload, payloadSkill)
	sk := Skill{
		ID: r.text("ID"), Slug: r.text("Slug"), Name: r.text("Name"), Body: r.text("Body"), Incomplete: r.flag("Incomplete"),
		Tags: r.texts("Tags"), Scope: r.scope("Scope"), Check: r.text("Check"),
		Uses: int(r.number("Uses")), Wins: int(r.number("Wins")), Version: int(r.number("Version")),
		CreatedAt: r.time("CreatedAt"), UpdatedAt: r.time("UpdatedAt"), Secrets: r.secrets(), Envelope: r.envelope(),
	}
	if r.err != nil {
		return Skill{}, r.err
	}
	return sk, nil
}

// DecodeMemoryItem is DecodeSkill for memory events.
func DecodeMemoryItem(payload map[string]any) (MemoryItem, error) {
	r := newPayloadReader(payload, payloadMemory)
	it := MemoryItem{
		ID: r.text("ID"), Kind: r.text("Kind"), Content: r.text("Content"), Scope: r.scope("Scope"), Incomplete: r.flag("Incomplete"),
		Source: r.text("Source"), CreatedAt: r.time("CreatedAt"), Secrets: r.secrets(), Envelope: r.envelope(),
	}
	if r.err != nil {
		return MemoryItem{}, r.err
	}
	return it, nil
}

// payloadReader reads the fields of one record and keeps the first error.
type payloadReader struct {
	fields map[string]any
	err    error
}

func newPayloadReader(payload map[string]any, record string) *payloadReader {
	r := &payloadReader{fields: payload}
	r.fields = r.object(record)
	return r
}

func (r *payloadReader) fail(field, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: payload field %s is %T, want %s", ErrInvalid, field, r.fields[field], want)
	}
}

func (r *payloadReader) object(field string) map[string]any {
	v, ok := r.fields[field].(map[string]any)
	if !ok {
		r.fail(field, "an object")
	}
	return v
}

// flag reads a field that is left out when it is false.
func (r *payloadReader) flag(field string) bool {
	v, ok := r.fields[field].(bool)
	if _, there := r.fields[field]; there && !ok {
		r.fail(field, "true or false")
	}
	return v
}

// secrets reads what setHeld has written.
func (r *payloadReader) secrets() Secrets {
	if _, there := r.fields["Held"]; !there {
		return Secrets{}
	}
	return Secrets{Held: r.text("Held")}
}

func (r *payloadReader) text(field string) string {
	v, ok := r.fields[field].(string)
	if !ok {
		r.fail(field, "text")
	}
	return v
}

func (r *payloadReader) texts(field string) []string {
	values, ok := r.fields[field].([]any)
	if !ok {
		r.fail(field, "a list of texts")
	}
	texts := make([]string, 0, len(values))
	for _, v := range values {
		text, ok := v.(string)
		if !ok {
			r.fail(field, "a list of texts")
		}
		texts = append(texts, text)
	}
	return texts
}

// number accepts what JSON decoders make of an integer, but no float beyond
// the integers that a float holds exactly.
func (r *payloadReader) number(field string) int64 {
	const floatExactMax = 1 << 53
	switch v := r.fields[field].(type) {
	case int64:
		return v
	case int:
		return int64(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
	case float64:
		if n := int64(v); float64(n) == v && -floatExactMax < n && n < floatExactMax {
			return n
		}
	}
	r.fail(field, "an integer")
	return 0
}

func (r *payloadReader) time(field string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.text(field))
	if err != nil {
		r.fail(field, "a time of RFC 3339")
		return time.Time{}
	}
	if t, err = storedTime(field, t); err != nil && r.err == nil {
		r.err = err
	}
	return t
}

func (r *payloadReader) scope(field string) Scope {
	nested := payloadReader{fields: r.object(field)}
	s := Scope{Instance: nested.text("Instance"), Project: nested.text("Project"), Workspace: nested.text("Workspace")}
	if nested.err != nil && r.err == nil {
		r.err = nested.err
	}
	return s
}

func (r *payloadReader) envelope() Envelope {
	stamp, err := hlc.Parse(r.text("UpdatedHLC"))
	if err != nil {
		r.fail("UpdatedHLC", "a stamp")
	}
	deleted, ok := r.fields["Deleted"].(bool)
	if !ok {
		r.fail("Deleted", "true or false")
	}
	return Envelope{
		SyncVersion: r.number("SyncVersion"), OriginInstanceID: r.text("OriginInstanceID"),
		UpdatedHLC: stamp, LastWriterID: r.text("LastWriterID"), Deleted: deleted,
	}
}
