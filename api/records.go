package api

import (
	"encoding/hex"
	"fmt"
	"net/http"
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

func (s records) history(r *http.Request) (reply, error) {
	key, versions, err := s.read(r)
	if err != nil {
		return reply{}, err
	}
	return ok(wireHistory(key, versions)), nil
}

func (s records) keep(r *http.Request) (reply, error) {
	key, versions, err := s.read(r)
	if err != nil {
		return reply{}, err
	}
	head := versions[slices.IndexFunc(versions, func(v state.Version) bool { return v.Standing == state.StandingHead })]
	kept, err := s.replica.Keep(r.Context(), key)
	if err != nil {
		return reply{}, err
	}
	return ok(settled(key, versions, head, kept)), nil
}

func (s records) restore(w http.ResponseWriter, r *http.Request) (reply, error) {
	var in wire.RestoreRequest
	if _, err := readBody(w, r, &in); err != nil {
		return reply{}, err
	}
	key, versions, err := s.read(r)
	if err != nil {
		return reply{}, err
	}
	from, err := versionOf(versions, in.Hash)
	if err != nil {
		return reply{}, err
	}
	restored, err := s.replica.Restore(r.Context(), key, from.Hash)
	if err != nil {
		return reply{}, err
	}
	return ok(settled(key, versions, from, restored)), nil
}

func settled(key merge.Key, before []state.Version, from, now state.Version) wire.Settled {
	return wire.Settled{
		SchemaVersion: wire.SchemaVersion, Kind: key.Kind, Key: keyText(key.ID), Scope: wireScope(key.Scope),
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
func (s records) read(r *http.Request) (merge.Key, []state.Version, error) {
	p := paramsOf(r)
	scope, scoped := p.scope()
	if err := p.done(); err != nil {
		return merge.Key{}, nil, err
	}
	kind, text := r.PathValue("kind"), r.PathValue("key")
	var keys []merge.Key
	for _, id := range parseKey(kind, text) {
		found, err := s.replica.Keys(r.Context(), kind, id)
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
		versions, err := s.replica.History(r.Context(), key)
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

// parseKey is the inverse of keyText. How many parts a key has is known of the
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
