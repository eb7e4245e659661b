package state

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// skills implements SkillLibrary.
type skills struct{ *replica }

func (s skills) Upsert(ctx context.Context, sk Skill) (Skill, error) {
	sk, err := normalSkill(sk)
	if err != nil {
		return Skill{}, err
	}
	v := s.judge(sk.Scope, append([]string{sk.Body, sk.Slug, sk.ID}, skillTexts(sk)...)...)
	apart, release, err := s.keep(ctx, sk.Body, skillTexts(sk)...)
	if err != nil {
		return Skill{}, err
	}
	defer release()
	var written Skill
	err = s.writeAll(ctx, skillLock(sk), func(r *store.Reader) ([]merge.Record, error) {
		stamped, recs, err := s.upsertion(r, sk, apart, v)
		if err != nil {
			return nil, err
		}
		passed := sk
		passed.Scope = stamped.Scope
		credits, sums, err := s.creditTotals(r, passed)
		if err != nil {
			return nil, err
		}
		written = sums.shownBy(stamped)
		written.Envelope = envelopeOf(recs[0].Envelope)
		return append(recs, credits...), nil
	})
	if err != nil {
		return Skill{}, err
	}
	s.noticed(skillKey(written.Scope, written.Slug), v)
	return written, nil
}

// skillTexts are the texts of a skill besides its body.
func skillTexts(sk Skill) []string { return append([]string{sk.Name, sk.Check}, sk.Tags...) }

// skillLock is the lock of writers of a skill.
func skillLock(sk Skill) string {
	if sk.ID != "" {
		// Writers that choose one id for different slugs must see each other.
		return indexName(indexSkillID, sk.ID)
	}
	return lockOf(skillKey(sk.Scope, sk.Slug))
}

// upsertion makes the version that a normal skill is written as, its content apart
// unless that is nil, and what goes with it: see target.
func (s skills) upsertion(r *store.Reader, sk Skill, apart *merge.BlobRef, v verdict) (Skill, []merge.Record, error) {
	to, err := s.targetOf(r, skillKey(sk.Scope, sk.Slug), sk.Envelope, v)
	if err != nil {
		return Skill{}, nil, err
	}
	if place, _ := s.heldScope(sk.Scope); to.checked && (sk.ID == SkillID(sk.Scope, sk.Slug) || sk.ID == SkillID(place, sk.Slug)) {
		sk.ID = "" // it is derived anew, of where the skill goes
	}
	sk.Scope, sk.Envelope = to.key.Scope, to.condition(sk.Envelope)
	existing, err := heldSkill(r, to.key)
	if err == nil {
		err = s.checkID(r, sk)
	}
	if err != nil {
		return Skill{}, nil, err
	}
	stamped, err := s.stamper.upsertSkill(existing, sk)
	if err != nil {
		return Skill{}, nil, err
	}
	stamped.Secrets = Secrets{Held: to.held, Warned: v.warned()}
	rec, err := s.skillVersion(r, stamped, apart)
	if err != nil {
		return Skill{}, nil, err
	}
	recs, err := s.with(r, rec, to)
	return stamped, recs, err
}

// checkID refuses an id that is another skill's, deleted ones included.
func (s skills) checkID(r *store.Reader, sk Skill) error {
	if sk.ID == "" {
		return nil
	}
	hits, err := skillsOfID(r, sk.ID)
	if err != nil {
		return err
	}
	for _, hit := range hits {
		if meantFor(hit.scope) != meantFor(sk.Scope) && hit.scope != sk.Scope || hit.slug != sk.Slug {
			return fmt.Errorf("%w: id %.60q is that of skill %q in %s", ErrConflict, sk.ID, hit.slug, hit.scope)
		}
	}
	if id, err := uuid.Parse(sk.ID); err == nil && id.Version() == derivedVersion && sk.ID != SkillID(sk.Scope, sk.Slug) {
		return fmt.Errorf("%w: id %.60q has the form of those that follow from a scope and a slug, and it is not this skill's", ErrInvalid, sk.ID)
	}
	return nil
}

func (s skills) skillVersion(r *store.Reader, stamped Skill, apart *merge.BlobRef) (merge.Record, error) {
	body, err := encodeSkill(stamped, apart)
	if err != nil {
		return merge.Record{}, err
	}
	return s.version(r, skillKey(stamped.Scope, stamped.Slug), stamped.Envelope, body)
}

func (s skills) Get(ctx context.Context, idOrSlug string) (Skill, error) {
	var found Skill
	err := s.view(ctx, func(r *store.Reader) error {
		key, err := s.find(r, idOrSlug, s.choose)
		if err != nil {
			return err
		}
		found, err = countedSkill(r, key)
		return cmp.Or(promised(err), lacking(key, found.LastWriterID, found.Incomplete))
	})
	return found, err
}

func (s skills) GetIn(ctx context.Context, scope Scope, slug string) (Skill, error) {
	key, err := skillKeyOf(scope, slug)
	if err != nil {
		return Skill{}, err
	}
	var found Skill
	err = s.view(ctx, func(r *store.Reader) error {
		key, err := s.shown(r, key)
		if err != nil {
			return err
		}
		found, err = countedSkill(r, key)
		return cmp.Or(err, lacking(key, found.LastWriterID, found.Incomplete))
	})
	return found, err
}

func (s skills) List(ctx context.Context, scope Scope) ([]Skill, error) {
	scope, err := scopeText(scope)
	if err != nil {
		return nothing[Skill](ctx, s.replica)
	}
	list := []Skill{}
	err = s.view(ctx, func(r *store.Reader) error {
		add := func(key merge.Key) error {
			sk, err := countedSkill(r, key)
			list = append(list, sk)
			return cmp.Or(promised(err), ctx.Err())
		}
		err := scanIndex(r, func(name []string, _ []byte) (bool, error) {
			return true, add(skillKey(scope, name[0]))
		}, indexSkillIn, scopeID(scope))
		if err != nil {
			return err
		}
		shared := len(list)
		err = s.heldSkills(r, scope, nil, add)
		if len(list) > shared {
			slices.SortStableFunc(list, func(a, b Skill) int { return cmp.Compare(a.Slug, b.Slug) })
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (s skills) Search(ctx context.Context, text string, limit int) ([]Skill, error) {
	found, q := []Skill{}, parseQuery(text)
	ofSlug := 0 // where the skills of the slug in hand begin
	done := func() bool {
		slices.SortFunc(found[ofSlug:], func(a, b Skill) int { return cmp.Compare(a.ID, b.ID) })
		ofSlug = len(found)
		return limit > 0 && len(found) >= limit
	}
	err := s.view(ctx, func(r *store.Reader) error {
		return scanIndex(r, func(name []string, row []byte) (bool, error) {
			if ofSlug < len(found) && found[ofSlug].Slug != name[0] && done() {
				return false, nil
			}
			key := skillKey(parseScopeID(name[1]), name[0])
			if hidden, err := isHidden(r, key, row); hidden || err != nil {
				return true, err
			}
			sk, err := liveSkill(r, key)
			if err != nil {
				return false, promised(err)
			}
			if q.matches(append([]string{sk.Slug, sk.Name, sk.Body}, sk.Tags...)...) {
				if sk, err = counted(r, sk); err != nil {
					return false, err
				}
				found = append(found, sk)
			}
			return true, ctx.Err()
		}, indexSkillSlug)
	})
	if err != nil {
		return nil, err
	}
	if done() {
		found = found[:limit:limit]
	}
	return found, nil
}

func (s skills) Delete(ctx context.Context, idOrSlug string) error {
	var key merge.Key
	err := s.view(ctx, func(r *store.Reader) (err error) {
		key, err = s.find(r, idOrSlug, only)
		return err
	})
	if err != nil {
		return err
	}
	return s.delete(ctx, key, Envelope{})
}

func (s skills) DeleteIn(ctx context.Context, scope Scope, slug string) error {
	return s.DeleteIf(ctx, scope, slug, Envelope{})
}

func (s skills) DeleteIf(ctx context.Context, scope Scope, slug string, token Envelope) error {
	key, err := skillKeyOf(scope, slug)
	if err != nil {
		return err
	}
	return s.delete(ctx, key, token)
}

func (s skills) delete(ctx context.Context, key merge.Key, token Envelope) error {
	return s.deleteShown(ctx, lockOf(key), key, func(r *store.Reader, key merge.Key) (merge.Record, error) {
		existing, err := heldSkill(r, key)
		if err != nil {
			return merge.Record{}, err
		}
		if existing == nil {
			return merge.Record{}, fmt.Errorf("%w: %s", ErrNotFound, key)
		}
		if err := compareToken(existing.Envelope, token); err != nil {
			return merge.Record{}, err
		}
		stamped, err := s.stamper.deleteSkill(*existing)
		if err != nil {
			return merge.Record{}, err
		}
		return s.skillVersion(r, stamped, nil)
	})
}
