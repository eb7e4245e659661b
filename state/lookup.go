package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// heldSkill returns the head of a key, tombstones included; nil when there is
// none. One that breaks the rules of its kind comes back as the little that can
// be said of it, so that a write can put it right.
func heldSkill(r *store.Reader, key merge.Key) (*Skill, error) {
	rec, err := head(r, key)
	if rec == nil || err != nil {
		return nil, err
	}
	sk, err := decodeSkill(rec)
	if err != nil {
		sk = brokenSkill(rec)
	}
	return &sk, nil
}

// brokenSkill is what can be said of a skill that breaks the rules of its kind.
func brokenSkill(rec *merge.Record) Skill {
	slug := rec.Key.ID.Components()[0]
	return Skill{
		ID: SkillID(rec.Key.Scope, slug), Slug: slug, Scope: rec.Key.Scope,
		CreatedAt: rec.Envelope.UpdatedHLC.Time(), Envelope: envelopeOf(rec.Envelope),
	}
}

// heldMemory is heldSkill for memory items.
func heldMemory(r *store.Reader, key merge.Key) (*MemoryItem, error) {
	rec, err := head(r, key)
	if rec == nil || err != nil {
		return nil, err
	}
	it, err := decodeMemory(rec)
	if err != nil {
		it = brokenMemory(rec)
	}
	return &it, nil
}

// brokenMemory is brokenSkill for memory items.
func brokenMemory(rec *merge.Record) MemoryItem {
	return MemoryItem{
		ID: rec.Key.ID.Components()[0], Scope: rec.Key.Scope,
		CreatedAt: rec.Envelope.UpdatedHLC.Time(), Envelope: envelopeOf(rec.Envelope),
	}
}

// liveSkill returns the skill of a key, its outcomes not counted.
func liveSkill(r *store.Reader, key merge.Key) (Skill, error) { return live(r, key, decodeSkill) }

// liveMemory is liveSkill for memory items.
func liveMemory(r *store.Reader, key merge.Key) (MemoryItem, error) {
	return live(r, key, decodeMemory)
}

// live returns what a key shows. Errors: ErrNotFound for a tombstone, a record
// that breaks the rules of its kind, and no record.
func live[T any](r *store.Reader, key merge.Key, decode func(*merge.Record) (T, error)) (shown T, err error) {
	rec, err := head(r, key)
	if err != nil {
		return shown, err
	}
	if rec != nil && !rec.Envelope.Deleted {
		if rec, err = whole(r, rec); err != nil {
			return shown, err
		}
		if shown, err := decode(rec); err == nil {
			return shown, nil
		}
	}
	return shown, fmt.Errorf("%w: %s", ErrNotFound, key)
}

// promised is the error of reading what a row of the index says is live. When it
// is not there, the disk has lost it: index and record are written at once.
func promised(err error) error {
	if errors.Is(err, ErrNotFound) {
		return fmt.Errorf("%w: the index promises a record that is not there: %v", store.ErrCorrupt, err) //nolint:errorlint // to callers, nothing must say that there is none
	}
	return err
}

// scanIndex calls fn for each row under a prefix of components, in order, with
// the components that follow it, until fn returns false or an error.
func scanIndex(r *store.Reader, fn func(rest []string, value []byte) (more bool, err error), prefix ...string) error {
	return scanWith(r.IndexScan, fn, prefix)
}

// scanIndexDown is scanIndex in descending order.
func scanIndexDown(r *store.Reader, fn func(rest []string, value []byte) (more bool, err error), prefix ...string) error {
	return scanWith(r.IndexScanDown, fn, prefix)
}

// scanIndexAfter is scanIndex for the rows that lie after the components of after,
// all of them when there are none.
func scanIndexAfter(r *store.Reader, after []string, fn func(rest []string, value []byte) (more bool, err error), prefix ...string) error {
	return scanWith(from(r.IndexScanAfter, prefix, after), fn, prefix)
}

// scanIndexDownAfter is scanIndexDown for the rows that lie before the components of
// after.
func scanIndexDownAfter(r *store.Reader, after []string, fn func(rest []string, value []byte) (more bool, err error), prefix ...string) error {
	return scanWith(from(r.IndexScanDownAfter, prefix, after), fn, prefix)
}

// from makes a scan of a prefix begin after what follows that prefix.
func from(
	scan func(prefix, after store.IndexName, fn func(store.IndexName, []byte) bool) error, prefix, after []string,
) func(store.IndexName, func(store.IndexName, []byte) bool) error {
	place := store.IndexName("")
	if len(after) > 0 {
		place = store.NewIndexName(slices.Concat(prefix, after)...)
	}
	return func(name store.IndexName, fn func(store.IndexName, []byte) bool) error { return scan(name, place, fn) }
}

func scanWith(
	scan func(store.IndexName, func(store.IndexName, []byte) bool) error,
	fn func(rest []string, value []byte) (more bool, err error),
	prefix []string,
) error {
	var failed error
	err := scan(store.NewIndexName(prefix...), func(name store.IndexName, value []byte) (more bool) {
		more, failed = fn(name.Components()[len(prefix):], value)
		return more && failed == nil
	})
	if err = cmp.Or(failed, err); err != nil {
		return fmt.Errorf("state: index %s: %w", prefix[0], err)
	}
	return nil
}

// liveScopes returns the scopes in which a name is live; those of what is held only
// where there are no others.
func liveScopes(r *store.Reader, index, name string) ([]Scope, error) {
	scopes, err := scopesOf(r, index, name, indexLive)
	if err != nil || len(scopes) > 0 {
		return scopes, err
	}
	return scopesOf(r, index, name, indexHeld)
}

// skillHit is a skill that an id leads to.
type skillHit struct {
	scope Scope
	slug  string
	live  bool
	held  bool
}

// liveHits returns those that are live; what is held only where there are no others.
func liveHits(hits []skillHit) []skillHit {
	live := slices.DeleteFunc(slices.Clone(hits), func(h skillHit) bool { return !h.live })
	if len(live) > 0 {
		return live
	}
	return slices.DeleteFunc(hits, func(h skillHit) bool { return !h.held })
}

func (h skillHit) key() merge.Key { return skillKey(h.scope, h.slug) }

// skillsOfID returns the skills that have an id, derived or chosen, deleted
// ones included.
func skillsOfID(r *store.Reader, id string) ([]skillHit, error) {
	var hits []skillHit
	err := scanIndex(r, func(rest []string, value []byte) (bool, error) {
		hits = append(hits, skillHit{parseScopeID(rest[0]), rest[1], string(value) == indexLive, string(value) == indexHeld})
		return true, nil
	}, indexSkillID, id)
	return hits, err
}

// scopesOf returns the scopes that an index lists under a name.
func scopesOf(r *store.Reader, index, name string, states ...string) ([]Scope, error) {
	var scopes []Scope
	err := scanIndex(r, func(rest []string, value []byte) (bool, error) {
		if slices.Contains(states, string(value)) {
			scopes = append(scopes, parseScopeID(rest[0]))
		}
		return true, nil
	}, index, name)
	return scopes, err
}

// find returns the key of the live skill that an id or slug names: the exact
// id first, else the slug, for which pick decides between scopes. A chosen id
// of a skill that lies off the way outward from the home scope does not come
// before a slug on that way: writers choose their ids, and one who is confined
// to a project must not shadow what others mean by a name.
func (s skills) find(r *store.Reader, name string, pick func(what string, live []Scope) (Scope, error)) (merge.Key, error) {
	what := fmt.Sprintf("skill %.60q", name)
	name, err := keyText("name", name)
	if err != nil {
		return merge.Key{}, fmt.Errorf("%w: %s", ErrNotFound, what)
	}
	hits, err := skillsOfID(r, name)
	if err != nil {
		return merge.Key{}, err
	}
	hits = liveHits(hits)
	if key, found, err := s.nearHit(what, name, hits); found || err != nil {
		return key, err
	}
	scopes, err := liveScopes(r, indexSkillSlug, name)
	if err != nil {
		return merge.Key{}, err
	}
	if _, near := s.nearest(scopes); !near && len(hits) > 0 {
		return onlyHit(what, hits)
	}
	scope, err := pick(what, scopes)
	return skillKey(scope, name), err
}

// nearHit returns the one of hits that has a derived id, else the one whose
// chosen id lies nearest on the way outward from the home scope. Errors:
// ErrAmbiguous.
func (s skills) nearHit(what, id string, hits []skillHit) (key merge.Key, found bool, err error) {
	for _, hit := range hits {
		if SkillID(hit.scope, hit.slug) == id {
			return hit.key(), true, nil
		}
	}
	for _, home := range s.home {
		near := slices.DeleteFunc(slices.Clone(hits), func(h skillHit) bool { return h.scope != home })
		if len(near) > 0 {
			key, err := onlyHit(what, near)
			return key, true, err
		}
	}
	return merge.Key{}, false, nil
}

// onlyHit returns the one skill that has a chosen id. Instances that were apart
// may have chosen one id for different skills. Errors: ErrAmbiguous.
func onlyHit(what string, hits []skillHit) (merge.Key, error) {
	if len(hits) == 1 {
		return hits[0].key(), nil
	}
	names := make([]string, len(hits))
	for i, h := range hits {
		names[i] = fmt.Sprintf("slug %q in %s", h.slug, h.scope)
	}
	return merge.Key{}, fmt.Errorf("%w: %s is the id of several skills: %s", ErrAmbiguous, what, strings.Join(names, "; "))
}

// skillKeyOf is skillKey for what a reader passes: a name that cannot be
// written is not found. Errors: ErrNotFound.
func skillKeyOf(scope Scope, slug string) (merge.Key, error) {
	return keyOf(kindSkill, scope, slug, slugText)
}

// memoryKeyOf is skillKeyOf for memory items.
func memoryKeyOf(scope Scope, id string) (merge.Key, error) {
	return keyOf(kindMemory, scope, id, idText)
}

func keyOf(kind string, scope Scope, name string, normal func(string) (string, error)) (merge.Key, error) {
	normalScope, err := scopeText(scope)
	if err == nil {
		name, err = normal(name)
	}
	if err != nil {
		return merge.Key{}, fmt.Errorf("%w: %s %.60q: %w", ErrNotFound, kind, name, err)
	}
	return merge.Key{Kind: kind, Scope: normalScope, ID: merge.NewID(name)}, nil
}
