package api

import (
	"context"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

type outcomeInput struct {
	Ref string `path:"ref" doc:"The slug of the skill, or its id."`
	ScopeQuery
	Body wire.OutcomeWrite
}

// outcome counts one use of a skill.
func (s skills) outcome(ctx context.Context, in *outcomeInput) (*skillOutput, error) {
	var sk state.Skill
	var err error
	if _, scoped := in.scope(); scoped {
		if sk, err = s.find(ctx, in.Ref, &in.ScopeQuery); err == nil {
			sk, err = s.library.RecordOutcomeIn(ctx, sk.Scope, sk.Slug, in.Body.Won)
		}
	} else {
		sk, err = s.library.RecordOutcome(ctx, in.Ref, in.Body.Won)
	}
	if err != nil {
		return nil, err
	}
	return skillReply(wireSkill(sk)), nil
}

type reportInput struct {
	Limit int `query:"limit" minimum:"1" doc:"At most so many; all when absent."`
	ScopeQuery
}

type reportOutput struct{ Body wire.SkillReport }

// report lists skills with what speaks for each.
func (s skills) report(ctx context.Context, in *reportInput) (*reportOutput, error) {
	var scope *state.Scope
	if of, scoped := in.scope(); scoped {
		scope = &of
	}
	found, err := s.library.Report(ctx, scope, in.Limit)
	if err != nil {
		return nil, err
	}
	report := wire.SkillReport{SchemaVersion: wire.SchemaVersion, Skills: make([]wire.SkillEvidence, 0, len(found))}
	for _, e := range found {
		evidence := wire.SkillEvidence{Skill: wireSkill(e.Skill), Confidence: e.Confidence, ByStore: make([]wire.Outcome, 0, len(e.ByStore))}
		for _, o := range e.ByStore {
			evidence.ByStore = append(evidence.ByStore, wireOutcome(o))
		}
		report.Skills = append(report.Skills, evidence)
	}
	return &reportOutput{report}, nil
}
