package main

import (
	"context"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) skillCommand() *cobra.Command {
	return a.group("skill", "procedures that agents follow, from SKILL.md folders",
		a.skillAdd(), a.skillList(), a.skillGet(), a.skillSearch(), a.skillHistory(), a.skillOutcome(), a.skillReport(), a.skillRemove(), a.skillWithdraw())
}

func (a *app) skillList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "all skills, by slug", Args: cobra.NoArgs}
	limit, scope := addLimit(cmd), addScope(cmd)
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		return a.showSkills(ctx, client.SkillQuery{Limit: *limit, Scope: scope.asked()})
	})
}

func (a *app) skillSearch() *cobra.Command {
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "skills that hold every word of the query, by slug", Args: cobra.ExactArgs(1),
		Long: "Lists the skills that hold every word of the query, as the beginning of a word, in\nslug, name, body or tags.",
	}
	limit, scope := addLimit(cmd), addScope(cmd)
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		return a.showSkills(ctx, client.SkillQuery{Text: unspell(args[0]), Limit: *limit, Scope: scope.asked()})
	})
}

func addLimit(cmd *cobra.Command) *int {
	limit := new(int)
	cmd.Flags().Var((*limitFlag)(limit), "limit", "at most so many (default all)")
	return limit
}

func (a *app) showSkills(ctx context.Context, query client.SkillQuery) error {
	c, err := a.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	list, err := c.Skills(ctx, query)
	if err != nil {
		return err
	}
	return a.print(list, func(w io.Writer) {
		rows := make([][]string, 0, len(list.Skills))
		for _, sk := range list.Skills {
			rows = append(rows, []string{sk.Slug, strconv.Itoa(sk.Version), scopeText(sk.Scope), shownText(sk.Description, sk.Incomplete)})
		}
		a.table(w, []string{"SKILL", "VERSION", "SCOPE", "DESCRIPTION"}, rows)
	})
}

func (a *app) skillGet() *cobra.Command {
	cmd := &cobra.Command{Use: "get SLUG", Short: "the text of one skill, byte for byte", Args: cobra.ExactArgs(1)}
	scope := addScope(cmd)
	return a.ask(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		sk, err := c.Skill(ctx, unspell(args[0]), scope.asked())
		if err != nil {
			return a.explainFind(err, "skill", scope)
		}
		return a.print(sk, func(w io.Writer) { writeText(w, *sk.Body) })
	})
}

func (a *app) skillRemove() *cobra.Command {
	cmd := &cobra.Command{Use: "rm SLUG", Short: "delete one skill in the whole fleet", Args: cobra.ExactArgs(1)}
	scope := addScope(cmd)
	return a.ask(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		ref := unspell(args[0])
		sk, err := c.Skill(ctx, ref, scope.asked())
		if known := incompleteOf(err); known != nil && known.Skill != nil { // it can be deleted all the same
			sk.Skill, err = *known.Skill, nil
		}
		if err == nil {
			err = c.DeleteSkill(ctx, ref, scope.asked())
		}
		if err != nil {
			return a.explainFind(err, "skill", scope)
		}
		gone := deleted{Kind: "skill", ID: sk.ID, Slug: sk.Slug, Scope: sk.Scope}
		return a.print(removed{SchemaVersion: wire.SchemaVersion, Deleted: gone}, func(w io.Writer) {
			say(w, "skill %s deleted: scope %s", oneLine(sk.Slug), oneLine(scopeText(sk.Scope)))
		})
	})
}
