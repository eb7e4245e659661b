package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/skillfs"
	"github.com/fleetsync/fleetd/state"
)

func upsertSkill(ctx context.Context, c *call) (result, error) {
	sk, err := c.skillToWrite(ctx)
	if err != nil {
		return result{}, err
	}
	written, err := c.node.State().SkillLibrary().Upsert(ctx, sk)
	if errors.Is(err, state.ErrConflict) {
		return result{}, c.skillConflict(ctx, sk.Scope, sk.Slug, err)
	}
	if err != nil {
		return result{}, err
	}
	in, err := c.conflicts(ctx, keyOfSkill(written))
	if err != nil {
		return result{}, err
	}
	out := c.skillEntry(written, in)
	return result{out, fmt.Sprintf("skill %s%s is at revision %d, %d bytes\nversion %s, %s",
		api.Named(out.Slug), scopeText(written.Scope), out.Revision, out.Bytes, out.Version, out.Provenance) + out.note()}, nil
}

// skillToWrite is the skill that a call asks for. Of one that is there the fields
// stay that the call does not give.
func (c *call) skillToWrite(ctx context.Context) (state.Skill, error) {
	scope, scoped, err := c.args.scope()
	if err != nil {
		return state.Skill{}, err
	}
	token, err := c.args.token()
	if err != nil {
		return state.Skill{}, err
	}
	sk := state.Skill{Slug: c.args.text("slug"), Scope: scope}
	switch known, err := c.findSkill(ctx, sk.Slug, scope, scoped); {
	case err == nil, errors.Is(err, state.ErrIncomplete):
		sk = state.Skill{Slug: known.Slug, Scope: meantFor(known.Scope, known.Secrets, scoped), Name: known.Name, Tags: known.Tags, Check: known.Check}
	case !asNotFound(err):
		return sk, err
	default:
		if err := skillfs.ValidSlug(sk.Slug); err != nil {
			return sk, api.NewProblem(wire.CodeInvalid, strings.TrimPrefix(err.Error(), "skillfs: "))
		}
	}
	sk.Envelope = token
	for name, field := range map[string]*string{"title": &sk.Name, "check": &sk.Check} {
		if c.args.has(name) {
			*field = c.args.text(name)
		}
	}
	if c.args.has("tags") {
		sk.Tags = c.args.texts("tags")
	}
	sk.Body = c.args.text("body")
	if strings.TrimSpace(sk.Body) == "" {
		return sk, api.NewProblem(wire.CodeInvalid, "the text is empty")
	}
	if description := c.args.text("description"); description != "" && !hasFrontmatter(sk.Body) {
		sk.Body = withFrontmatter(sk.Slug, description, sk.Body)
	}
	return sk, nil
}

// withFrontmatter makes a text a SKILL.md. A JSON string is one of YAML too.
func withFrontmatter(slug, description, body string) string {
	quote := func(text string) string {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(text) // a string always encodes
		return strings.TrimSpace(b.String())
	}
	return "---\nname: " + quote(slug) + "\ndescription: " + quote(description) + "\n---\n\n" + body
}

// skillConflict adds the stored record to the error of a conflict.
func (s *Server) skillConflict(ctx context.Context, scope state.Scope, slug string, err error) error {
	current, errGet := s.node.State().SkillLibrary().GetIn(ctx, scope, slug)
	if errGet != nil {
		return err
	}
	in, errConflicts := s.conflicts(ctx, keyOfSkill(current))
	if errConflicts != nil {
		return err
	}
	return &recordError{err, s.skill(current, in)}
}

func reportSkill(ctx context.Context, c *call) (result, error) {
	sk, err := c.skillOf(ctx)
	if err != nil && !errors.Is(err, state.ErrIncomplete) {
		return result{}, err
	}
	counted, err := c.node.State().SkillLibrary().RecordOutcomeIn(ctx, sk.Scope, sk.Slug, c.args.flag("won"))
	if err != nil {
		return result{}, err
	}
	in, err := c.conflicts(ctx, keyOfSkill(counted))
	if err != nil {
		return result{}, err
	}
	e := c.skillEntry(counted, in)
	return result{e, fmt.Sprintf("counted: skill %s%s has %s", api.Named(e.Slug), scopeText(counted.Scope), e.evidence())}, nil
}

func deleteSkill(ctx context.Context, c *call) (result, error) {
	token, err := c.args.token()
	if err != nil {
		return result{}, err
	}
	sk, err := c.skillOf(ctx)
	if err != nil && !errors.Is(err, state.ErrIncomplete) { // it can be deleted all the same
		return result{}, err
	}
	library := c.node.State().SkillLibrary()
	if token.SyncVersion != 0 {
		err = library.DeleteIf(ctx, sk.Scope, sk.Slug, token)
	} else {
		err = library.DeleteIn(ctx, sk.Scope, sk.Slug)
	}
	if errors.Is(err, state.ErrConflict) {
		return result{}, c.skillConflict(ctx, sk.Scope, sk.Slug, err)
	}
	if err != nil {
		return result{}, err
	}
	gone := Deleted{"skill", sk.Slug, wireScope(sk.Scope), true, c.provenance(sk.Envelope, false)}
	return result{gone, fmt.Sprintf("deleted skill %s%s in the whole fleet; it was written %s", api.Named(sk.Slug), scopeText(sk.Scope), gone.Provenance)}, nil
}
