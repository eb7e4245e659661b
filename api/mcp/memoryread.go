package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

func recallMemory(ctx context.Context, c *call) (result, error) {
	query := c.args.text("query")
	if strings.TrimSpace(query) == "" {
		return result{}, api.NewProblem(wire.CodeInvalid, "the query is empty: memory_list lists without one")
	}
	return c.memoryIndex(ctx, query, "nothing is remembered that has every word of the query; try fewer or other words")
}

func listMemory(ctx context.Context, c *call) (result, error) {
	return c.memoryIndex(ctx, "", "nothing is remembered here")
}

// memoryIndex answers with the index of the items that a call selects.
func (c *call) memoryIndex(ctx context.Context, query, none string) (result, error) {
	found, err := c.selectMemory(ctx, query)
	if err != nil {
		return result{}, err
	}
	in, err := c.conflicts(ctx)
	if err != nil {
		return result{}, err
	}
	begin, err := memoryPlace(found, c.args.text("cursor"))
	if err != nil {
		return result{}, err
	}
	index := MemoryIndex{Items: []MemoryEntry{}, page: page{Total: len(found)}}
	text := newLines(c.args.number("limit", limitDefault))
	for _, it := range found[begin:] {
		e := c.memoryEntry(it, in)
		if !text.add("%s (%s)%s %s -- %s", api.Named(e.ID), e.kindText(), scopeText(it.Scope), e.Snippet, e.Provenance) {
			last := index.Items[len(index.Items)-1]
			index.Cursor = last.CreatedAt.Format(time.RFC3339Nano) + "/" + last.ID
			break
		}
		index.Items = append(index.Items, e)
	}
	index.Returned = len(index.Items)
	switch {
	case index.Total == 0:
		return result{index, none}, nil
	case index.Cursor != "" && query == "":
		return result{index, text.end("%d of %d; cursor %s gets the next. memory_get reads one in full.", index.Returned, index.Total, index.Cursor)}, nil
	case index.Cursor != "":
		index.Cursor = "" // a search is narrowed, not paged
		return result{index, text.end("%d of %d; more words in the query narrow it. memory_get reads one in full.", index.Returned, index.Total)}, nil
	}
	return result{index, text.end("%s. memory_get reads one in full.", plural(index.Returned, "item", "items"))}, nil
}

// selectMemory returns the items that match, newest first.
func (c *call) selectMemory(ctx context.Context, query string) ([]state.MemoryItem, error) {
	scope, scoped, err := c.args.scope()
	if err != nil {
		return nil, err
	}
	found, err := c.node.State().MemoryLibrary().Recall(ctx, state.RecallQuery{Query: query, Scope: scope})
	if err != nil {
		return nil, err
	}
	// Recall takes the zero scope for every scope, and knows no kind.
	kind := c.args.text("kind")
	return slices.DeleteFunc(found, func(it state.MemoryItem) bool {
		return kind != "" && it.Kind != kind || scoped && it.Scope != scope
	}), nil
}

// memoryPlace returns where the items after a cursor begin. The item itself may
// be gone meanwhile. Errors: a *wire.Problem.
func memoryPlace(found []state.MemoryItem, cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	text, id, _ := strings.Cut(cursor, "/")
	created, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, api.NewProblem(wire.CodeInvalid, fmt.Sprintf("cursor is %.80q, no cursor: take next_cursor of the last result as it is", cursor))
	}
	i := slices.IndexFunc(found, func(it state.MemoryItem) bool {
		return it.CreatedAt.Before(created) || it.CreatedAt.Equal(created) && it.ID < id
	})
	if i < 0 {
		return len(found), nil
	}
	return i, nil
}

func getMemory(ctx context.Context, c *call) (result, error) {
	it, err := c.memoryOf(ctx)
	if err != nil {
		return result{}, err
	}
	in, err := c.conflicts(ctx)
	if err != nil {
		return result{}, err
	}
	m := c.memory(it, in)
	head := fmt.Sprintf("%s (%s)%s %s\nversion %s", api.Named(m.ID), api.Named(m.Kind), scopeText(it.Scope), m.Provenance, m.Version)
	if m.Source != "" {
		head += "\nsource " + snippet(m.Source)
	}
	return result{m, head + "\n\n" + shown(m.Content)}, nil
}
