package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// skills serves /v1/skills.
type skills struct {
	replica state.Replica
	library state.SkillLibrary
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

const skillCursor = "skills"

func (s skills) list(ctx context.Context, in *skillListInput) (*skillListOutput, error) {
	place, err := readCursor(skillCursor, in.Cursor, 4)
	if err != nil {
		return nil, err
	}
	var after func(state.Skill) bool
	if place != nil {
		last := state.Skill{Slug: place[0], Scope: state.Scope{Instance: place[1], Project: place[2], Workspace: place[3]}}
		after = func(sk state.Skill) bool { return bySlug(sk, last) > 0 }
	}
	found, err := s.search(ctx, in, place == nil)
	if err != nil {
		return nil, err
	}
	page, next := pageOf(skillCursor, found, in.Limit, after, func(sk state.Skill) []string {
		return append([]string{sk.Slug}, scopePlace(sk.Scope)...)
	})
	list := wire.SkillList{SchemaVersion: wire.SchemaVersion, Skills: make([]wire.Skill, 0, len(page)), NextCursor: next}
	for _, sk := range page {
		list.Skills = append(list.Skills, wireSkill(sk))
	}
	return &skillListOutput{list}, nil
}

// search returns the skills that match in the order of their keys, which never
// changes, unlike that of their ids. begins says that a limit counts from the
// first on: then there are enough for it, and one more if there are more.
func (s skills) search(ctx context.Context, in *skillListInput, begins bool) ([]state.Skill, error) {
	const scopes = 16 // that one slug is in, at the end of a search that is cut
	scope, scoped := in.scope()
	limit := 0
	if in.Limit > 0 && begins && !scoped {
		limit = in.Limit + scopes
	}
	found, err := s.library.Search(ctx, in.Query, limit)
	if err != nil {
		return nil, err
	}
	if limit > 0 && len(found) == limit {
		// The last slug may be cut in another order than ours.
		last := found[len(found)-1].Slug
		found = slices.DeleteFunc(found, func(sk state.Skill) bool { return sk.Slug == last })
		if len(found) <= in.Limit {
			if found, err = s.library.Search(ctx, in.Query, 0); err != nil {
				return nil, err
			}
		}
	}
	if scoped {
		found = slices.DeleteFunc(found, func(sk state.Skill) bool { return sk.Scope != scope })
	}
	slices.SortFunc(found, bySlug)
	return found, nil
}

func bySlug(a, b state.Skill) int {
	return cmp.Or(cmp.Compare(a.Slug, b.Slug), compareScopes(a.Scope, b.Scope))
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
		problem, known := problemOf(err), wireSkill(sk)
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

// history lists the versions of a skill, of a deleted one too: exactly that of a
// scope, else the one that its id or slug leads to.
func (s skills) history(ctx context.Context, in *skillHistoryInput) (*historyOutput, error) {
	scope, scoped := in.scope()
	key := merge.Key{Kind: "skill", Scope: scope, ID: merge.NewID(in.Ref)}
	var versions []state.Version
	err := state.ErrNotFound
	if scoped {
		versions, err = s.replica.History(ctx, key)
	}
	if errors.Is(err, state.ErrNotFound) {
		versions, err = s.library.History(ctx, in.Ref)
	}
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		if v.Skill != nil {
			key.Scope, key.ID = v.Skill.Scope, merge.NewID(v.Skill.Slug)
			break
		}
	}
	if scoped && key.Scope != scope {
		return nil, newProblem(wire.CodeNotFound, fmt.Sprintf("not found: skill %.60q in this scope", in.Ref))
	}
	return historyPage(key, versions, &in.PageQuery)
}

func skillReply(sk wire.Skill) *skillOutput {
	return &skillOutput{ETag: sk.ETag(), Body: wire.SkillReply{SchemaVersion: wire.SchemaVersion, Skill: sk}}
}
