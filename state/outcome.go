package state

import (
	"context"
	"encoding/hex"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Outcome is what one store has counted of one skill: how often a run recalled
// it, and how often such a run succeeded. Each store counts in a record of its
// own, so that no increment is lost to a concurrent one; Skill.Uses and
// Skill.Wins are the sums of all.
//
// The outcomes of a skill outlive it: deleting leaves them as they are, and a
// skill that is revived under its slug has them again. They are evidence of
// what happened, which deleting does not undo, and a tombstone that hid them
// would have to win over increments that it never saw. A Settler can undo them.
type Outcome struct {
	Slug  string
	Scope Scope
	// StoreID is the store that counts, in 32 lower-case hexadecimal digits.
	StoreID string
	// Uses and Wins are between 0 and 2^48, where they stand still. Wins may be
	// above Uses: an Upsert credits each for itself.
	Uses int64
	Wins int64
	Envelope
}

func (s skills) RecordOutcome(ctx context.Context, idOrSlug string, won bool) (Skill, error) {
	sk, err := s.Get(ctx, idOrSlug)
	if err != nil {
		return Skill{}, err
	}
	return s.recordOutcome(ctx, skillKey(sk.Scope, sk.Slug), won)
}

func (s skills) RecordOutcomeIn(ctx context.Context, scope Scope, slug string, won bool) (Skill, error) {
	key, err := skillKeyOf(scope, slug)
	if err != nil {
		return Skill{}, err
	}
	return s.recordOutcome(ctx, key, won)
}

// recordOutcome counts one use of a live skill. Everything that it builds on
// is read by key, so recorders in one store see each other.
func (s skills) recordOutcome(ctx context.Context, key merge.Key, won bool) (Skill, error) {
	wins := int64(0)
	if won {
		wins = 1
	}
	var recorded Skill
	err := s.write(ctx, lockOf(key), func(r *store.Reader) (merge.Record, error) {
		at, err := s.shown(r, key)
		if err != nil {
			return merge.Record{}, err
		}
		sk, err := liveSkill(r, at)
		if err != nil {
			return merge.Record{}, err
		}
		sums, err := outcomeSumsOf(r, sk.Scope, sk.Slug)
		if err != nil {
			return merge.Record{}, err
		}
		rec, sums, err := s.credit(r, sk, sums, 1, wins)
		recorded = sums.shownBy(sk)
		return rec, err
	})
	if err != nil {
		return Skill{}, err
	}
	return recorded, nil
}

// creditTotals is the rule of Upsert: what the passed totals are above the
// sums, each of uses and wins for itself, was counted by this store. It returns
// no record when they are above in neither, and the sums then.
func (s skills) creditTotals(r *store.Reader, passed Skill) ([]merge.Record, outcomeSums, error) {
	sums, err := outcomeSumsOf(r, passed.Scope, passed.Slug)
	if err != nil {
		return nil, sums, err
	}
	shown := sums.shownBy(passed)
	uses, wins := max(0, passed.Uses-shown.Uses), max(0, passed.Wins-shown.Wins)
	if uses == 0 && wins == 0 {
		return nil, sums, nil
	}
	rec, sums, err := s.credit(r, passed, sums, int64(uses), int64(wins))
	if err != nil {
		return nil, sums, err
	}
	return []merge.Record{rec}, sums, nil
}

// credit makes the version that adds to what this store has counted of a
// skill, and returns the uses and wins of the skill that it leads to.
func (s skills) credit(r *store.Reader, sk Skill, sums outcomeSums, uses, wins int64) (merge.Record, outcomeSums, error) {
	id := s.store.ID()
	more := Outcome{Slug: sk.Slug, Scope: sk.Scope, StoreID: hex.EncodeToString(id[:]), Uses: uses, Wins: wins}
	key := outcomeKey(more)
	existing, err := heldOutcome(r, key)
	if err != nil {
		return merge.Record{}, sums, err
	}
	stamped, err := s.stamper.stampOutcome(existing, more)
	if err != nil {
		return merge.Record{}, sums, err
	}
	body, err := encodeOutcome(stamped)
	if err != nil {
		return merge.Record{}, sums, err
	}
	if existing != nil {
		sums = sums.minus(sumsOf(*existing))
	}
	sums = sums.plus(sumsOf(stamped))
	rec, err := s.version(r, key, stamped.Envelope, body)
	return rec, sums, err
}

// heldOutcome is heldSkill for outcome records: one that breaks the rules of
// its kind has counted nothing.
func heldOutcome(r *store.Reader, key merge.Key) (*Outcome, error) {
	rec, err := head(r, key)
	if rec == nil || err != nil {
		return nil, err
	}
	o, err := decodeOutcome(rec)
	if err != nil {
		o = Outcome{Envelope: envelopeOf(rec.Envelope)}
	}
	return &o, nil
}
