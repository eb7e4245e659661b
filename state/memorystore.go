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
	apart, release, err := m.keep(ctx, it.Content, it.Kind, it.Source)
	if err != nil {
		return MemoryItem{}, err
	}
	defer release()
	var written MemoryItem
	// Writers of one id in several scopes must see each other, so the scope is
	// not part of the lock.
	err = m.write(ctx, key.Order(), func(r *store.Reader) (merge.Record, error) {
		var err error
		if minted {
			it.ID, err = m.unused(r, it.ID, func(id string) merge.Key { return memoryKey(it.Scope, id) })
		} else {
			err = m.checkScope(r, it)
		}
		if err != nil {
			return merge.Record{}, err
		}
		stamped, rec, err := m.upsertion(r, it, apart)
		if err != nil {
			return merge.Record{}, err
		}
		written = stamped
		written.Envelope = envelopeOf(rec.Envelope)
		return rec, nil
	})
	if err != nil {
		return MemoryItem{}, err
	}
	return written, nil
}

// upsertion makes the version that a normal item is written as, its content apart
// unless that is nil.
func (m memory) upsertion(r *store.Reader, it MemoryItem, apart *merge.BlobRef) (MemoryItem, merge.Record, error) {
	existing, err := heldMemory(r, memoryKey(it.Scope, it.ID))
	if err != nil {
		return MemoryItem{}, merge.Record{}, err
	}
	stamped, err := m.stamper.upsertMemory(existing, it)
	if err != nil {
		return MemoryItem{}, merge.Record{}, err
	}
	rec, err := m.memoryVersion(r, stamped, apart)
	return stamped, rec, err
}

// checkScope refuses an id that is known in other scopes only, deleted items
// included.
func (m memory) checkScope(r *store.Reader, it MemoryItem) error {
	scopes, err := scopesOf(r, indexMemoryID, it.ID, indexLive, indexDeleted)
	if err != nil || len(scopes) == 0 || slices.Contains(scopes, it.Scope) {
		return err
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
		found, err = liveMemory(r, key)
		return cmp.Or(err, lacking(key, found.LastWriterID, found.Incomplete))
	})
	return found, err
}

// find returns the key of the live item that an id names.
func (m memory) find(r *store.Reader, id string, pick func(what string, live []Scope) (Scope, error)) (merge.Key, error) {
	what := fmt.Sprintf("memory item %.60q", id)
	id, err := keyText("id", id)
	if err != nil {
		return merge.Key{}, fmt.Errorf("%w: %s", ErrNotFound, what)
	}
	scopes, err := scopesOf(r, indexMemoryID, id, indexLive)
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
	return m.newest(ctx, nil, query.Limit, matches, indexMemoryIn, scopeID(scope))
}

func (m memory) List(ctx context.Context, scope Scope, kind string) ([]MemoryItem, error) {
	scope, err := scopeText(scope)
	if err != nil {
		return nothing[MemoryItem](ctx, m.replica)
	}
	matches := func(it *MemoryItem) bool { return kind == "" || it.Kind == kind }
	return m.newest(ctx, nil, 0, matches, indexMemoryIn, scopeID(scope))
}

// newest returns the live items under a prefix of the index that match, newest
// first, ties by id and then scope descending, at most limit (<= 0: all). They
// begin after a place in the index, if any.
func (m memory) newest(ctx context.Context, after []string, limit int, matches func(*MemoryItem) bool, prefix ...string) ([]MemoryItem, error) {
	found := []MemoryItem{}
	err := m.view(ctx, func(r *store.Reader) error {
		return scanIndexDownAfter(r, after, func(rest []string, _ []byte) (bool, error) {
			// What follows is TIME ID SCOPE, or TIME ID when SCOPE is in the prefix.
			scope := prefix[len(prefix)-1]
			if len(rest) == 3 {
				scope = rest[2]
			}
			it, err := liveMemory(r, memoryKey(parseScopeID(scope), rest[1]))
			if err != nil {
				return false, promised(err)
			}
			if matches(&it) {
				found = append(found, it)
			}
			return limit <= 0 || len(found) < limit, ctx.Err()
		}, prefix...)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
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
	return m.write(ctx, key.Order(), func(r *store.Reader) (merge.Record, error) {
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
