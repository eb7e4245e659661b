package state

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// memory implements MemoryLibrary.
type memory struct{ *replica }

func (m memory) Write(ctx context.Context, it MemoryItem) (MemoryItem, error) {
	it, err := normalMemory(it)
	if err != nil {
		return MemoryItem{}, err
	}
	minted := it.ID == ""
	if minted {
		it.ID = m.stamper.mint()
	}
	key := memoryKey(it.Scope, it.ID)
	v := m.judge(it.Scope, memoryTexts(it)...)
	apart, release, err := m.keep(ctx, it.Content, it.Kind, it.Source)
	if err != nil {
		return MemoryItem{}, err
	}
	defer release()
	var written MemoryItem
	// Writers of one id in several scopes must see each other, so the scope is
	// not part of the lock.
	err = m.writeAll(ctx, key.Order(), func(r *store.Reader) ([]merge.Record, error) {
		var err error
		if minted {
			it.ID, err = m.unused(r, it.ID, func(id string) merge.Key { return memoryKey(it.Scope, id) })
		} else {
			err = m.checkScope(r, it)
		}
		if err != nil {
			return nil, err
		}
		stamped, recs, err := m.upsertion(r, it, apart, v)
		if err != nil {
			return nil, err
		}
		written = stamped
		written.Envelope = envelopeOf(recs[0].Envelope)
		return recs, nil
	})
	if err != nil {
		return MemoryItem{}, err
	}
	m.noticed(memoryKey(written.Scope, written.ID), v)
	return written, nil
}

// memoryTexts are the texts of an item in which the gate looks for secrets.
func memoryTexts(it MemoryItem) []string { return []string{it.Content, it.Kind, it.Source, it.ID} }

// upsertion makes the version that a normal item is written as, its content apart
// unless that is nil, and what goes with it: see target.
func (m memory) upsertion(r *store.Reader, it MemoryItem, apart *merge.BlobRef, v verdict) (MemoryItem, []merge.Record, error) {
	to, err := m.targetOf(r, memoryKey(it.Scope, it.ID), it.Envelope, v)
	if err != nil {
		return MemoryItem{}, nil, err
	}
	it.Scope, it.Envelope = to.key.Scope, to.condition(it.Envelope)
	if to.retire != nil && it.CreatedAt.IsZero() {
		if was, err := decodeMemory(to.retire); err == nil {
			it.CreatedAt = was.CreatedAt
		}
	}
	existing, err := heldMemory(r, to.key)
	if err != nil {
		return MemoryItem{}, nil, err
	}
	stamped, err := m.stamper.upsertMemory(existing, it)
	if err != nil {
		return MemoryItem{}, nil, err
	}
	stamped.Secrets = Secrets{Held: to.held, Warned: v.warned()}
	rec, err := m.memoryVersion(r, stamped, apart)
	if err != nil {
		return MemoryItem{}, nil, err
	}
	recs, err := m.with(r, rec, to)
	return stamped, recs, err
}

// checkScope refuses an id that is known in other scopes only, deleted items
// included. What is held belongs to the scope that it is meant for.
func (m memory) checkScope(r *store.Reader, it MemoryItem) error {
	scopes, err := scopesOf(r, indexMemoryID, it.ID, indexLive, indexDeleted, indexHeld)
	if err != nil || len(scopes) == 0 || slices.Contains(scopes, it.Scope) {
		return err
	}
	if place, ok := m.heldScope(it.Scope); ok && slices.Contains(scopes, place) {
		live, err := scopesOf(r, indexMemoryID, it.ID, indexLive)
		if err != nil || !slices.Contains(live, place) {
			return err
		}
	}
	return fmt.Errorf("%w: memory item %.60q belongs to scope %s, not %s", ErrInvalid, it.ID, scopes[0], it.Scope)
}

func (m memory) memoryVersion(r *store.Reader, stamped MemoryItem, apart *merge.BlobRef) (merge.Record, error) {
	body, err := encodeMemory(stamped, apart)
	if err != nil {
		return merge.Record{}, err
	}
	return m.version(r, memoryKey(stamped.Scope, stamped.ID), stamped.Envelope, body)
}

func (m memory) Get(ctx context.Context, id string) (MemoryItem, error) {
	var found MemoryItem
	err := m.view(ctx, func(r *store.Reader) error {
		key, err := m.find(r, id, m.choose)
		if err != nil {
			return err
		}
		found, err = liveMemory(r, key)
		return cmp.Or(promised(err), lacking(key, found.LastWriterID, found.Incomplete))
	})
	return found, err
}

func (m memory) GetIn(ctx context.Context, scope Scope, id string) (MemoryItem, error) {
	key, err := memoryKeyOf(scope, id)
	if err != nil {
		return MemoryItem{}, err
	}
	var found MemoryItem
	err = m.view(ctx, func(r *store.Reader) error {
		key, err := m.shown(r, key)
		if err != nil {
			return err
		}
		found, err = liveMemory(r, key)
		return cmp.Or(err, lacking(key, found.LastWriterID, found.Incomplete))
	})
	return found, err
}

// find returns the key of the live item that an id names. What is held counts only
// where nothing else has the id.
func (m memory) find(r *store.Reader, id string, pick func(what string, live []Scope) (Scope, error)) (merge.Key, error) {
	what := fmt.Sprintf("memory item %.60q", id)
	id, err := keyText("id", id)
	if err != nil {
		return merge.Key{}, fmt.Errorf("%w: %s", ErrNotFound, what)
	}
	scopes, err := liveScopes(r, indexMemoryID, id)
	if err != nil {
		return merge.Key{}, err
	}
	scope, err := pick(what, scopes)
	return memoryKey(scope, id), err
}

func (m memory) Recall(ctx context.Context, query RecallQuery) ([]MemoryItem, error) {
	q := parseQuery(query.Query)
	matches := func(it *MemoryItem) bool { return q.matches(it.Content, it.Kind, it.Source) }
	scope, err := scopeText(query.Scope)
	if err != nil {
		return nothing[MemoryItem](ctx, m.replica)
	}
	if scope == (Scope{}) {
		return m.newest(ctx, nil, query.Limit, matches, indexMemoryAll)
	}
	return m.newestIn(ctx, nil, query.Limit, matches, scope)
}

func (m memory) List(ctx context.Context, scope Scope, kind string) ([]MemoryItem, error) {
	scope, err := scopeText(scope)
	if err != nil {
		return nothing[MemoryItem](ctx, m.replica)
	}
	matches := func(it *MemoryItem) bool { return kind == "" || it.Kind == kind }
	return m.newestIn(ctx, nil, 0, matches, scope)
}

// newestIn is newest for one scope, and for what is held for it.
func (m memory) newestIn(ctx context.Context, after []string, limit int, matches func(*MemoryItem) bool, scope Scope) ([]MemoryItem, error) {
	found := []MemoryItem{}
	err := m.view(ctx, func(r *store.Reader) (err error) {
		if found, err = m.scanNewest(ctx, r, after, limit, matches, indexMemoryIn, scopeID(scope)); err != nil {
			return err
		}
		var held []MemoryItem
		err = m.heldRows(r, scope, func(rest []string) error {
			if len(after) > 0 && slices.Compare(rest, after) >= 0 {
				return nil // it is on an earlier page
			}
			key := memoryKey(scope, rest[1])
			place, err := m.shown(r, key)
			if place == key || err != nil {
				return err
			}
			it, err := liveMemory(r, place)
			if err == nil && matches(&it) {
				held = append(held, it)
			}
			return promised(err)
		}, indexMemoryIn)
		if len(held) == 0 {
			return err
		}
		found = append(found, held...)
		slices.SortStableFunc(found, func(a, b MemoryItem) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) })
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

// newest returns the live items under a prefix of the index that match, newest
// first, ties by id and then scope descending, at most limit (<= 0: all). They
// begin after a place in the index, if any.
func (m memory) newest(ctx context.Context, after []string, limit int, matches func(*MemoryItem) bool, prefix ...string) ([]MemoryItem, error) {
	var found []MemoryItem
	err := m.view(ctx, func(r *store.Reader) (err error) {
		found, err = m.scanNewest(ctx, r, after, limit, matches, prefix...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// scanNewest is newest over one snapshot.
func (m memory) scanNewest(
	ctx context.Context, r *store.Reader, after []string, limit int, matches func(*MemoryItem) bool, prefix ...string,
) ([]MemoryItem, error) {
	found := []MemoryItem{}
	err := scanIndexDownAfter(r, after, func(rest []string, row []byte) (bool, error) {
		// What follows is TIME ID SCOPE, or TIME ID when SCOPE is in the prefix.
		scope, everywhere := prefix[len(prefix)-1], len(rest) == 3
		if everywhere {
			scope = rest[2]
		}
		key := memoryKey(parseScopeID(scope), rest[1])
		if everywhere {
			if hidden, err := isHidden(r, key, row); hidden || err != nil {
				return true, err
			}
		}
		it, err := liveMemory(r, key)
		if err != nil {
			return false, promised(err)
		}
		if matches(&it) {
			found = append(found, it)
		}
		return limit <= 0 || len(found) < limit, ctx.Err()
	}, prefix...)
	return found, err
}

func (m memory) Delete(ctx context.Context, id string) error {
	var key merge.Key
	err := m.view(ctx, func(r *store.Reader) (err error) {
		key, err = m.find(r, id, only)
		return err
	})
	if err != nil {
		return err
	}
	return m.delete(ctx, key, Envelope{})
}

func (m memory) DeleteIn(ctx context.Context, scope Scope, id string) error {
	return m.DeleteIf(ctx, scope, id, Envelope{})
}

func (m memory) DeleteIf(ctx context.Context, scope Scope, id string, token Envelope) error {
	key, err := memoryKeyOf(scope, id)
	if err != nil {
		return err
	}
	return m.delete(ctx, key, token)
}

func (m memory) delete(ctx context.Context, key merge.Key, token Envelope) error {
	return m.deleteShown(ctx, key.Order(), key, func(r *store.Reader, key merge.Key) (merge.Record, error) {
		existing, err := heldMemory(r, key)
		if err != nil {
			return merge.Record{}, err
		}
		if existing == nil {
			return merge.Record{}, fmt.Errorf("%w: %s", ErrNotFound, key)
		}
		if err := compareToken(existing.Envelope, token); err != nil {
			return merge.Record{}, err
		}
		stamped, err := m.stamper.deleteMemory(*existing)
		if err != nil {
			return merge.Record{}, err
		}
		return m.memoryVersion(r, stamped, nil)
	})
}
