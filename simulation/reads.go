package simulation

import (
	"context"
	"reflect"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// compareReads holds what agents read to be the same on every replica.
func (c *Cluster) compareReads() error {
	var first reading
	for i, r := range c.members() {
		reading, err := r.reading()
		if err != nil {
			return err
		}
		if i == 0 {
			first = reading
		}
		if !reflect.DeepEqual(first, reading) {
			c.fail(InvariantAgreement, "replica %d reads otherwise than replica 0:\n%s", r.number, cmp.Diff(first, reading))
		}
	}
	return nil
}

// reading is all that agents see of the shared scopes.
type reading struct {
	Skills    [][]state.Skill
	Memory    [][]state.MemoryItem
	Conflicts []state.Conflict
}

func (r *Replica) reading() (reading, error) {
	ctx := context.Background()
	var seen reading
	for _, scope := range scopes() {
		if r.cluster.shared(merge.Section{Family: "skill", Scope: scope}) {
			skills, err := r.State().Skills().List(ctx, scope)
			if err != nil {
				return seen, err
			}
			seen.Skills = append(seen.Skills, skills)
		}
		if r.cluster.shared(merge.Section{Family: "memory", Scope: scope}) {
			items, err := r.State().MemoryLibrary().List(ctx, scope, "")
			if err != nil {
				return seen, err
			}
			seen.Memory = append(seen.Memory, items)
		}
	}
	conflicts, err := r.State().Conflicts(ctx)
	for _, conflict := range conflicts {
		if r.cluster.shared(conflict.Key.Section()) {
			seen.Conflicts = append(seen.Conflicts, conflict)
		}
	}
	return seen, err
}
