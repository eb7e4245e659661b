package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// skills serves /v1/skills.
type skills struct {
	replica state.Replica
	library state.SkillLibrary
}

func (s skills) list(r *http.Request) (reply, error) {
	p := paramsOf(r)
	query, limit := p.text("q"), p.count("limit")
	scope, scoped := p.scope()
	if err := p.done(); err != nil {
		return reply{}, err
	}
	searchLimit := limit
	if scoped {
		searchLimit = 0 // the limit counts what is left of the scope
	}
	found, err := s.library.Search(r.Context(), query, searchLimit)
	if err != nil {
		return reply{}, err
	}
	list := wire.SkillList{SchemaVersion: wire.SchemaVersion, Skills: []wire.Skill{}}
	for _, sk := range found {
		if scoped && sk.Scope != scope {
			continue
		}
		if limit > 0 && len(list.Skills) == limit {
			break
		}
		list.Skills = append(list.Skills, wireSkill(sk))
	}
	return ok(list), nil
}

func (s skills) get(r *http.Request) (reply, error) {
	p := paramsOf(r)
	scope, scoped := p.scope()
	if err := p.done(); err != nil {
		return reply{}, err
	}
	sk, err := s.find(r.Context(), r.PathValue("ref"), scope, scoped)
	if errors.Is(err, state.ErrIncomplete) {
		problem, known := problemOf(err), wireSkill(sk)
		problem.Skill = &known
		return reply{}, problem
	}
	if err != nil {
		return reply{}, err
	}
	return ok(skillReply(sk)), nil
}

// find resolves an id or slug, within exactly one scope when scoped.
func (s skills) find(ctx context.Context, ref string, scope state.Scope, scoped bool) (state.Skill, error) {
	if !scoped {
		return s.library.Get(ctx, ref)
	}
	sk, err := s.library.GetIn(ctx, scope, ref)
	if !errors.Is(err, state.ErrNotFound) {
		return sk, err
	}
	// It may be the id of a skill of that scope.
	if byID, errID := s.library.Get(ctx, ref); errID == nil && byID.Scope == scope && byID.Slug != ref {
		return byID, nil
	}
	return state.Skill{}, err
}

func (s skills) put(w http.ResponseWriter, r *http.Request) (reply, error) {
	var in wire.SkillWrite
	named, err := readBody(w, r, &in)
	if err := errors.Join(paramsOf(r).done(), err); err != nil {
		return reply{}, err
	}
	if !named.has("body") {
		return reply{}, newProblem(wire.CodeInvalid, `the field "body" is missing: a write replaces the whole skill; "body": "" makes it empty`)
	}
	token, err := stateToken(in.Token)
	if err != nil {
		return reply{}, err
	}
	sk := state.Skill{
		ID: in.ID, Slug: r.PathValue("ref"), Name: in.Name, Body: in.Body, Tags: in.Tags,
		Scope: stateScope(in.Scope), Check: in.Check, Envelope: token,
	}
	written, err := s.library.Upsert(r.Context(), sk)
	if errors.Is(err, state.ErrConflict) {
		return reply{}, s.conflict(r.Context(), sk, err)
	}
	if err != nil {
		return reply{}, err
	}
	return ok(skillReply(written)), nil
}

// conflict adds the stored record to the problem of a conflict, so that the
// caller can decide without another request.
func (s skills) conflict(ctx context.Context, sk state.Skill, err error) error {
	problem := problemOf(err)
	if current, errGet := s.library.GetIn(ctx, sk.Scope, sk.Slug); errGet == nil {
		stored := wireSkillFull(current)
		problem.Skill = &stored
	}
	return problem
}

func (s skills) delete(r *http.Request) (reply, error) {
	p := paramsOf(r)
	scope, scoped := p.scope()
	if err := p.done(); err != nil {
		return reply{}, err
	}
	ref := r.PathValue("ref")
	if !scoped {
		return reply{status: http.StatusNoContent}, s.library.Delete(r.Context(), ref)
	}
	sk, err := s.find(r.Context(), ref, scope, true)
	if err != nil && !errors.Is(err, state.ErrIncomplete) {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, s.library.DeleteIn(r.Context(), scope, sk.Slug)
}

// history lists the versions of a skill, of a deleted one too: exactly that of a
// scope, else the one that its id or slug leads to.
func (s skills) history(r *http.Request) (reply, error) {
	p := paramsOf(r)
	scope, scoped := p.scope()
	if err := p.done(); err != nil {
		return reply{}, err
	}
	ref := r.PathValue("ref")
	key := merge.Key{Kind: "skill", Scope: scope, ID: merge.NewID(ref)}
	var versions []state.Version
	err := state.ErrNotFound
	if scoped {
		versions, err = s.replica.History(r.Context(), key)
	}
	if errors.Is(err, state.ErrNotFound) {
		versions, err = s.library.History(r.Context(), ref)
	}
	if err != nil {
		return reply{}, err
	}
	for _, v := range versions {
		if v.Skill != nil {
			key.Scope, key.ID = v.Skill.Scope, merge.NewID(v.Skill.Slug)
			break
		}
	}
	if scoped && key.Scope != scope {
		return reply{}, newProblem(wire.CodeNotFound, fmt.Sprintf("not found: skill %.60q in this scope", ref))
	}
	return ok(wireHistory(key, versions)), nil
}

// outcome counts one use of a skill.
func (s skills) outcome(w http.ResponseWriter, r *http.Request) (reply, error) {
	p := paramsOf(r)
	scope, scoped := p.scope()
	var in wire.OutcomeWrite
	named, err := readBody(w, r, &in)
	if err := errors.Join(p.done(), err); err != nil {
		return reply{}, err
	}
	if !named.has("won") {
		return reply{}, newProblem(wire.CodeInvalid, `the field "won" is missing: true when the run succeeded, else false`)
	}
	ref := r.PathValue("ref")
	var sk state.Skill
	if scoped {
		if sk, err = s.find(r.Context(), ref, scope, true); err == nil {
			sk, err = s.library.RecordOutcomeIn(r.Context(), sk.Scope, sk.Slug, in.Won)
		}
	} else {
		sk, err = s.library.RecordOutcome(r.Context(), ref, in.Won)
	}
	if err != nil {
		return reply{}, err
	}
	return ok(wire.SkillReply{SchemaVersion: wire.SchemaVersion, Skill: wireSkill(sk)}), nil
}

// report lists skills with what speaks for each.
func (s skills) report(r *http.Request) (reply, error) {
	p := paramsOf(r)
	limit := p.count("limit")
	in, scoped := p.scope()
	if err := p.done(); err != nil {
		return reply{}, err
	}
	var scope *state.Scope
	if scoped {
		scope = &in
	}
	found, err := s.library.Report(r.Context(), scope, limit)
	if err != nil {
		return reply{}, err
	}
	report := wire.SkillReport{SchemaVersion: wire.SchemaVersion, Skills: make([]wire.SkillEvidence, 0, len(found))}
	for _, e := range found {
		evidence := wire.SkillEvidence{Skill: wireSkill(e.Skill), Confidence: e.Confidence, ByStore: make([]wire.Outcome, 0, len(e.ByStore))}
		for _, o := range e.ByStore {
			evidence.ByStore = append(evidence.ByStore, wireOutcome(o))
		}
		report.Skills = append(report.Skills, evidence)
	}
	return ok(report), nil
}

func skillReply(sk state.Skill) wire.SkillReply {
	return wire.SkillReply{SchemaVersion: wire.SchemaVersion, Skill: wireSkillFull(sk)}
}
