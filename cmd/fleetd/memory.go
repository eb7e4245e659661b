package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) memoryCommand() *cobra.Command {
	return a.group("memory", "what agents have learned, one item each",
		a.memoryWrite(), a.memoryRecall(), a.memoryGet(), a.memoryList(), a.memoryHistory(), a.memoryRemove())
}

func (a *app) memoryRecall() *cobra.Command {
	cmd := &cobra.Command{
		Use: "recall QUERY", Short: "items that hold every word of the query, newest first", Args: cobra.ExactArgs(1),
		Long: "Lists the items that hold every word of the query, as the beginning of a word, in\ncontent, kind or source. Words are compared, not meanings.",
	}
	query, scope := memoryFilter(cmd), addScope(cmd)
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		query.Text, query.Scope = args[0], scope.asked()
		return a.showMemories(ctx, *query)
	})
}

func (a *app) memoryList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "all items, newest first", Args: cobra.NoArgs}
	query, scope := memoryFilter(cmd), addScope(cmd)
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		query.Scope = scope.asked()
		return a.showMemories(ctx, *query)
	})
}

func memoryFilter(cmd *cobra.Command) *client.MemoryQuery {
	query := &client.MemoryQuery{}
	cmd.Flags().StringVar(&query.Kind, "kind", "", "only items of this kind")
	cmd.Flags().Var((*limitFlag)(&query.Limit), "limit", "at most so many (default all)")
	return query
}

func (a *app) showMemories(ctx context.Context, query client.MemoryQuery) error {
	c, err := a.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	list, err := c.Memories(ctx, query)
	if err != nil {
		return err
	}
	return a.print(list, func(w io.Writer) {
		rows := make([][]string, 0, len(list.Items))
		for _, it := range list.Items {
			rows = append(rows, []string{it.ID, excerpt(it.Kind), scopeText(it.Scope), shownText(it.Content, it.Incomplete)})
		}
		a.table(w, []string{"ID", "KIND", "SCOPE", "CONTENT"}, rows)
	})
}

func (a *app) memoryGet() *cobra.Command {
	cmd := &cobra.Command{Use: "get ID", Short: "the content of one item, as it was written", Args: cobra.ExactArgs(1)}
	scope := addScope(cmd)
	return a.ask(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		item, err := c.Memory(ctx, args[0], scope.asked())
		if err != nil {
			return a.explainFind(err, "memory", scope)
		}
		return a.print(item, func(w io.Writer) { writeText(w, item.Content) })
	})
}

func (a *app) memoryRemove() *cobra.Command {
	cmd := &cobra.Command{Use: "rm ID", Short: "delete one item in the whole fleet", Args: cobra.ExactArgs(1)}
	scope := addScope(cmd)
	return a.ask(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		item, err := c.Memory(ctx, args[0], scope.asked())
		if known := incompleteOf(err); known != nil && known.Memory != nil { // it can be deleted all the same
			item.MemoryItem, err = *known.Memory, nil
		}
		if err == nil {
			err = c.DeleteMemory(ctx, args[0], scope.asked())
		}
		if err != nil {
			return a.explainFind(err, "memory", scope)
		}
		gone := deleted{Kind: "memory", ID: item.ID, ItemKind: item.Kind, Scope: item.Scope}
		return a.print(removed{SchemaVersion: wire.SchemaVersion, Deleted: gone}, func(w io.Writer) {
			say(w, "memory %s deleted: kind %s, scope %s", oneLine(item.ID), excerpt(item.Kind), oneLine(scopeText(item.Scope)))
		})
	})
}

// removed is the result of the rm commands.
type removed struct {
	SchemaVersion int     `json:"schema_version"`
	Deleted       deleted `json:"deleted"`
}

// deleted says which record went.
type deleted struct {
	// Kind is that of the record: "skill" or "memory".
	Kind string `json:"kind"`
	ID   string `json:"id"`
	// Slug is that of a skill, ItemKind the kind of a memory item.
	Slug     string     `json:"slug,omitempty"`
	ItemKind string     `json:"item_kind,omitempty"`
	Scope    wire.Scope `json:"scope"`
}

// writeText writes text byte for byte where a program reads it: what is piped is
// what was stored. For people it ends the line, and spells out what could drive
// their terminal.
func writeText(w io.Writer, text string) {
	if !isTerminal(w) {
		_, _ = io.WriteString(w, text)
		return
	}
	say(w, "%s", strings.TrimSuffix(manyLines(text), "\n"))
}
