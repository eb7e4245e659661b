package mcp

import (
	"context"
	"fmt"
	"slices"
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

// skillIndex answers with the index of the skills that a call selects.
func (c *call) skillIndex(ctx context.Context, query, none string) (result, error) {
	scope, scoped, err := c.args.scope()
	if err != nil {
		return result{}, err
	}
	found, err := c.node.State().SkillLibrary().Search(ctx, query, 0)
	if err != nil {
		return result{}, err
	}
	in, err := c.conflicts(ctx)
	if err != nil {
		return result{}, err
	}
	found = slices.DeleteFunc(found, func(sk state.Skill) bool { return scoped && sk.Scope != scope })
	index := SkillIndex{Skills: []SkillEntry{}, page: page{Total: len(found)}}
	text := newLines(c.args.number("limit", limitDefault))
	for _, sk := range found[skillPlace(found, c.args.text("cursor")):] {
		e := c.skillEntry(sk, in)
		if !text.add("%s%s %s -- revision %d, %s, %s", api.Named(e.Slug), scopeText(sk.Scope), e.Description, e.Revision, e.evidence(), e.Provenance) {
			last := index.Skills[len(index.Skills)-1]
			index.Cursor = last.Slug + "/" + last.ID
			break
		}
		index.Skills = append(index.Skills, e)
	}
	index.Returned = len(index.Skills)
	switch {
	case index.Total == 0:
		return result{index, none}, nil
	case index.Cursor != "" && query == "":
		return result{index, text.end("%d of %d; cursor %s gets the next. skill_get reads one in full.", index.Returned, index.Total, index.Cursor)}, nil
	case index.Cursor != "":
		index.Cursor = "" // a search is narrowed, not paged
		return result{index, text.end("%d of %d; more words in the query narrow it. skill_get reads one in full.", index.Returned, index.Total)}, nil
	}
	return result{index, text.end("%s. skill_get reads one in full.", plural(index.Returned, "skill", "skills"))}, nil
}

// evidence says how a skill worked out.
func (e *SkillEntry) evidence() string {
	text := fmt.Sprintf("worked %d of %s", e.Wins, plural(e.Uses, "use", "uses"))
	if e.Incomplete {
		text = "incomplete, " + text
	}
	return text
}

// skillPlace returns where the skills after a cursor begin: they are by slug and
// then id. A slug has no slash.
func skillPlace(found []state.Skill, cursor string) int {
	slug, id, _ := strings.Cut(cursor, "/")
	if slug == "" {
		return 0
	}
	i := slices.IndexFunc(found, func(sk state.Skill) bool { return sk.Slug > slug || sk.Slug == slug && sk.ID > id })
	if i < 0 {
		return len(found)
	}
	return i
}

func getSkill(ctx context.Context, c *call) (result, error) {
	sk, err := c.skillOf(ctx)
	if err != nil {
		return result{}, err
	}
	in, err := c.conflicts(ctx)
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
