package state

import (
	"cmp"
	"context"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

func (m memory) Page(ctx context.Context, p MemoryPage) (items []MemoryItem, more bool, err error) {
	q := parseQuery(p.Query)
	matches := func(it *MemoryItem) bool {
		return (p.Kind == "" || it.Kind == p.Kind) && q.matches(it.Content, it.Kind, it.Source)
	}
	after := []string(nil)
	if p.After != nil {
		after = []string{indexTime(p.After.CreatedAt), p.After.ID, scopeID(p.After.Scope)}
	}
	if p.Scope != nil {
		scope, err := scopeText(*p.Scope)
		if err != nil {
			items, err = nothing[MemoryItem](ctx, m.replica)
			return items, false, err
		}
		if after != nil {
			after = after[:2]
		}
		items, err = m.newestIn(ctx, after, oneMore(p.Limit), matches, scope)
		items, more = cutPage(items, p.Limit)
		return items, more, err
	}
	items, err = m.newest(ctx, after, oneMore(p.Limit), matches, indexMemoryAll)
	items, more = cutPage(items, p.Limit)
	return items, more, err
}

func (s skills) Page(ctx context.Context, p SkillPage) (page []Skill, more bool, err error) {
	var in *Scope
	prefix, after := []string{indexSkillSlug}, []string(nil)
	if p.After != nil {
		after = []string{p.After.Slug, scopeID(p.After.Scope)}
	}
	if p.Scope != nil {
		scope, err := scopeText(*p.Scope)
		if err != nil {
			page, err = nothing[Skill](ctx, s.replica)
			return page, false, err
		}
		prefix, in = []string{indexSkillIn, scopeID(scope)}, &scope
		if after != nil {
			after = after[:1]
		}
	}
	page, err = s.bySlug(ctx, in, after, oneMore(p.Limit), parseQuery(p.Query), prefix...)
	page, more = cutPage(page, p.Limit)
	return page, more, err
}

// bySlug returns the live skills under a prefix of the index that match, by slug
// and then scope, at most limit (<= 0: all), from a place on; with what is held for
// the one scope in, if any.
func (s skills) bySlug(ctx context.Context, in *Scope, after []string, limit int, q query, prefix ...string) ([]Skill, error) {
	found := []Skill{}
	take := func(r *store.Reader, key merge.Key) error {
		sk, matches, err := matching(r, key, q)
		if matches {
			found = append(found, sk)
		}
		return cmp.Or(err, ctx.Err())
	}
	err := s.view(ctx, func(r *store.Reader) error {
		err := scanIndexAfter(r, after, func(rest []string, row []byte) (bool, error) {
			// What follows is SLUG SCOPE, or SLUG when SCOPE is in the prefix.
			scope := prefix[len(prefix)-1]
			if len(rest) == 2 {
				scope = rest[1]
			}
			key := skillKey(parseScopeID(scope), rest[0])
			if in == nil {
				if hidden, err := isHidden(r, key, row); hidden || err != nil {
					return true, err
				}
			}
			err := take(r, key)
			return limit <= 0 || len(found) < limit, err
		}, prefix...)
		if err != nil || in == nil {
			return err
		}
		err = s.heldSkills(r, *in, after, func(place merge.Key) error { return take(r, place) })
		slices.SortStableFunc(found, func(a, b Skill) int { return cmp.Compare(a.Slug, b.Slug) })
		if limit > 0 && len(found) > limit {
			found = found[:limit:limit]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// heldSkills calls fn for each skill that is held for a scope and shown in it, by
// slug, after a place if there is one.
func (s skills) heldSkills(r *store.Reader, scope Scope, after []string, fn func(place merge.Key) error) error {
	return s.heldRows(r, scope, func(rest []string) error {
		key := skillKey(scope, rest[0])
		place, err := s.shown(r, key)
		if err != nil || place == key || len(after) > 0 && rest[0] <= after[0] {
			return err
		}
		return fn(place)
	}, indexSkillIn)
}

// matching returns the skill of a key with its outcomes, if it matches a query.
func matching(r *store.Reader, key merge.Key, q query) (sk Skill, matches bool, err error) {
	if sk, err = liveSkill(r, key); err != nil {
		return sk, false, promised(err)
	}
	if !q.matches(append([]string{sk.Slug, sk.Name, sk.Body}, sk.Tags...)...) {
		return sk, false, nil
	}
	sk, err = counted(r, sk)
	return sk, err == nil, err
}

// oneMore is the limit of a read that tells whether a page has a next one.
func oneMore(limit int) int {
	if limit <= 0 {
		return 0
	}
	return limit + 1
}

// cutPage cuts what oneMore has read to the page.
func cutPage[T any](found []T, limit int) (page []T, more bool) {
	if limit <= 0 || len(found) <= limit {
		return found, false
	}
	return found[:limit:limit], true
}
