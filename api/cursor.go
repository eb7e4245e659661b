package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sort"
	"time"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// PageQuery are the parameters of a list that is read in pages. It is exported
// for huma, which looks at exported fields alone.
type PageQuery struct {
	Limit  int    `query:"limit" minimum:"1" doc:"At most so many; all when absent."`
	Cursor string `query:"cursor" doc:"Where the page begins: the next_cursor of the one before. The first when absent."`
}

// cursorVersion begins every cursor. Whoever changes what cursors hold changes
// it, and those that are out in the world are refused.
const cursorVersion = "1"

// A cursor is the place of the last entry that was shown, in the order of its
// list, so that it stays good whatever is written or deleted meanwhile: what is
// there throughout lies either before it or after it. It is opaque to clients:
// the version, and then JSON in base64url of the list's name and the place.
func writeCursor(list string, place []string) string {
	raw, err := json.Marshal(append([]string{list}, place...))
	if err != nil {
		return "" // texts cannot fail
	}
	return cursorVersion + base64.RawURLEncoding.EncodeToString(raw)
}

// readCursor returns the place of a cursor of a list, of so many parts; nil for
// the beginning. Errors: a Problem.
func readCursor(list, cursor string, parts int) ([]string, error) {
	if cursor == "" {
		return nil, nil
	}
	var place []string
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor[1:])
	if cursor[:1] != cursorVersion || err != nil || json.Unmarshal(raw, &place) != nil || len(place) != parts+1 || place[0] != list {
		return nil, newProblem(wire.CodeInvalid, fmt.Sprintf(
			"the cursor %.80q is none of this list: pass next_cursor as it came, or begin without one", cursor))
	}
	return place[1:], nil
}

// pageOf cuts a page out of an ordered list: from the first entry on that lies
// after the cursor, which is the first of all when after is nil, and at most
// limit (0: all). place returns where an entry lies. next is empty on the last
// page.
func pageOf[T any](list string, all []T, limit int, after func(T) bool, place func(T) []string) (page []T, next string) {
	if after != nil {
		all = all[sort.Search(len(all), func(i int) bool { return after(all[i]) }):]
	}
	if limit <= 0 || limit >= len(all) {
		return all, ""
	}
	return all[:limit], writeCursor(list, place(all[limit-1]))
}

// The lists of memory items and skills, as their cursors name them. The tools of
// package mcp page by the same cursors.
const (
	memoryCursor = "memory"
	skillCursor  = "skills"
)

// MemoryCursor is the cursor of the items after a place.
func MemoryCursor(p state.MemoryPlace) string {
	return writeCursor(memoryCursor, append([]string{timePlace(p.CreatedAt), p.ID}, scopePlace(p.Scope)...))
}

// MemoryPlace reads a cursor of the list of memory items; nil for the empty one.
// Errors: a *wire.Problem.
func MemoryPlace(cursor string) (*state.MemoryPlace, error) {
	place, err := readCursor(memoryCursor, cursor, 5)
	if place == nil || err != nil {
		return nil, err
	}
	created, err := readTime(memoryCursor, place[0])
	if err != nil {
		return nil, err
	}
	return &state.MemoryPlace{CreatedAt: created, ID: place[1], Scope: placeScope(place[2:])}, nil
}

// SkillCursor is the cursor of the skills after a place.
func SkillCursor(p state.SkillPlace) string {
	return writeCursor(skillCursor, append([]string{p.Slug}, scopePlace(p.Scope)...))
}

// SkillPlace reads a cursor of the list of skills; nil for the empty one. Errors:
// a *wire.Problem.
func SkillPlace(cursor string) (*state.SkillPlace, error) {
	place, err := readCursor(skillCursor, cursor, 4)
	if place == nil || err != nil {
		return nil, err
	}
	return &state.SkillPlace{Slug: place[0], Scope: placeScope(place[1:])}, nil
}

// scopePlace is a scope as part of a place.
func scopePlace(s state.Scope) []string { return []string{s.Instance, s.Project, s.Workspace} }

// placeScope is the inverse of scopePlace.
func placeScope(place []string) state.Scope {
	return state.Scope{Instance: place[0], Project: place[1], Workspace: place[2]}
}

// timePlace is a time as part of a place, and readTime its inverse.
func timePlace(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func readTime(list, text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return t, newProblem(wire.CodeInvalid, fmt.Sprintf("the cursor is none of the list of %s: begin without one", list))
	}
	return t, nil
}
