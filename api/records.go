package api

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// records serves /v1/records: records of any kind by their key, as far as
// settling them goes.
type records struct{ replica state.Replica }

func (s records) register(h *handler) {
	settleCodes := append(readCodes(), wire.CodeTooLarge, wire.CodeClock, wire.CodeDiskFull)
	register(h, operation{
		route: "GET /v1/conflicts", id: "list-conflicts", tag: "records",
		summary: "The writes that lost to a concurrent one and that nobody has settled, by key", codes: []wire.Code{wire.CodeInvalid},
	}, s.conflicts)
	register(h, operation{
		route: "GET /v1/records/{kind}/{key}/versions", id: "list-versions", tag: "records",
		summary: "Every version that the node has of a record of any kind, newest first", codes: readCodes(),
	}, s.history)
	register(h, operation{
		route: "POST /v1/records/{kind}/{key}/keep", id: "keep-record", tag: "records",
		summary: "Settle the conflicts of a record: its head stays", codes: settleCodes,
	}, s.keep)
	register(h, operation{
		route: "POST /v1/records/{kind}/{key}/restore", id: "restore-record", tag: "records",
		summary: "Write one of the versions of a record anew", codes: settleCodes,
	}, s.restore)
}

// RecordPath names a record of any kind. It is exported for huma, which looks
// at exported fields alone.
type RecordPath struct {
	Kind string `path:"kind" doc:"The kind of the record."`
	Key  string `path:"key" doc:"Its key, as in a Conflict. Without a scope it is looked for in all: the only one counts, else the only one that is in conflict."`
	ScopeQuery
}

type recordHistoryInput struct {
	RecordPath
	PageQuery
}

type historyOutput struct{ Body wire.History }

func (s records) history(ctx context.Context, in *recordHistoryInput) (*historyOutput, error) {
	key, versions, err := s.read(ctx, &in.RecordPath)
	if err != nil {
		return nil, err
	}
	return historyPage(key, versions, &in.PageQuery)
}

type recordInput struct{ RecordPath }

type settledOutput struct{ Body wire.Settled }

func (s records) keep(ctx context.Context, in *recordInput) (*settledOutput, error) {
	key, versions, err := s.read(ctx, &in.RecordPath)
	if err != nil {
		return nil, err
	}
	head := versions[slices.IndexFunc(versions, func(v state.Version) bool { return v.Standing == state.StandingHead })]
	kept, err := s.replica.Keep(ctx, key)
	if err != nil {
		return nil, err
	}
	return &settledOutput{settled(key, versions, head, kept)}, nil
}

type restoreInput struct {
	RecordPath
	Body wire.RestoreRequest
}

func (s records) restore(ctx context.Context, in *restoreInput) (*settledOutput, error) {
	key, versions, err := s.read(ctx, &in.RecordPath)
	if err != nil {
		return nil, err
	}
	from, err := versionOf(versions, in.Body.Hash)
	if err != nil {
		return nil, err
	}
	restored, err := s.replica.Restore(ctx, key, from.Hash)
	if err != nil {
		return nil, err
	}
	return &settledOutput{settled(key, versions, from, restored)}, nil
}

func settled(key merge.Key, before []state.Version, from, now state.Version) wire.Settled {
	return wire.Settled{
		SchemaVersion: wire.SchemaVersion, Kind: key.Kind, Key: KeyText(key.ID), Scope: wireScope(key.Scope),
		From: wireVersion(from), Version: wireVersion(now),
		Written: !slices.ContainsFunc(before, func(v state.Version) bool { return v.Hash == now.Hash }),
	}
}

// versionOf returns the one version whose hash begins so. Errors: a Problem.
func versionOf(versions []state.Version, prefix string) (state.Version, error) {
	const digits = 2 * len(merge.Hash{})
	prefix = strings.ToLower(prefix)
	if prefix == "" || len(prefix) > digits || strings.Trim(prefix, "0123456789abcdef") != "" {
		return state.Version{}, newProblem(wire.CodeInvalid, fmt.Sprintf("the hash %.80q is not 1 to %d hexadecimal digits", prefix, digits))
	}
	var found []state.Version
	for _, v := range versions {
		if strings.HasPrefix(hex.EncodeToString(v.Hash[:]), prefix) {
			found = append(found, v)
		}
	}
	switch len(found) {
	case 0:
		return state.Version{}, newProblem(wire.CodeNotFound, fmt.Sprintf(
			"not found: a version whose hash begins with %s: a history keeps only so many versions of a record, and another node may still have it", prefix))
	case 1:
		return found[0], nil
	}
	return state.Version{}, newProblem(wire.CodeAmbiguous, fmt.Sprintf("ambiguous: the hashes of %d versions begin with %s", len(found), prefix))
}

// read finds the record that a path names, and returns all its versions, at
// least one. With a scope in the query it is that of exactly this scope. Without
// one it is the only one in all scopes, else the only one that is in conflict.
// Errors: a Problem, those of package state.
func (s records) read(ctx context.Context, in *RecordPath) (merge.Key, []state.Version, error) {
	scope, scoped := in.scope()
	kind, text := in.Kind, in.Key
	var keys []merge.Key
	for _, id := range parseKey(kind, text) {
		found, err := s.replica.Keys(ctx, kind, id)
		if err != nil {
			return merge.Key{}, nil, err
		}
		keys = append(keys, found...)
	}
	if scoped {
		keys = slices.DeleteFunc(keys, func(k merge.Key) bool { return k.Scope != scope })
	}
	var all [][]state.Version
	for _, key := range keys {
		versions, err := s.replica.History(ctx, key)
		if err != nil {
			return merge.Key{}, nil, err
		}
		all = append(all, versions)
	}
	i := 0
	if len(keys) > 1 {
		i = onlyConflict(all)
	}
	switch what := fmt.Sprintf("%.64s %.60q", kind, text); {
	case len(keys) == 0 && scoped:
		return merge.Key{}, nil, newProblem(wire.CodeNotFound, fmt.Sprintf("not found: %s in scope %s", what, scope))
	case len(keys) == 0:
		return merge.Key{}, nil, newProblem(wire.CodeNotFound, "not found: "+what)
	case i < 0:
		return merge.Key{}, nil, newProblem(wire.CodeAmbiguous, fmt.Sprintf("ambiguous: %s is in several scopes: %s", what, scopesText(keys)))
	}
	return keys[i], all[i], nil
}

// onlyConflict returns which one of several records is in conflict; -1 for none
// and for several.
func onlyConflict(all [][]state.Version) int {
	only := -1
	for i, versions := range all {
		if !slices.ContainsFunc(versions, func(v state.Version) bool { return v.Standing == state.StandingConflict }) {
			continue
		}
		if only >= 0 {
			return -1
		}
		only = i
	}
	return only
}

func scopesText(keys []merge.Key) string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.Scope.String()
	}
	return strings.Join(names, "; ")
}

// parseKey is the inverse of KeyText. How many parts a key has is known of the
// kinds that this build knows; of others a text with slashes may be either.
func parseKey(kind, text string) []merge.ID {
	if strings.ContainsRune(text, 0) {
		return nil // it divides the parts of an id
	}
	whole := merge.NewID(text)
	parts := strings.Split(text, "/")
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil || strings.ContainsRune(plain, 0) {
			return []merge.ID{whole}
		}
		parts[i] = plain
	}
	switch divided := merge.NewID(parts...); {
	case kind == "session.turn", kind == "skill.outcome":
		return []merge.ID{divided}
	case kind == "skill", kind == "memory", kind == "session", len(parts) == 1:
		return []merge.ID{whole}
	default:
		return []merge.ID{whole, divided}
	}
}
