package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

func searchSkills(ctx context.Context, c *call) (result, error) {
	query := c.args.text("query")
	if strings.TrimSpace(query) == "" {
		return result{}, api.NewProblem(wire.CodeInvalid, "the query is empty: skill_list lists without one")
	}
	return c.skillIndex(ctx, query, "no skill has every word of the query; try fewer or other words")
}

func listSkills(ctx context.Context, c *call) (result, error) {
	return c.skillIndex(ctx, "", "there are no skills here")
}

// skillIndex answers with a page of the index of the skills that a call selects.
func (c *call) skillIndex(ctx context.Context, query, none string) (result, error) {
	limit := min(c.args.number("limit", limitDefault), limitMax)
	found, more, err := c.selectSkills(ctx, query, limit)
	if err != nil {
		return result{}, err
	}
	in, err := c.conflicts(ctx, keysOf(found, keyOfSkill)...)
	if err != nil {
		return result{}, err
	}
	index := SkillIndex{Skills: []SkillEntry{}}
	text := newLines(limit)
	for _, sk := range found {
		e := c.skillEntry(sk, in)
		if !text.add("%s%s %s -- revision %d, %s, %s", api.Named(e.Slug), scopeText(sk.Scope), e.Description, e.Revision, e.evidence(), e.Provenance) {
			more = true
			break
		}
		index.Skills = append(index.Skills, e)
	}
	index.Returned, index.More = len(index.Skills), more
	if index.Returned == 0 {
		return result{index, none}, nil
	}
	if more && query == "" { // a search is narrowed, not paged
		index.Cursor = api.SkillCursor(found[index.Returned-1].Place())
	}
	return result{index, text.end("%s. skill_get reads one in full.", index.said("skill", "skills"))}, nil
}

// selectSkills returns the first skills that match, by slug and then scope, and
// whether there are others.
func (c *call) selectSkills(ctx context.Context, query string, limit int) (found []state.Skill, more bool, err error) {
	scope, scoped, err := c.args.scope()
	if err != nil {
		return nil, false, err
	}
	after, err := api.SkillPlace(c.args.text("cursor"))
	if err != nil {
		return nil, false, err
	}
	page := state.SkillPage{Query: query, After: after, Limit: limit}
	if scoped {
		page.Scope = &scope
	}
	return c.node.State().SkillLibrary().Page(ctx, page)
}

// evidence says how a skill worked out.
func (e *SkillEntry) evidence() string {
	text := fmt.Sprintf("worked %d of %s", e.Wins, plural(e.Uses, "use", "uses"))
	if e.Incomplete {
		text = "incomplete, " + text
	}
	return text
}

func getSkill(ctx context.Context, c *call) (result, error) {
	sk, err := c.skillOf(ctx)
	if err != nil {
		return result{}, err
	}
	in, err := c.conflicts(ctx, keyOfSkill(sk))
	if err != nil {
		return result{}, err
	}
	out := c.skill(sk, in)
	head := fmt.Sprintf("skill %s%s revision %d, %s, %s\nversion %s", api.Named(out.Slug), scopeText(sk.Scope), out.Revision, out.evidence(), out.Provenance, out.Version)
	if out.Check != "" {
		head += "\ncheck " + snippet(out.Check)
	}
	return result{out, head + "\n\n" + shown(out.Body)}, nil
}
