package state

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// SkillEvidence is what the fleet knows of how well a skill works.
type SkillEvidence struct {
	Skill Skill
	// Confidence is WilsonLowerBound of the skill's wins and uses, 0 to 1.
	Confidence float64
	// ByStore are the outcomes that Skill.Uses and Skill.Wins sum, by store. It
	// is never nil.
	ByStore []Outcome
}

// WilsonLowerBound returns the share of successes that a skill has at least,
// judged from wins successes in uses runs: the lower end of the 95 % score
// interval (E. B. Wilson, Probable Inference, the Law of Succession, and
// Statistical Inference, JASA 22, 1927). So 90 wins of 100 rank above 1 of 1.
// It is between 0 and the plain share, and 0 without uses. Negative arguments
// count as 0, and wins above uses as uses.
func WilsonLowerBound(wins, uses int) float64 {
	if uses <= 0 {
		return 0
	}
	const z = 1.96 // of the normal distribution, 95 % lie within so many deviations
	n := float64(uses)
	share := float64(min(max(wins, 0), uses)) / n
	if share == 0 {
		return 0
	}
	// The product of both ends of the interval, divided by the upper one: unlike
	// their usual difference this cancels nothing, so that it never leaves its
	// range and never falls when evidence grows.
	width := z * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return share * share / (share + z*z/(2*n) + width)
}

func (s skills) Report(ctx context.Context, scope *Scope, limit int) ([]SkillEvidence, error) {
	report := []SkillEvidence{}
	err := s.view(ctx, func(r *store.Reader) error {
		err := eachSkill(ctx, r, scope, func(sk Skill) {
			report = append(report, SkillEvidence{Skill: sk, Confidence: WilsonLowerBound(sk.Wins, sk.Uses)})
		})
		if err != nil {
			return err
		}
		slices.SortFunc(report, func(a, b SkillEvidence) int {
			return cmp.Or(cmp.Compare(b.Confidence, a.Confidence),
				strings.Compare(a.Skill.Slug, b.Skill.Slug), strings.Compare(a.Skill.ID, b.Skill.ID))
		})
		if limit > 0 && len(report) > limit {
			report = slices.Clone(report[:limit])
		}
		for i := range report {
			if report[i].ByStore, err = outcomesOf(r, report[i].Skill); err != nil {
				return cmp.Or(ctx.Err(), err)
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}

// eachSkill calls fn for the live skills of a scope, of all scopes when nil.
func eachSkill(ctx context.Context, r *store.Reader, scope *Scope, fn func(Skill)) error {
	index := []string{indexSkillSlug}
	if scope != nil {
		in, err := scopeText(*scope)
		if err != nil {
			return nil //nolint:nilerr // a scope that cannot be written holds nothing
		}
		index = []string{indexSkillIn, scopeID(in)}
	}
	return scanIndex(r, func(rest []string, _ []byte) (bool, error) {
		in := index[len(index)-1]
		if scope == nil {
			in = rest[1]
		}
		sk, err := countedSkill(r, skillKey(parseScopeID(in), rest[0]))
		if err == nil {
			fn(sk)
		}
		return true, cmp.Or(promised(err), ctx.Err())
	}, index...)
}

// outcomesOf returns the live outcomes of a skill, by store.
func outcomesOf(r *store.Reader, sk Skill) ([]Outcome, error) {
	outcomes := []Outcome{}
	before := merge.Key{Kind: kindOutcome, Scope: sk.Scope, ID: merge.NewID(sk.Slug)}
	var failed error
	err := r.Range(before.Section(), before.Order(), func(key merge.Key, held []store.Held) (more bool) {
		if key.Kind != kindOutcome || key.ID.Components()[0] != sk.Slug {
			return false
		}
		var rec merge.Record
		if rec, failed = r.Load(key, held[len(held)-1]); failed != nil {
			return false
		}
		if o, err := decodeOutcome(&rec); err == nil && !o.Deleted {
			outcomes = append(outcomes, o)
		}
		return true
	})
	if err = cmp.Or(failed, err); err != nil {
		return nil, fmt.Errorf("state: outcomes of %s: %w", sk.Slug, err)
	}
	return outcomes, nil
}
