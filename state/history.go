package state

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Standing is what a version is to the replica that lists it.
type Standing string

const (
	// StandingHead is the version that ordinary readers see.
	StandingHead Standing = "head"
	// StandingConflict is a write that lost to a concurrent one.
	StandingConflict Standing = "conflict"
	// StandingCovered is a version that a later one replaces. Each replica keeps
	// those that it held in a history of its own, so replicas differ in them.
	StandingCovered Standing = "covered"
)

func (p *replica) History(ctx context.Context, key merge.Key) ([]Version, error) {
	return p.historyBy(ctx, func(*store.Reader) (merge.Key, error) { return key, nil })
}

func (s skills) History(ctx context.Context, idOrSlug string) ([]Version, error) {
	return s.historyBy(ctx, func(r *store.Reader) (merge.Key, error) { return s.findKnown(r, idOrSlug) })
}

func (m memory) History(ctx context.Context, id string) ([]Version, error) {
	return m.historyBy(ctx, func(r *store.Reader) (merge.Key, error) { return m.findKnown(r, id) })
}

// historyBy lists the versions of the key that find leads to.
func (p *replica) historyBy(ctx context.Context, find func(*store.Reader) (merge.Key, error)) ([]Version, error) {
	var versions []Version
	err := p.view(ctx, func(r *store.Reader) error {
		key, err := find(r)
		if err != nil {
			return err
		}
		known, err := knownOf(r, key)
		if err != nil {
			return err
		}
		versions = make([]Version, 0, len(known))
		for _, k := range known {
			v, err := k.load(r, key)
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			versions = append(versions, v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return versions, nil
}

// knownVersion is a version that a store still has, without its record.
type knownVersion struct {
	store.Held
	standing  Standing
	coveredAt time.Time // zero unless covered
}

// load is the view of the version.
func (k *knownVersion) load(r *store.Reader, key merge.Key) (Version, error) {
	v, err := loadVersion(r, key, k.Held, k.standing)
	v.CoveredAt = k.coveredAt
	return v, err
}

// knownOf returns every version that the store still has of a key, newest
// first; one of them is the head. Errors: ErrNotFound when the key holds none.
func knownOf(r *store.Reader, key merge.Key) ([]knownVersion, error) {
	held, err := r.Held(key)
	if err != nil {
		return nil, fmt.Errorf("state: read %s: %w", key, err)
	}
	past, err := r.History(key)
	if err != nil {
		return nil, fmt.Errorf("state: read history of %s: %w", key, err)
	}
	if len(held) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, key)
	}
	known := make([]knownVersion, 0, len(held)+len(past))
	for i, h := range held {
		k := knownVersion{Held: h, standing: StandingConflict}
		if i == len(held)-1 {
			k.standing = StandingHead
		}
		known = append(known, k)
	}
	for _, p := range past {
		known = append(known, knownVersion{Held: p.Held, standing: StandingCovered, coveredAt: p.CoveredAt})
	}
	// A version may have been covered and then have come back, see the limit of
	// a basis: what it is now comes first, then where it was last.
	slices.SortStableFunc(known, func(a, b knownVersion) int {
		return cmp.Or(merge.Compare(b.Version, a.Version), b.coveredRank()-a.coveredRank(), b.coveredAt.Compare(a.coveredAt))
	})
	return slices.CompactFunc(known, func(a, b knownVersion) bool { return bytes.Equal(a.Hash[:], b.Hash[:]) }), nil
}

// coveredRank is larger for versions that are held.
func (k *knownVersion) coveredRank() int {
	if k.standing == StandingCovered {
		return 0
	}
	return 1
}

// headOf returns the head among known versions.
func headOf(known []knownVersion) *knownVersion {
	return &known[slices.IndexFunc(known, func(k knownVersion) bool { return k.standing == StandingHead })]
}

// findKnown is find for skills that have versions, whatever the head says: what
// find finds, else one that is deleted, by its id, or in a home scope by its
// slug. By slug it also finds one that is hidden, because the head breaks the
// rules of its kind.
func (s skills) findKnown(r *store.Reader, name string) (merge.Key, error) {
	key, notFound := s.find(r, name, s.choose)
	if !errors.Is(notFound, ErrNotFound) {
		return key, notFound
	}
	what := fmt.Sprintf("skill %.60q", name)
	name, err := keyText("name", name)
	if err != nil {
		return merge.Key{}, notFound
	}
	hits, err := skillsOfID(r, name)
	if err != nil {
		return merge.Key{}, err
	}
	if key, found, err := s.nearHit(what, name, hits); found || err != nil {
		return key, err
	}
	key, found, err := s.heldNear(r, func(home Scope) merge.Key { return skillKey(home, name) })
	switch {
	case found || err != nil:
		return key, err
	case len(hits) > 0:
		return onlyHit(what, hits)
	}
	return merge.Key{}, notFound
}

// findKnown is that of skills, for memory items.
func (m memory) findKnown(r *store.Reader, id string) (merge.Key, error) {
	key, notFound := m.find(r, id, m.choose)
	if !errors.Is(notFound, ErrNotFound) {
		return key, notFound
	}
	what := fmt.Sprintf("memory item %.60q", id)
	id, err := keyText("id", id)
	if err != nil {
		return merge.Key{}, notFound
	}
	scopes, err := scopesOf(r, indexMemoryID, id, indexDeleted)
	if err != nil {
		return merge.Key{}, err
	}
	key, found, err := m.heldNear(r, func(home Scope) merge.Key { return memoryKey(home, id) })
	switch {
	case found || err != nil:
		return key, err
	case len(scopes) == 0:
		return merge.Key{}, notFound
	}
	scope, err := only(what, scopes)
	return memoryKey(scope, id), err
}

// heldNear returns the first of the keys in the home scopes that holds a
// version.
func (p *replica) heldNear(r *store.Reader, in func(home Scope) merge.Key) (key merge.Key, found bool, err error) {
	for _, home := range p.home {
		held, err := r.Held(in(home))
		if err != nil || len(held) > 0 {
			return in(home), len(held) > 0, err
		}
	}
	return merge.Key{}, false, nil
}
