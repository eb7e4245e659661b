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
	nameOf  func(instanceID string) string
}

func (s skills) register(h *handler) {
	register(h, operation{
		route: "GET /v1/skills", id: "list-skills", tag: "skills", summary: "Every live skill that matches, by slug, without bodies",
		codes: []wire.Code{wire.CodeInvalid},
	}, s.list)
	register(h, operation{
		route: "GET /v1/skills/{ref}", id: "get-skill", tag: "skills", summary: "One skill, with its body",
		text:  "Without a scope a slug resolves from the home scope outward.",
		codes: readCodes(), responses: notModified(),
	}, s.get)
	register(h, operation{
		route: "PUT /v1/skills/{ref}", id: "put-skill", tag: "skills", summary: "Create the skill of a slug, or replace its content",
		text: conditionalText, codes: writeCodes(),
	}, s.put)
	register(h, operation{
		route: "DELETE /v1/skills/{ref}", id: "delete-skill", tag: "skills", summary: "Delete a skill",
		text: deleteText, status: http.StatusNoContent, codes: deleteCodes(), responses: gone(),
	}, s.delete)
	register(h, operation{
		route: "GET /v1/skills/{ref}/versions", id: "list-skill-versions", tag: "skills",
		summary: "The history of a skill, also of a deleted one", codes: readCodes(),
	}, s.history)
	register(h, operation{
		route: "POST /v1/skills/{ref}/outcomes", id: "count-outcome", tag: "skills", summary: "Count one use of a skill",
		codes: append(readCodes(), wire.CodeClock, wire.CodeDiskFull),
	}, s.outcome)
	register(h, operation{
		route: "GET /v1/report", id: "report-skills", tag: "skills", summary: "Live skills with what speaks for each, the surest first",
		text: "It has a limit and no cursor: its order changes with every outcome, so no place in it lasts.",
	}, s.report)
}

type skillListInput struct {
	Query string `query:"q" doc:"Words that a skill holds, in its slug, name, body or tags: all of them."`
	ScopeQuery
	PageQuery
}

type skillListOutput struct{ Body wire.SkillList }

func (s skills) list(ctx context.Context, in *skillListInput) (*skillListOutput, error) {
	after, err := SkillPlace(in.Cursor)
	if err != nil {
		return nil, err
	}
	page := state.SkillPage{Query: in.Query, After: after, Limit: in.Limit}
	if scope, scoped := in.scope(); scoped {
		page.Scope = &scope
	}
	found, more, err := s.library.Page(ctx, page)
	if err != nil {
		return nil, err
	}
	list := wire.SkillList{SchemaVersion: wire.SchemaVersion, Skills: make([]wire.Skill, 0, len(found))}
	for i := range found {
		list.Skills = append(list.Skills, wireSkill(found[i]))
	}
	if more {
		list.NextCursor = SkillCursor(found[len(found)-1].Place())
	}
	return &skillListOutput{list}, nil
}

type skillGetInput struct {
	Ref string `path:"ref" doc:"The slug of the skill, or its id."`
	ScopeQuery
	IfNoneMatch
}

type skillOutput struct {
	ETag string `header:"ETag" doc:"Stands for this version of the skill, and for its uses and wins."`
	Body wire.SkillReply
}

func (s skills) get(ctx context.Context, in *skillGetInput) (*skillOutput, error) {
	sk, err := s.find(ctx, in.Ref, &in.ScopeQuery)
	if errors.Is(err, state.ErrIncomplete) {
		problem, known := problemOf(WithNames(err, s.nameOf)), wireSkill(sk)
		problem.Skill = &known
		return nil, problem
	}
	if err != nil {
		return nil, err
	}
	out := skillReply(wireSkillFull(sk))
	if err := in.unchanged(out.ETag); err != nil {
		return nil, err
	}
	return out, nil
}

// find resolves an id or slug, within exactly one scope when the query names
// one.
func (s skills) find(ctx context.Context, ref string, q *ScopeQuery) (state.Skill, error) {
	scope, scoped := q.scope()
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

type skillPutInput struct {
	Ref string `path:"ref" doc:"The slug of the skill."`
	Conditions
	Body wire.SkillWrite
}

func (s skills) put(ctx context.Context, in *skillPutInput) (*skillOutput, error) {
	condition, exists, err := in.token(in.Body.Token)
	if err != nil {
		return nil, err
	}
	token, err := stateToken(condition)
	if err != nil {
		return nil, err
	}
	sk := state.Skill{
		ID: in.Body.ID, Slug: in.Ref, Name: in.Body.Name, Body: in.Body.Body, Tags: in.Body.Tags,
		Scope: stateScope(in.Body.Scope), Check: in.Body.Check, Envelope: token,
	}
	if exists {
		current, err := s.library.GetIn(ctx, sk.Scope, sk.Slug)
		if err != nil && !errors.Is(err, state.ErrIncomplete) {
			return nil, absent(err)
		}
		sk.Envelope = current.Envelope
	}
	written, err := s.library.Upsert(ctx, sk)
	if errors.Is(err, state.ErrConflict) {
		return nil, s.conflict(ctx, sk.Scope, sk.Slug, err)
	}
	if err != nil {
		return nil, err
	}
	return skillReply(wireSkillFull(written)), nil
}

// conflict adds the stored record to the problem of a conflict, so that the
// caller can decide without another request.
func (s skills) conflict(ctx context.Context, scope state.Scope, slug string, err error) error {
	p := problemOf(err)
	if current, errGet := s.library.GetIn(ctx, scope, slug); errGet == nil {
		stored := wireSkillFull(current)
		p.Skill = &stored
	}
	return tagged(p)
}

type skillDeleteInput struct {
	Ref string `path:"ref" doc:"The slug of the skill, or its id."`
	ScopeQuery
	IfMatch
}

func (s skills) delete(ctx context.Context, in *skillDeleteInput) (*done, error) {
	condition, err := in.token()
	if err != nil {
		return nil, err
	}
	token, err := stateToken(condition)
	if err != nil {
		return nil, err
	}
	if _, scoped := in.scope(); !scoped && in.IfMatch.IfMatch == "" {
		return nil, s.library.Delete(ctx, in.Ref)
	}
	sk, err := s.find(ctx, in.Ref, &in.ScopeQuery)
	if err != nil && !errors.Is(err, state.ErrIncomplete) {
		return nil, err
	}
	if err = s.library.DeleteIf(ctx, sk.Scope, sk.Slug, token); errors.Is(err, state.ErrConflict) {
		return nil, s.conflict(ctx, sk.Scope, sk.Slug, err)
	}
	return nil, err
}

type skillHistoryInput struct {
	Ref string `path:"ref" doc:"The slug of the skill, or its id."`
	ScopeQuery
	PageQuery
}

// history lists the versions of a skill, of a deleted one too.
func (s skills) history(ctx context.Context, in *skillHistoryInput) (*historyOutput, error) {
	versions, key, err := s.known(ctx, in.Ref, &in.ScopeQuery)
	if err != nil {
		return nil, err
	}
	return historyPage(key, versions, &in.PageQuery)
}

// known finds a skill, a deleted one too, with its versions: exactly that of a
// scope, else the one that its id or slug leads to.
func (s skills) known(ctx context.Context, ref string, q *ScopeQuery) (versions []state.Version, key merge.Key, err error) {
	scope, scoped := q.scope()
	key = merge.Key{Kind: "skill", Scope: scope, ID: merge.NewID(ref)}
	err = state.ErrNotFound
	if scoped {
		versions, err = s.replica.History(ctx, key)
	}
	if errors.Is(err, state.ErrNotFound) {
		versions, err = s.library.History(ctx, ref)
	}
	if err != nil {
		return nil, key, err
	}
	for _, v := range versions {
		if v.Skill != nil {
			key.Scope, key.ID = v.Skill.Scope, merge.NewID(v.Skill.Slug)
			break
		}
	}
	if scoped && key.Scope != scope {
		return nil, key, newProblem(wire.CodeNotFound, fmt.Sprintf("not found: skill %.60q in this scope", ref))
	}
	return versions, key, nil
}

func skillReply(sk wire.Skill) *skillOutput {
	return &skillOutput{ETag: sk.ETag(), Body: wire.SkillReply{SchemaVersion: wire.SchemaVersion, Skill: sk}}
}
