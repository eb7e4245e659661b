package simulation

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// compareReads holds what agents read to be the same on every replica, and what
// was said. expected is what is owed of shared sections.
func (c *Cluster) compareReads(expected map[merge.Key][]merge.Version) error {
	var first reading
	scopes := c.model.scopes()
	for i, r := range c.members() {
		reading, err := r.reading(scopes)
		if err != nil {
			return err
		}
		if i == 0 {
			first = reading
			c.checkSaid(r, &first, expected)
		}
		if different := first.difference(&reading); different != "" {
			c.fail(InvariantAgreement, "replica %d reads otherwise than replica 0: %s", r.number, different)
		}
	}
	return nil
}

// scopes are those of the workload, and those that others wrote to.
func (m *model) scopes() []merge.Scope {
	all := scopes()
	for _, w := range m.order {
		if k := w.record.Key; (k.Kind == "skill" || k.Kind == "memory") && !slices.Contains(all, k.Scope) {
			all = append(all, k.Scope)
		}
	}
	return all
}

// reading is all that agents see of the shared scopes.
type reading struct {
	Skills    [][]state.Skill
	Memory    [][]state.MemoryItem
	Conflicts []state.Conflict
}

func (r *Replica) reading(scopes []merge.Scope) (reading, error) {
	ctx := context.Background()
	var seen reading
	for _, scope := range scopes {
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

// difference says where two readings first differ; empty when nowhere.
func (a *reading) difference(b *reading) string {
	for i := range a.Skills {
		if different := firstDifference(a.Skills[i], b.Skills[i]); different != "" {
			return "skills: " + different
		}
	}
	for i := range a.Memory {
		if different := firstDifference(a.Memory[i], b.Memory[i]); different != "" {
			return "memory: " + different
		}
	}
	if different := firstDifference(a.Conflicts, b.Conflicts); different != "" {
		return "conflicts: " + different
	}
	return ""
}

// firstDifference says in what two lists first differ; empty when in nothing.
func firstDifference[T any](a, b []T) string {
	for i := range min(len(a), len(b)) {
		if !reflect.DeepEqual(a[i], b[i]) {
			return fmt.Sprintf("number %d is %+v, was %+v", i, b[i], a[i])
		}
	}
	switch {
	case len(a) > len(b):
		return fmt.Sprintf("%d, was %d: lacks %+v", len(b), len(a), a[len(b)])
	case len(b) > len(a):
		return fmt.Sprintf("%d, was %d: has %+v too", len(b), len(a), b[len(a)])
	}
	return ""
}
