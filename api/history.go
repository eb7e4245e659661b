package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

const (
	historyCursor  = "versions"
	conflictCursor = "conflicts"
)

// versionPlace is where a version of one record lies: its stamp never changes.
func versionPlace(v state.Version) []string {
	return []string{v.UpdatedHLC.String(), hex.EncodeToString(v.Hash[:])}
}

// readVersionPlace is the inverse of versionPlace. Errors: a Problem.
func readVersionPlace(place []string) (v state.Version, err error) {
	hash, errHash := hex.DecodeString(place[1])
	v.UpdatedHLC, err = hlc.Parse(place[0])
	if err != nil || errHash != nil || len(hash) != len(v.Hash) {
		return v, newProblem(wire.CodeInvalid, "the cursor is none of this list: begin without one")
	}
	copy(v.Hash[:], hash)
	return v, nil
}

// compareVersions orders the versions of one record: by stamp, and those of one
// stamp, which different writers made, somehow.
func compareVersions(a, b state.Version) int {
	return cmp.Or(a.UpdatedHLC.Compare(b.UpdatedHLC), bytes.Compare(a.Hash[:], b.Hash[:]))
}

// historyPage returns a page of the versions of a key, newest first.
func historyPage(key merge.Key, versions []state.Version, q *PageQuery) (*historyOutput, error) {
	place, err := readCursor(historyCursor, q.Cursor, 2)
	if err != nil {
		return nil, err
	}
	var after func(state.Version) bool
	if place != nil {
		last, err := readVersionPlace(place)
		if err != nil {
			return nil, err
		}
		after = func(v state.Version) bool { return compareVersions(v, last) < 0 }
	}
	slices.SortStableFunc(versions, func(a, b state.Version) int { return compareVersions(b, a) })
	page, next := pageOf(historyCursor, versions, q.Limit, after, versionPlace)
	history := wireHistory(key, page)
	history.NextCursor = next
	return &historyOutput{history}, nil
}

type conflictsInput struct{ PageQuery }

type conflictsOutput struct{ Body wire.ConflictList }

// conflicts lists the writes that lost, by key and then by the stamp of what
// lost.
func (s records) conflicts(ctx context.Context, in *conflictsInput) (*conflictsOutput, error) {
	place, err := readCursor(conflictCursor, in.Cursor, 4)
	if err != nil {
		return nil, err
	}
	var after func(state.Conflict) bool
	if place != nil {
		last, err := readVersionPlace(place[2:])
		if err != nil {
			return nil, err
		}
		after = func(c state.Conflict) bool {
			section, order := conflictKey(c)
			return cmp.Or(strings.Compare(section, place[0]), strings.Compare(order, place[1]), compareVersions(c.Loser, last)) > 0
		}
	}
	found, err := s.replica.Conflicts(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b state.Conflict) int {
		sectionA, orderA := conflictKey(a)
		sectionB, orderB := conflictKey(b)
		return cmp.Or(strings.Compare(sectionA, sectionB), strings.Compare(orderA, orderB), compareVersions(a.Loser, b.Loser))
	})
	page, next := pageOf(conflictCursor, found, in.Limit, after, func(c state.Conflict) []string {
		section, order := conflictKey(c)
		return append([]string{section, order}, versionPlace(c.Loser)...)
	})
	list := wire.ConflictList{SchemaVersion: wire.SchemaVersion, Conflicts: make([]wire.Conflict, 0, len(page)), NextCursor: next}
	for _, c := range page {
		list.Conflicts = append(list.Conflicts, wireConflict(c))
	}
	return &conflictsOutput{list}, nil
}

// conflictKey is the key of a conflict as text that is ordered as keys are.
func conflictKey(c state.Conflict) (section, order string) {
	return hex.EncodeToString([]byte(c.Key.Section().ID())), hex.EncodeToString([]byte(c.Key.Order()))
}
