package mcp

import (
	"context"
	"fmt"
	"strings"

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

// memoryIndex answers with a page of the index of the items that a call selects.
func (c *call) memoryIndex(ctx context.Context, query, none string) (result, error) {
	limit := min(c.args.number("limit", limitDefault), limitMax)
	found, more, err := c.selectMemory(ctx, query, limit)
	if err != nil {
		return result{}, err
	}
	in, err := c.conflicts(ctx, keysOf(found, keyOfMemory)...)
	if err != nil {
		return result{}, err
	}
	index := MemoryIndex{Items: []MemoryEntry{}}
	text := newLines(limit)
	for _, it := range found {
		e := c.memoryEntry(it, in)
		if !text.add("%s (%s)%s %s -- %s", api.Named(e.ID), e.kindText(), scopeText(it.Scope), e.Snippet, e.Provenance) {
			more = true
			break
		}
		index.Items = append(index.Items, e)
	}
	index.Returned, index.More = len(index.Items), more
	if index.Returned == 0 {
		return result{index, none}, nil
	}
	if more && query == "" { // a search is narrowed, not paged
		index.Cursor = api.MemoryCursor(found[index.Returned-1].Place())
	}
	return result{index, text.end("%s. memory_get reads one in full.", index.said("item", "items"))}, nil
}

// selectMemory returns the first items that match, newest first, and whether
// there are others.
func (c *call) selectMemory(ctx context.Context, query string, limit int) (found []state.MemoryItem, more bool, err error) {
	scope, scoped, err := c.args.scope()
	if err != nil {
		return nil, false, err
	}
	after, err := api.MemoryPlace(c.args.text("cursor"))
	if err != nil {
		return nil, false, err
	}
	page := state.MemoryPage{Query: query, Kind: c.args.text("kind"), After: after, Limit: limit}
	if scoped {
		page.Scope = &scope
	}
	return c.node.State().MemoryLibrary().Page(ctx, page)
}

func getMemory(ctx context.Context, c *call) (result, error) {
	it, err := c.memoryOf(ctx)
	if err != nil {
		return result{}, err
	}
	in, err := c.conflicts(ctx, keyOfMemory(it))
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
