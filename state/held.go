package state

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/secrets"
	"github.com/fleetsync/fleetd/store"
)

// Gatekeeper lists what the gate holds back, and lets it out. Of the text of a
// record it says nothing but where the secrets are.
type Gatekeeper interface {
	// Held lists what is held back on this machine, in the order of keys.
	Held(ctx context.Context) ([]HeldRecord, error)
	// ShowHeld says what is held under a key, and where in it the secrets are. The
	// key may be that of Held or the one that the record is meant for. Errors:
	// ErrNotFound when nothing is held there, ErrIncomplete.
	ShowHeld(ctx context.Context, key merge.Key) (HeldDetail, error)
	// Release writes what is held to the scope that it is meant for, secrets and all,
	// and takes the held record away: an ordinary write, which the fleet keeps from
	// then on. version is the HeldRecord.Version that was looked at: another one is
	// not released. It returns the version that was written. Errors: ErrNotFound when
	// nothing is held there, ErrConflict for another version, ErrDenied, those of
	// ordinary writes.
	Release(ctx context.Context, key merge.Key, version merge.Hash) (Version, error)
	// Redact is Release of the text without the secrets: each is replaced by
	// "[redacted: RULE]". The held text stays in the history of this machine.
	// Errors: besides, ErrInvalid for a secret in a name, which a record cannot
	// change.
	Redact(ctx context.Context, key merge.Key, version merge.Hash) (Version, error)
}

// HeldRecord is a record that the gate holds back.
type HeldRecord struct {
	// Key is that of the record; its scope has this instance.
	Key merge.Key
	// To is the scope that it is meant for.
	To Scope
	// Rules are the ids of the rules that found something when it was written.
	Rules []string
	// At is when it was written.
	At time.Time
	// Version identifies what is held, for Release and Redact.
	Version merge.Hash
}

// HeldDetail is what can be said of a held record without its secrets.
type HeldDetail struct {
	HeldRecord
	// Places are where the secrets are, in the order of fields and lines.
	Places []SecretPlace
	// Redacted is what Redact would write: Skill, MemoryItem, Session or Turn, by the
	// kind.
	Redacted Version
}

// SecretPlace is where a secret is.
type SecretPlace struct {
	// Rule is the id of the rule that finds it.
	Rule string
	// Field is "content", "title" or another of the record; "id" for its name.
	Field string
	// Line counts from 1.
	Line int
}

// Held implements Gatekeeper.
func (p *replica) Held(ctx context.Context) ([]HeldRecord, error) {
	list := []HeldRecord{}
	err := p.view(ctx, func(r *store.Reader) error {
		return scanIndex(r, func(rest []string, rules []byte) (bool, error) {
			key := merge.Key{Kind: rest[0], Scope: parseScopeID(rest[1]), ID: merge.NewID(rest[2:]...)}
			if key.Scope.Instance != p.stamper.InstanceID() {
				return true, nil
			}
			rec, err := head(r, key)
			if err != nil || rec == nil {
				return false, cmp.Or(err, promised(fmt.Errorf("%w: %s", ErrNotFound, key)))
			}
			list = append(list, heldRecord(rec, string(rules)))
			return true, ctx.Err()
		}, indexGate)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b HeldRecord) int { return compareKeys(a.Key, b.Key) })
	return list, nil
}

func heldRecord(rec *merge.Record, rules string) HeldRecord {
	return HeldRecord{
		Key: rec.Key, To: meantFor(rec.Key.Scope), Rules: strings.Fields(rules),
		At: rec.Envelope.UpdatedHLC.Time(), Version: rec.Hash(),
	}
}

// heldHead returns what is held under a key, or under its held place. Errors:
// ErrNotFound.
func (p *replica) heldHead(r *store.Reader, key merge.Key) (*merge.Record, string, error) {
	if place, ok := p.heldPlace(key); ok {
		key = place
	}
	rec, err := head(r, key)
	if err != nil {
		return nil, "", err
	}
	rules := heldBy(rec)
	if rules == "" || key.Scope.Instance != p.stamper.InstanceID() {
		return nil, "", fmt.Errorf("%w: nothing is held back as %s", ErrNotFound, key)
	}
	return rec, rules, nil
}

// ShowHeld implements Gatekeeper.
func (p *replica) ShowHeld(ctx context.Context, key merge.Key) (HeldDetail, error) {
	var detail HeldDetail
	err := p.view(ctx, func(r *store.Reader) error {
		rec, rules, err := p.heldHead(r, key)
		if err != nil {
			return err
		}
		detail.HeldRecord = heldRecord(rec, rules)
		detail.Redacted, err = showVersion(r, rec)
		if err == nil && isIncomplete(&detail.Redacted) {
			err = lacking(rec.Key, detail.Redacted.LastWriterID, true)
		}
		return err
	})
	if err != nil {
		return HeldDetail{}, err
	}
	for _, f := range fieldsOf(&detail.Redacted) {
		found := secrets.Find(*f.text)
		for _, s := range found {
			line := 1 + strings.Count((*f.text)[:s.Start], "\n")
			detail.Places = append(detail.Places, SecretPlace{Rule: s.Rule, Field: f.name, Line: line})
		}
		*f.text = secrets.Redact(*f.text, found)
	}
	return detail, nil
}

// field is one text of a version.
type field struct {
	name string
	text *string
}

// fieldID is the name of the field that cannot be changed.
const fieldID = "id"

// fieldsOf returns the texts of a version in which the gate looks, its content
// first.
func fieldsOf(v *Version) []field {
	switch {
	case v.Skill != nil:
		sk := v.Skill
		fields := []field{{"body", &sk.Body}, {"name", &sk.Name}, {"check", &sk.Check}, {fieldID, &sk.Slug}, {fieldID, &sk.ID}}
		for i := range sk.Tags {
			fields = append(fields, field{"tags", &sk.Tags[i]})
		}
		return fields
	case v.Memory != nil:
		return []field{{"content", &v.Memory.Content}, {"kind", &v.Memory.Kind}, {"source", &v.Memory.Source}, {fieldID, &v.Memory.ID}}
	case v.Session != nil:
		return []field{{"title", &v.Session.Title}, {"model", &v.Session.Model}, {fieldID, &v.Session.ID}}
	case v.Turn != nil:
		return []field{{"content", &v.Turn.Content}, {"role", &v.Turn.Role}, {fieldID, &v.Turn.ID}}
	}
	return nil
}

func isIncomplete(v *Version) bool {
	return v.Skill != nil && v.Skill.Incomplete || v.Memory != nil && v.Memory.Incomplete || v.Turn != nil && v.Turn.Incomplete
}

// Release implements Gatekeeper.
func (p *replica) Release(ctx context.Context, key merge.Key, version merge.Hash) (Version, error) {
	return p.letOut(ctx, key, version, nil, nil)
}

// Redact implements Gatekeeper.
func (p *replica) Redact(ctx context.Context, key merge.Key, version merge.Hash) (Version, error) {
	detail, err := p.ShowHeld(ctx, key)
	if err != nil {
		return Version{}, err
	}
	if i := slices.IndexFunc(detail.Places, func(at SecretPlace) bool { return at.Field == fieldID }); i >= 0 {
		return Version{}, fmt.Errorf("%w: the secret (%s) is in the name of the record, which cannot be changed: write it anew under another, and delete this one",
			ErrInvalid, detail.Places[i].Rule)
	}
	fields := fieldsOf(&detail.Redacted)
	texts := make([]string, 0, len(fields))
	for _, f := range fields {
		texts = append(texts, *f.text)
	}
	apart, release, err := p.keep(ctx, texts[0], texts[1:]...)
	if err != nil {
		return Version{}, err
	}
	defer release()
	if apart != nil {
		*fields[0].text = ""
	}
	return p.letOut(ctx, key, version, &detail.Redacted, apart)
}

// letOut writes what is held where it is meant for, and its tombstone where it was:
// with the content that it has, or with that of redacted, whose content is apart
// unless that is nil.
func (p *replica) letOut(ctx context.Context, key merge.Key, version merge.Hash, redacted *Version, apart *merge.BlobRef) (Version, error) {
	var out Version
	to := key
	to.Scope = meantFor(key.Scope)
	err := p.writeAll(ctx, lockOf(to), func(r *store.Reader) ([]merge.Record, error) {
		rec, _, err := p.heldHead(r, key)
		if err != nil {
			return nil, err
		}
		if rec.Hash() != version {
			return nil, fmt.Errorf("%w: something else is held as %s meanwhile: look at it again", ErrConflict, rec.Key)
		}
		content := viewVersion(rec)
		ref := apartOf(rec)
		if redacted != nil {
			content, ref = *redacted, apart
		}
		released, err := p.carry(r, content, ref, to, "")
		if err != nil {
			return nil, err
		}
		gone, err := p.tombstone(r, rec)
		if err != nil {
			return nil, err
		}
		out, err = showVersion(r, &released)
		out.Standing = StandingHead
		return []merge.Record{released, gone}, err
	})
	if err != nil {
		return Version{}, err
	}
	return out, nil
}

// carry makes the version of a key that says what a version of another key of its
// kind says, its content apart unless that is nil, and held by rules unless they are
// empty. Errors: those of ordinary writes.
func (p *replica) carry(r *store.Reader, from Version, apart *merge.BlobRef, to merge.Key, held string) (merge.Record, error) {
	from = from.clone()
	switch {
	case from.Memory != nil:
		return p.carryMemory(r, *from.Memory, apart, to, held)
	case from.Skill != nil:
		return p.carrySkill(r, *from.Skill, apart, to, held)
	}
	existing, err := head(r, to)
	if err != nil {
		return merge.Record{}, err
	}
	var before *Envelope
	if existing != nil {
		e := envelopeOf(existing.Envelope)
		before = &e
	}
	stamped, err := p.stamper.stamp(before, Envelope{}, false)
	if err != nil {
		return merge.Record{}, err
	}
	var body encoded
	switch {
	case from.Session != nil:
		ses := *from.Session
		ses.UpdatedAt, ses.Deleted, ses.Secrets = storedClock(p.stamper.clock.Now()), false, Secrets{Held: held}
		body, err = encodeSession(ses)
	case from.Turn != nil:
		t := *from.Turn
		t.Deleted, t.Secrets = false, Secrets{Held: held}
		body, err = encodeTurn(t, apart)
	default:
		err = fmt.Errorf("%w: %s breaks the rules of its kind", ErrInvalid, to)
	}
	if err != nil {
		return merge.Record{}, err
	}
	return p.version(r, to, stamped, body)
}

func (p *replica) carryMemory(r *store.Reader, it MemoryItem, apart *merge.BlobRef, to merge.Key, held string) (merge.Record, error) {
	existing, err := heldMemory(r, to)
	if err != nil {
		return merge.Record{}, err
	}
	it.Scope, it.Envelope, it.Incomplete = to.Scope, Envelope{}, false
	stamped, err := p.stamper.upsertMemory(existing, it)
	if err != nil {
		return merge.Record{}, err
	}
	stamped.Held = held
	return memory{p}.memoryVersion(r, stamped, apart)
}

func (p *replica) carrySkill(r *store.Reader, sk Skill, apart *merge.BlobRef, to merge.Key, held string) (merge.Record, error) {
	existing, err := heldSkill(r, to)
	if err != nil {
		return merge.Record{}, err
	}
	if sk.ID == SkillID(sk.Scope, sk.Slug) {
		sk.ID = ""
	}
	sk.Scope, sk.Envelope, sk.Incomplete, sk.Uses, sk.Wins = to.Scope, Envelope{}, false, 0, 0
	stamped, err := p.stamper.upsertSkill(existing, sk)
	if err != nil {
		return merge.Record{}, err
	}
	stamped.Held = held
	return skills{p}.skillVersion(r, stamped, apart)
}
