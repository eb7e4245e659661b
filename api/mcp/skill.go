package mcp

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/skillfs"
	"github.com/fleetsync/fleetd/state"
)

// SkillEntry is a skill in an index.
type SkillEntry struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
	Name string `json:"name"`
	// Description is what the frontmatter of the text says, else its first line.
	Description string     `json:"description"`
	Scope       wire.Scope `json:"scope"`
	Tags        []string   `json:"tags"`
	// Revision counts the revisions of the text from 1.
	Revision int `json:"revision"`
	// Uses and Wins count runs in the whole fleet. Confidence is the least share
	// that succeeds, as far as they prove it, 0 to 1.
	Uses       int       `json:"uses"`
	Wins       int       `json:"wins"`
	Confidence float64   `json:"confidence"`
	Bytes      int       `json:"bytes"`
	UpdatedAt  time.Time `json:"updated_at"`
	// Incomplete says that the text is not all on this machine yet.
	Incomplete bool `json:"incomplete"`
	gated
	// Version is the token that if_version takes.
	Version string `json:"version"`
	Provenance
}

// Skill is a skill with its text.
type Skill struct {
	SkillEntry
	Body string `json:"body"`
	// Check is a shell command that verifies the skill. fleetd runs nothing.
	Check string `json:"check"`
}

// SkillIndex is the first step: what there is, without the texts.
type SkillIndex struct {
	Skills []SkillEntry `json:"skills"`
	page
}

func (s *Server) skillEntry(sk state.Skill, in conflicts) SkillEntry {
	return SkillEntry{
		ID: sk.ID, Slug: sk.Slug, Name: sk.Name, Description: describe(sk), Scope: wireScope(sk.Scope), Tags: append([]string{}, sk.Tags...),
		Revision: sk.Version, Uses: sk.Uses, Wins: sk.Wins, Confidence: state.WilsonLowerBound(sk.Wins, sk.Uses), Bytes: len(sk.Body),
		UpdatedAt: sk.UpdatedAt, Incomplete: sk.Incomplete, gated: gatedOf(sk.Secrets), Version: versionOf(sk.Envelope),
		Provenance: s.provenance(sk.Envelope, in[keyOfSkill(sk)]),
	}
}

func (s *Server) skill(sk state.Skill, in conflicts) Skill {
	return Skill{s.skillEntry(sk, in), sk.Body, sk.Check}
}

// describe says what a skill is for in a line.
func describe(sk state.Skill) string {
	if hasFrontmatter(sk.Body) {
		if text := skillfs.Description([]byte(sk.Body)); text != "" {
			return snippet(text)
		}
	}
	return snippet(sk.Body)
}

func hasFrontmatter(body string) bool {
	return strings.HasPrefix(strings.TrimPrefix(body, "\ufeff"), "---")
}

// findSkill finds a skill as the HTTP API does: by id or slug, in exactly one
// scope when scoped. Errors: those of state.SkillLibrary.
func (s *Server) findSkill(ctx context.Context, ref string, scope state.Scope, scoped bool) (state.Skill, error) {
	library := s.node.State().SkillLibrary()
	if !scoped {
		return library.Get(ctx, ref)
	}
	sk, err := library.GetIn(ctx, scope, ref)
	if !asNotFound(err) {
		return sk, err
	}
	if byID, errID := library.Get(ctx, ref); errID == nil && byID.Scope == scope && byID.Slug != ref {
		return byID, nil
	}
	return state.Skill{}, err
}

// skillOf finds the skill that a call names. One that is incomplete is an error
// with what is known of it.
func (c *call) skillOf(ctx context.Context) (state.Skill, error) {
	scope, scoped, err := c.args.scope()
	if err != nil {
		return state.Skill{}, err
	}
	sk, err := c.findSkill(ctx, c.args.text("slug"), scope, scoped)
	if errors.Is(err, state.ErrIncomplete) {
		in, errConflicts := c.conflicts(ctx, keyOfSkill(sk))
		if errConflicts != nil {
			return sk, errConflicts
		}
		return sk, &recordError{err, c.skillEntry(sk, in)}
	}
	return sk, err
}
