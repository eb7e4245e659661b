package state

import (
	"context"

	"github.com/fleetsync/fleetd/store"
)

func (m memory) Page(ctx context.Context, p MemoryPage) (items []MemoryItem, more bool, err error) {
	q := parseQuery(p.Query)
	matches := func(it *MemoryItem) bool {
		return (p.Kind == "" || it.Kind == p.Kind) && q.matches(it.Content, it.Kind, it.Source)
	}
	prefix, after := []string{indexMemoryAll}, []string(nil)
	if p.After != nil {
		after = []string{indexTime(p.After.CreatedAt), p.After.ID, scopeID(p.After.Scope)}
	}
	if p.Scope != nil {
		scope, err := scopeText(*p.Scope)
		if err != nil {
			items, err = nothing[MemoryItem](ctx, m.replica)
			return items, false, err
		}
		prefix = []string{indexMemoryIn, scopeID(scope)}
		if after != nil {
			after = after[:2]
		}
	}
	items, err = m.newest(ctx, after, oneMore(p.Limit), matches, prefix...)
	items, more = cutPage(items, p.Limit)
	return items, more, err
}

func (s skills) Page(ctx context.Context, p SkillPage) (page []Skill, more bool, err error) {
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
		prefix = []string{indexSkillIn, scopeID(scope)}
		if after != nil {
			after = after[:1]
		}
	}
	page, err = s.bySlug(ctx, after, oneMore(p.Limit), parseQuery(p.Query), prefix...)
	page, more = cutPage(page, p.Limit)
	return page, more, err
}

// bySlug returns the live skills under a prefix of the index that match, by slug
// and then scope, at most limit (<= 0: all), from a place on.
func (s skills) bySlug(ctx context.Context, after []string, limit int, q query, prefix ...string) ([]Skill, error) {
	found := []Skill{}
	err := s.view(ctx, func(r *store.Reader) error {
		return scanIndexAfter(r, after, func(rest []string, _ []byte) (bool, error) {
			// What follows is SLUG SCOPE, or SLUG when SCOPE is in the prefix.
			scope := prefix[len(prefix)-1]
			if len(rest) == 2 {
				scope = rest[1]
			}
			sk, err := liveSkill(r, skillKey(parseScopeID(scope), rest[0]))
			if err != nil {
				return false, promised(err)
			}
			if q.matches(append([]string{sk.Slug, sk.Name, sk.Body}, sk.Tags...)...) {
				if sk, err = counted(r, sk); err != nil {
					return false, err
				}
				found = append(found, sk)
			}
			return limit <= 0 || len(found) < limit, ctx.Err()
		}, prefix...)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
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
