package state

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

func (p *replica) Conflicts(ctx context.Context) ([]Conflict, error) {
	conflicts := []Conflict{}
	err := p.view(ctx, func(r *store.Reader) error {
		var failed error
		err := r.Conflicts(func(key merge.Key, held []store.Held) (more bool) {
			var ofKey []Conflict
			ofKey, failed = conflictsOf(r, key, held)
			conflicts = append(conflicts, ofKey...)
			failed = cmp.Or(failed, ctx.Err())
			return failed == nil
		})
		return cmp.Or(failed, err)
	})
	if err != nil {
		return nil, err
	}
	// The store's order of sections is its own; every replica lists alike.
	slices.SortStableFunc(conflicts, func(a, b Conflict) int { return compareKeys(a.Key, b.Key) })
	return conflicts, nil
}

func (p *replica) Contested(ctx context.Context, keys ...merge.Key) (map[merge.Key]bool, error) {
	contested := map[merge.Key]bool{}
	err := p.view(ctx, func(r *store.Reader) error {
		for _, key := range keys {
			held, err := r.Held(key)
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return fmt.Errorf("state: read %s: %w", key, err)
			}
			if len(held) > 1 {
				contested[key] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return contested, nil
}

func (p *replica) Home() Scope { return p.home[0] }

func (p *replica) Invalid(ctx context.Context) ([]Invalid, error) {
	hidden := []Invalid{}
	err := p.view(ctx, func(r *store.Reader) error {
		return scanIndex(r, func(rest []string, reason []byte) (bool, error) {
			section, err := merge.ParseSectionID(rest[1])
			if err != nil {
				return false, fmt.Errorf("state: index: %w", err)
			}
			hidden = append(hidden, Invalid{
				Key:    merge.Key{Kind: rest[0], Scope: section.Scope, ID: merge.NewID(rest[2:]...)},
				Reason: string(reason),
			})
			return true, ctx.Err()
		}, indexInvalid)
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(hidden, func(a, b Invalid) int { return compareKeys(a.Key, b.Key) })
	return hidden, nil
}

// compareKeys orders keys by section and then as the section is ordered.
func compareKeys(a, b merge.Key) int {
	return cmp.Or(strings.Compare(a.Section().ID(), b.Section().ID()), strings.Compare(a.Order(), b.Order()))
}

// conflictsOf pairs the head of a key with each other held version.
func conflictsOf(r *store.Reader, key merge.Key, held []store.Held) ([]Conflict, error) {
	last := len(held) - 1
	winner, err := loadVersion(r, key, held[last], StandingHead)
	if err != nil {
		return nil, err
	}
	conflicts := make([]Conflict, 0, last)
	for _, h := range held[:last] {
		loser, err := loadVersion(r, key, h, StandingConflict)
		if err != nil {
			return nil, err
		}
		conflicts = append(conflicts, Conflict{Key: key, Winner: winner.clone(), Loser: loser})
	}
	return conflicts, nil
}

// loadVersion is the view of one version.
func loadVersion(r *store.Reader, key merge.Key, h store.Held, standing Standing) (Version, error) {
	rec, err := loadRecord(r, key, h)
	if err != nil {
		return Version{}, err
	}
	v, err := showVersion(r, &rec)
	v.Standing = standing
	return v, err
}

func loadRecord(r *store.Reader, key merge.Key, h store.Held) (merge.Record, error) {
	rec, err := r.Load(key, h)
	if err != nil {
		return merge.Record{}, fmt.Errorf("state: read %s: %w", key, err)
	}
	return rec, nil
}

// showVersion is viewVersion with content that is apart. Errors: those of the
// store.
func showVersion(r *store.Reader, rec *merge.Record) (Version, error) {
	rec, err := whole(r, rec)
	if err != nil {
		return Version{}, err
	}
	return viewVersion(rec), nil
}

// viewVersion decodes what this build knows; what breaks the rules of its kind
// stays undecoded.
func viewVersion(rec *merge.Record) Version {
	v := Version{Envelope: envelopeOf(rec.Envelope), Hash: rec.Hash()}
	switch rec.Key.Kind {
	case kindSkill:
		if sk, err := decodeSkill(rec); err == nil {
			v.Skill = &sk
		}
	case kindMemory:
		if it, err := decodeMemory(rec); err == nil {
			v.Memory = &it
		}
	case kindSession:
		if ses, err := decodeSession(rec); err == nil {
			v.Session = &ses
		}
	case kindTurn:
		if t, err := decodeTurn(rec); err == nil {
			v.Turn = &t
		}
	case kindOutcome:
		if o, err := decodeOutcome(rec); err == nil {
			v.Outcome = &o
		}
	}
	return v
}

// clone returns a version that shares nothing with v.
func (v Version) clone() Version {
	if v.Skill != nil {
		sk := *v.Skill
		sk.Tags = slices.Clone(sk.Tags)
		v.Skill = &sk
	}
	if v.Memory != nil {
		it := *v.Memory
		v.Memory = &it
	}
	if v.Session != nil {
		ses := *v.Session
		v.Session = &ses
	}
	if v.Turn != nil {
		t := *v.Turn
		v.Turn = &t
	}
	if v.Outcome != nil {
		o := *v.Outcome
		v.Outcome = &o
	}
	return v
}
