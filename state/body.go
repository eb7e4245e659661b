package state

import (
	"fmt"
	"math"
	"time"

	"github.com/fleetsync/fleetd/merge"
)

// The kinds of records that this package writes.
const (
	kindSkill   = "skill"
	kindOutcome = "skill.outcome"
	kindMemory  = "memory"
	kindSession = "session"
	kindTurn    = "session.turn"
)

// The bodies below are stored, signed and sent as deterministic CBOR. The law
// of their evolution: a key is never reused and never changes its type; a new
// field is optional and omitted when zero, so that an old body stays what it
// is; there are no floats; times are int64 nanoseconds since 1970 UTC. Keys 1
// to 3 mean the same in every kind and are all that a tombstone keeps. What
// the record's key says (scope, slug, memory id) is not repeated. Golden
// vectors in testdata hold the bytes.

// tombstoneBody is what remains of a deleted record, so that a revival keeps
// its identity and counts on.
type tombstoneBody struct {
	ID        string `cbor:"1,keyasint,omitempty"` // a skill's id when its creator chose one
	Version   int64  `cbor:"2,keyasint,omitempty"` // of kinds that count content versions
	CreatedAt int64  `cbor:"3,keyasint,omitempty"`
}

type skillBody struct {
	ID        string   `cbor:"1,keyasint,omitempty"` // absent when it is the derived one
	Version   int64    `cbor:"2,keyasint,omitempty"` // from 1
	CreatedAt int64    `cbor:"3,keyasint,omitempty"`
	UpdatedAt int64    `cbor:"4,keyasint,omitempty"`
	Name      string   `cbor:"5,keyasint,omitempty"`
	Body      string   `cbor:"6,keyasint,omitempty"`
	Tags      []string `cbor:"7,keyasint,omitempty"`
	Check     string   `cbor:"8,keyasint,omitempty"`
	Apart     bool     `cbor:"9,keyasint,omitempty"`  // Body is the first blob of the record
	Held      string   `cbor:"10,keyasint,omitempty"` // the rules of Secrets.Held
}

type memoryBody struct {
	CreatedAt int64  `cbor:"3,keyasint,omitempty"`
	Kind      string `cbor:"4,keyasint,omitempty"`
	Content   string `cbor:"5,keyasint,omitempty"`
	Source    string `cbor:"6,keyasint,omitempty"`
	Apart     bool   `cbor:"7,keyasint,omitempty"` // Content is the first blob of the record
	Held      string `cbor:"8,keyasint,omitempty"` // the rules of Secrets.Held
}

// skillKey is the record key of a skill, whose scope and slug are normal.
func skillKey(scope Scope, slug string) merge.Key {
	return merge.Key{Kind: kindSkill, Scope: scope, ID: merge.NewID(slug)}
}

// memoryKey is the record key of a memory item, whose scope and id are normal.
func memoryKey(scope Scope, id string) merge.Key {
	return merge.Key{Kind: kindMemory, Scope: scope, ID: merge.NewID(id)}
}

// chosenID returns the id of a skill that has to be stored: empty when it is
// the derived one.
func chosenID(sk Skill) string {
	if sk.ID == SkillID(sk.Scope, sk.Slug) {
		return ""
	}
	return sk.ID
}

// encodeSkill returns the body of a stamped skill, whose Body is the blob apart
// unless that is nil. Errors: ErrTooLarge.
func encodeSkill(sk Skill, apart *merge.BlobRef) (encoded, error) {
	if sk.Deleted {
		return encodeBody(kindSkill, tombstoneBody{
			ID: chosenID(sk), Version: int64(sk.Version), CreatedAt: sk.CreatedAt.UnixNano(),
		})
	}
	body := skillBodyOf(sk)
	if apart != nil {
		body.Body, body.Apart = "", true
	}
	return encodeApart(kindSkill, body, apart)
}

func skillBodyOf(sk Skill) skillBody {
	return skillBody{
		ID:        chosenID(sk),
		Version:   int64(sk.Version),
		CreatedAt: sk.CreatedAt.UnixNano(),
		UpdatedAt: sk.UpdatedAt.UnixNano(),
		Name:      sk.Name,
		Body:      sk.Body,
		Tags:      sk.Tags,
		Check:     sk.Check,
		Held:      sk.Held,
	}
}

// encodeMemory is encodeSkill for memory items.
func encodeMemory(it MemoryItem, apart *merge.BlobRef) (encoded, error) {
	if it.Deleted {
		return encodeBody(kindMemory, tombstoneBody{CreatedAt: it.CreatedAt.UnixNano()})
	}
	body := memoryBodyOf(it)
	if apart != nil {
		body.Content, body.Apart = "", true
	}
	return encodeApart(kindMemory, body, apart)
}

func memoryBodyOf(it MemoryItem) memoryBody {
	return memoryBody{
		CreatedAt: it.CreatedAt.UnixNano(),
		Kind:      it.Kind,
		Content:   it.Content,
		Source:    it.Source,
		Held:      it.Held,
	}
}

func encodeBody(kind string, body any) (encoded, error) { return encodeApart(kind, body, nil) }

func encodeApart(kind string, body any, apart *merge.BlobRef) (encoded, error) {
	bytes, err := merge.Marshal(body)
	if err != nil {
		return encoded{}, err
	}
	if len(bytes) > merge.BodyBytesMax {
		return encoded{}, fmt.Errorf("%w: %s of %d bytes besides its content, at most %d",
			ErrTooLarge, kind, len(bytes), merge.BodyBytesMax)
	}
	return encoded{bytes, apart}, nil
}

// decodeSkill is the view of a skill's record. Errors: ErrInvalid for a record
// that breaks the rules of the kind, whoever wrote it. Of a record whose content
// is apart it is incomplete: see whole.
func decodeSkill(rec *merge.Record) (Skill, error) {
	scope, slug, err := decodeKey(rec, slugText)
	if err != nil {
		return Skill{}, err
	}
	var body skillBody
	if rec.Envelope.Deleted {
		var t tombstoneBody
		err = decodeBody(rec, &t)
		body = skillBody{ID: t.ID, Version: t.Version, CreatedAt: t.CreatedAt, UpdatedAt: rec.Envelope.UpdatedHLC.Time().UnixNano()}
	} else {
		err = decodeBody(rec, &body)
	}
	if err != nil {
		return Skill{}, err
	}
	if err := checkApart(rec, body.Apart, body.Body); err != nil {
		return Skill{}, err
	}
	if body.Version < 1 {
		return Skill{}, fmt.Errorf("%w: %s has content version %d", ErrInvalid, rec.Key, body.Version)
	}
	if body.ID == "" {
		body.ID = SkillID(scope, slug)
	} else if id, err := keyText("id", body.ID); err != nil || id != body.ID {
		return Skill{}, fmt.Errorf("%w: %s has id %.60q", ErrInvalid, rec.Key, body.ID)
	}
	if body.Tags == nil {
		body.Tags = []string{}
	}
	return Skill{
		ID:         body.ID,
		Slug:       slug,
		Name:       body.Name,
		Body:       body.Body,
		Tags:       body.Tags,
		Scope:      scope,
		Check:      body.Check,
		Version:    int(min(body.Version, math.MaxInt)),
		CreatedAt:  decodeTime(body.CreatedAt),
		UpdatedAt:  decodeTime(body.UpdatedAt),
		Incomplete: body.Apart,
		Secrets:    heldIn(rec, body.Held),
		Envelope:   envelopeOf(rec.Envelope),
	}, nil
}

// decodeMemory is decodeSkill for memory items.
func decodeMemory(rec *merge.Record) (MemoryItem, error) {
	it, err := decodeMemoryBody(rec)
	if err == nil {
		it.Envelope = envelopeOf(rec.Envelope)
	}
	return it, err
}

// decodeMemoryBody is decodeMemory without the envelope, whose texts cost as
// much as the rest.
func decodeMemoryBody(rec *merge.Record) (MemoryItem, error) {
	scope, id, err := decodeKey(rec, idText)
	if err != nil {
		return MemoryItem{}, err
	}
	var body memoryBody
	if rec.Envelope.Deleted {
		var t tombstoneBody
		err = decodeBody(rec, &t)
		body.CreatedAt = t.CreatedAt
	} else {
		err = decodeBody(rec, &body)
	}
	if err != nil {
		return MemoryItem{}, err
	}
	if err := checkApart(rec, body.Apart, body.Content); err != nil {
		return MemoryItem{}, err
	}
	return MemoryItem{
		Incomplete: body.Apart,
		ID:         id,
		Kind:       body.Kind,
		Content:    body.Content,
		Scope:      scope,
		Source:     body.Source,
		Secrets:    heldIn(rec, body.Held),
		CreatedAt:  decodeTime(body.CreatedAt),
	}, nil
}

// decodeKey returns scope and name of a record of a kind whose id is one
// component. A key that was not normal when it was written would be out of
// reach for every caller, so it breaks the rules.
func decodeKey(rec *merge.Record, normal func(string) (string, error)) (Scope, string, error) {
	scope, names, err := decodeKeyOf(rec, normal)
	if err != nil {
		return Scope{}, "", err
	}
	return scope, names[0], nil
}

// decodeKeyOf is decodeKey for a kind whose id has one component for each rule.
func decodeKeyOf(rec *merge.Record, normal ...func(string) (string, error)) (Scope, []string, error) {
	components := rec.Key.ID.Components()
	if len(components) != len(normal) {
		return Scope{}, nil, fmt.Errorf("%w: %s has an id of %d parts, its kind has %d", ErrInvalid, rec.Key, len(components), len(normal))
	}
	for i, rule := range normal {
		name, err := rule(components[i])
		if err != nil {
			return Scope{}, nil, err
		}
		if name != components[i] {
			return Scope{}, nil, fmt.Errorf("%w: the key of %s is not in form NFC", ErrInvalid, rec.Key)
		}
	}
	scope, err := scopeText(rec.Key.Scope)
	if err != nil {
		return Scope{}, nil, err
	}
	if scope != rec.Key.Scope {
		return Scope{}, nil, fmt.Errorf("%w: the key of %s is not in form NFC", ErrInvalid, rec.Key)
	}
	return scope, components, nil
}

// cborMapHead is the high bits of the first byte of every map.
const cborMapHead = 5 << 5

func decodeBody(rec *merge.Record, into any) error {
	if len(rec.Body) == 0 || rec.Body[0]&0xe0 != cborMapHead {
		return fmt.Errorf("%w: the body of %s is not a map", ErrInvalid, rec.Key)
	}
	if err := merge.Unmarshal(rec.Body, into); err != nil {
		return fmt.Errorf("%w: body of %s: %w", ErrInvalid, rec.Key, err)
	}
	return nil
}

func decodeTime(nanos int64) time.Time { return time.Unix(0, nanos).UTC() }
