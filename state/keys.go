package state

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Keys implements Settler.
func (p *replica) Keys(ctx context.Context, kind string, id merge.ID) ([]merge.Key, error) {
	keys := []merge.Key{}
	err := p.view(ctx, func(r *store.Reader) error {
		for _, section := range p.store.Sections() {
			key := merge.Key{Kind: kind, Scope: section.Section.Scope, ID: id}
			if key.Section() != section.Section || key.Validate() != nil {
				continue
			}
			held, err := r.Held(key)
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return fmt.Errorf("state: read %s: %w", key, err)
			}
			if len(held) > 0 {
				keys = append(keys, key)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(keys, compareKeys)
	return keys, nil
}
