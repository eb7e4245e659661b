package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/fleetsync/fleetd/api/wire"
)

// pageSize is how many entries the iterators ask for at a time when their query
// has no limit.
const pageSize = 200

// pages yields the entries of a list page by page. What is there throughout is
// yielded once, whatever is written meanwhile.
func pages[T any](limit int, page func(limit int, cursor string) (entries []T, next string, err error)) iter.Seq2[T, error] {
	if limit <= 0 {
		limit = pageSize
	}
	return func(yield func(T, error) bool) {
		cursor := ""
		for {
			entries, next, err := page(limit, cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, entry := range entries {
				if !yield(entry, nil) {
					return
				}
			}
			if cursor = next; cursor == "" {
				return
			}
		}
	}
}

// setPage adds the parameters of a page.
func setPage(query url.Values, limit int, cursor string) url.Values {
	setLimit(query, limit)
	setText(query, "cursor", cursor)
	return query
}

// EachSkill yields what Skills lists, Limit at a time. The last pair may be an
// error.
func (c *Client) EachSkill(ctx context.Context, q SkillQuery) iter.Seq2[wire.Skill, error] {
	return pages(q.Limit, func(limit int, cursor string) ([]wire.Skill, string, error) {
		q.Limit, q.Cursor = limit, cursor
		list, err := c.Skills(ctx, q)
		return list.Skills, list.NextCursor, err
	})
}

// EachMemory yields what Memories lists, Limit at a time. The last pair may be an
// error.
func (c *Client) EachMemory(ctx context.Context, q MemoryQuery) iter.Seq2[wire.MemoryItem, error] {
	return pages(q.Limit, func(limit int, cursor string) ([]wire.MemoryItem, string, error) {
		q.Limit, q.Cursor = limit, cursor
		list, err := c.Memories(ctx, q)
		return list.Items, list.NextCursor, err
	})
}

// EachSession yields what Sessions lists, limit at a time (<= 0: some). The last
// pair may be an error.
func (c *Client) EachSession(ctx context.Context, limit int) iter.Seq2[wire.Session, error] {
	return pages(limit, func(limit int, cursor string) ([]wire.Session, string, error) {
		var list wire.SessionList
		err := c.call(ctx, http.MethodGet, "/v1/sessions", setPage(url.Values{}, limit, cursor), nil, &list)
		return list.Sessions, list.NextCursor, err
	})
}

// EachTurn yields what Turns lists, Limit at a time. The last pair may be an
// error.
func (c *Client) EachTurn(ctx context.Context, sessionID string, q TurnQuery) iter.Seq2[wire.Turn, error] {
	return pages(q.Limit, func(limit int, cursor string) ([]wire.Turn, string, error) {
		q.Limit, q.Cursor = limit, cursor
		if cursor != "" {
			q.After = 0
		}
		list, err := c.Turns(ctx, sessionID, q)
		return list.Turns, list.NextCursor, err
	})
}

// EachConflict yields what Conflicts lists, limit at a time (<= 0: some). The
// last pair may be an error.
func (c *Client) EachConflict(ctx context.Context, limit int) iter.Seq2[wire.Conflict, error] {
	return pages(limit, func(limit int, cursor string) ([]wire.Conflict, string, error) {
		var list wire.ConflictList
		err := c.call(ctx, http.MethodGet, "/v1/conflicts", setPage(url.Values{}, limit, cursor), nil, &list)
		return list.Conflicts, list.NextCursor, err
	})
}

// EachVersion yields the versions that History lists, limit at a time (<= 0:
// some). The last pair may be an error.
func (c *Client) EachVersion(ctx context.Context, r Record, limit int) iter.Seq2[wire.Version, error] {
	return pages(limit, func(limit int, cursor string) ([]wire.Version, string, error) {
		var history wire.History
		err := c.call(ctx, http.MethodGet, r.path("versions"), setPage(scopeQuery(url.Values{}, r.Scope), limit, cursor), nil, &history)
		return history.Versions, history.NextCursor, err
	})
}
