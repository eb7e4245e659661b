package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fleetsync/fleetd/state"
)

// verify looks at every node on its own: the same winner, the loser kept, the
// delete done, one root.
func (d *demo) verify(ctx context.Context) error {
	var winner, loser state.Version
	for i, n := range d.fleet.nodes {
		conflict, err := n.oneConflict(ctx)
		if err != nil {
			return err
		}
		if i == 0 {
			winner, loser = conflict.Winner, conflict.Loser
		}
		if conflict.Winner.Hash != winner.Hash || conflict.Loser.Hash != loser.Hash {
			return fmt.Errorf("%s decided the conflict differently", n.name)
		}
		if err := n.checkSkills(ctx, winner); err != nil {
			return err
		}
		status, err := n.node.Status(ctx)
		if err != nil {
			return fmt.Errorf("%s: status: %w", n.name, err)
		}
		d.records, d.conflicts = status.Records, status.Conflicts
		d.roots = append(d.roots, status.Root)
		if status.Root != d.roots[0] || status.Conflicts != 1 {
			return fmt.Errorf("%s has root %.16s and %d conflicts, desk has root %.16s", n.name, status.Root, status.Conflicts, d.roots[0])
		}
	}
	if err := d.checkEdits(winner, loser); err != nil {
		return err
	}
	d.tell("   skill %s: the edit of %s won everywhere, it was the later one", editedSkill, d.fleet.nameOf(winner.LastWriterID))
	d.tell("     won:  %s", lastLine(winner.Skill.Body))
	d.tell("     lost: %s", lastLine(loser.Skill.Body))
	d.tell("           kept as a conflict on every node, by %s", d.fleet.nameOf(loser.LastWriterID))
	d.tell("   skill %s: deleted everywhere", deletedSkill)
	for i, n := range d.fleet.nodes {
		d.tell("   %-8s root %s", n.name, d.roots[i])
	}
	return nil
}

// oneConflict returns the conflict of the skill that both sides edited, which
// has to be the only one.
func (n *demoNode) oneConflict(ctx context.Context) (state.Conflict, error) {
	conflicts, err := n.node.State().Conflicts(ctx)
	if err != nil {
		return state.Conflict{}, fmt.Errorf("%s lists conflicts: %w", n.name, err)
	}
	if len(conflicts) != 1 || conflicts[0].Winner.Skill == nil || conflicts[0].Loser.Skill == nil ||
		conflicts[0].Winner.Skill.Slug != editedSkill {
		return state.Conflict{}, fmt.Errorf("%s lists %d conflicts, want the one of skill %s", n.name, len(conflicts), editedSkill)
	}
	return conflicts[0], nil
}

// checkSkills reads what an agent would read.
func (n *demoNode) checkSkills(ctx context.Context, winner state.Version) error {
	skills := n.node.State().Skills()
	sk, err := skills.Get(ctx, editedSkill)
	if err != nil {
		return fmt.Errorf("%s reads skill %s: %w", n.name, editedSkill, err)
	}
	if sk.Body != winner.Skill.Body {
		return fmt.Errorf("%s gives its agent another text of skill %s than the one that won", n.name, editedSkill)
	}
	if _, err := skills.Get(ctx, deletedSkill); !errors.Is(err, state.ErrNotFound) {
		return fmt.Errorf("%s still has the deleted skill %s (%w)", n.name, deletedSkill, err)
	}
	return nil
}

// checkEdits makes sure that winner and loser are the two texts that were
// written apart, so that neither was lost.
func (d *demo) checkEdits(winner, loser state.Version) error {
	a, b := winner.Skill.Body, loser.Skill.Body
	if (a != d.edits[0] || b != d.edits[1]) && (a != d.edits[1] || b != d.edits[0]) {
		return fmt.Errorf("winner and loser of skill %s are not the two edits", editedSkill)
	}
	return nil
}

// nameOf returns who writes under an instance id.
func (f *demoFleet) nameOf(instance string) string {
	for _, n := range f.nodes {
		if n.node != nil && n.node.ID().String() == instance {
			return n.name
		}
	}
	return instance
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
