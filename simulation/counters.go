package simulation

import (
	"bytes"
	"context"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

const kindOutcome = "skill.outcome"

// counted is what the body of an outcome says.
type counted struct {
	Uses int64 `cbor:"4,keyasint,omitempty"`
	Wins int64 `cbor:"5,keyasint,omitempty"`
}

// judge lets an agent count how a skill worked out.
func (r *Replica) judge(t target) error {
	t.skill = true
	won := r.cluster.dice.chance(0.6)
	_, err := r.State().SkillLibrary().RecordOutcomeIn(context.Background(), t.scope, t.name, won)
	if err == nil {
		r.cluster.cover.sometimes(SometimesJudged)
	}
	return err
}

// counts holds an outcome that is about to be committed to go on by one from what
// its store has: so the last of a store is the number of those that it was asked
// for, and none is lost while the last is held.
func (m *model) counts(r *Replica, w *written) error {
	rec := &w.record
	if rec.Key.Kind != kindOutcome || rec.Envelope.Deleted {
		return nil
	}
	w.counted = &counted{}
	if err := merge.Unmarshal(rec.Body, w.counted); err != nil {
		m.cluster.fail(InvariantCounters, "replica %d counts in a body that cannot be read: %v", r.number, err)
		return nil
	}
	head, exists, err := r.head(rec.Key)
	if err != nil || m.unclear(rec.Key) {
		return err
	}
	before := counted{}
	if exists {
		was := m.versions[head.Hash]
		if was == nil || was.counted == nil {
			return nil
		}
		before = *was.counted
	}
	now := *w.counted
	if won := now.Wins - before.Wins; now.Uses != before.Uses+1 || won < 0 || won > 1 {
		m.cluster.fail(InvariantCounters, "replica %d counts %+v in %s after %+v", r.number, now, rec.Key, before)
	}
	return nil
}

// checkCounters holds the sums that agents read of skills to what the stores have
// counted.
func (c *Cluster) checkCounters(r *Replica, expected map[merge.Key][]merge.Version) error {
	report, err := r.State().SkillLibrary().Report(context.Background(), nil, 0)
	if err != nil {
		return err
	}
	for _, e := range report {
		uses, wins := int64(0), int64(0)
		for _, o := range e.ByStore {
			uses, wins = uses+o.Uses, wins+o.Wins
			key := merge.Key{Kind: kindOutcome, Scope: o.Scope, ID: merge.NewID(o.Slug, o.StoreID)}
			versions := expected[key]
			if len(versions) == 0 || c.model.unclear(key) || !r.shares(key.Section()) {
				continue
			}
			w := c.model.versions[versions[len(versions)-1].Hash]
			if w != nil && w.counted != nil && (w.counted.Uses != o.Uses || w.counted.Wins != o.Wins) {
				c.fail(InvariantCounters, "replica %d shows %d uses and %d wins in %s, which counts %+v", r.number, o.Uses, o.Wins, key, *w.counted)
			}
		}
		if int64(e.Skill.Uses) != uses || int64(e.Skill.Wins) != wins {
			c.fail(InvariantCounters, "replica %d shows skill %q with %d uses and %d wins, of which its stores count %d and %d",
				r.number, e.Skill.Slug, e.Skill.Uses, e.Skill.Wins, uses, wins)
		}
	}
	return nil
}

// checkStream holds the state stream of a replica to its state: folding the one
// gives the other, byte for byte.
func (c *Cluster) checkStream(r *Replica) error {
	ctx := context.Background()
	folded, _, err := state.Fold(ctx, r.State().Log())
	if err != nil {
		return fmt.Errorf("fold the state stream: %w", err)
	}
	live, err := r.State().Export(ctx)
	if err != nil {
		return err
	}
	got, err := state.MarshalSnapshot(folded)
	if err != nil {
		return err
	}
	want, err := state.MarshalSnapshot(live)
	if err == nil && !bytes.Equal(got, want) {
		c.fail(InvariantStream, "folding the state stream of replica %d gives %.400s, and its state is %.400s", r.number, got, want)
	}
	return err
}
