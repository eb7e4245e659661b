package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

func (p *replica) WrittenBy(ctx context.Context, writer string, since hlc.Timestamp) ([]Change, error) {
	what, err := parseUndone(writer, since)
	if err != nil {
		return nil, err
	}
	changes := []Change{}
	err = p.view(ctx, func(r *store.Reader) error {
		keys, err := p.keysOf(ctx, r, what)
		if err != nil {
			return err
		}
		for _, key := range keys {
			plan, err := p.planOf(r, key, what)
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			changes = append(changes, plan.Change)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

func (p *replica) Revert(ctx context.Context, writer string, since hlc.Timestamp) ([]Change, error) {
	what, err := parseUndone(writer, since)
	if err != nil {
		return nil, err
	}
	var keys []merge.Key
	err = p.view(ctx, func(r *store.Reader) (err error) {
		keys, err = p.keysOf(ctx, r, what)
		return err
	})
	if err != nil {
		return nil, err
	}
	changes := []Change{}
	for _, key := range keys {
		change, err := p.revert(ctx, key, what)
		if err != nil {
			return changes, fmt.Errorf("state: revert %s: %w", key, err)
		}
		if change != nil {
			changes = append(changes, *change)
		}
	}
	return changes, nil
}

// revert undoes a writer in one key; nil when there is nothing to undo any
// more.
func (p *replica) revert(ctx context.Context, key merge.Key, what undone) (*Change, error) {
	var done *Change
	err := p.writeAll(ctx, lockOf(key), func(r *store.Reader) ([]merge.Record, error) {
		done = nil
		plan, err := p.planOf(r, key, what)
		if plan == nil || err != nil {
			return nil, err
		}
		done = &plan.Change
		done.Now = nil
		if plan.rewrite == nil {
			return nil, nil
		}
		rec, err := p.anew(r, key, *plan.rewrite)
		if err != nil {
			return nil, err
		}
		now, err := showVersion(r, rec)
		if err != nil {
			return nil, err
		}
		now.Standing = StandingHead
		done.Now = &now
		return []merge.Record{*rec}, nil
	})
	if done != nil && (errors.Is(err, ErrDenied) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrInvalid)) {
		done.Now, done.Outcome, done.Reason, err = nil, ChangeLeft, err.Error(), nil
	}
	if err != nil {
		return nil, err
	}
	return done, nil
}

// undone tells the versions to be undone: those of a writer since a stamp.
type undone struct {
	writer merge.InstanceID
	since  hlc.Timestamp
}

func parseUndone(writer string, since hlc.Timestamp) (undone, error) {
	id, err := parseInstance(writer)
	return undone{id, since}, err
}

func (u undone) has(v *merge.Version) bool { return v.Writer == u.writer && !v.Stamp.Before(u.since) }

// keysOf returns the keys of known kinds that hold a version to be undone, in
// order.
func (p *replica) keysOf(ctx context.Context, r *store.Reader, what undone) ([]merge.Key, error) {
	var keys []merge.Key
	for _, section := range p.store.Sections() {
		err := r.Range(section.Section, "", func(key merge.Key, held []store.Held) (more bool) {
			_, unknown := contentOf(key)
			if unknown == nil && slices.ContainsFunc(held, func(h store.Held) bool { return what.has(&h.Version) }) {
				keys = append(keys, key)
			}
			return ctx.Err() == nil
		})
		if err != nil {
			return nil, fmt.Errorf("state: list %s: %w", section.Section, err)
		}
	}
	slices.SortFunc(keys, compareKeys)
	return keys, ctx.Err()
}
