package api

import (
	"context"
	"encoding/hex"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/secrets"
	"github.com/fleetsync/fleetd/state"
)

// held serves /v1/secrets: what the gate for secrets holds back on this node.
type held struct{ replica state.Replica }

func (s held) register(h *handler) {
	codes := append(readCodes(), wire.CodeConflict, wire.CodeTooLarge, wire.CodeClock, wire.CodeDiskFull)
	register(h, operation{
		route: "GET /v1/secrets", id: "list-held", tag: "secrets",
		summary: "What is held back on this node because it holds a key or a token, by key",
	}, s.list)
	register(h, operation{
		route: "GET /v1/secrets/{kind}/{key}", id: "get-held", tag: "secrets",
		summary: "One held record: where in it the secrets are, and the record without them", codes: readCodes(),
	}, s.get)
	register(h, operation{
		route: "POST /v1/secrets/{kind}/{key}/release", id: "release-held", tag: "secrets",
		summary: "Share a held record, secrets and all",
		text:    "It becomes an ordinary record of the scope that it is meant for. The fleet keeps it, also when it is deleted later.", codes: codes,
	}, s.release)
	register(h, operation{
		route: "POST /v1/secrets/{kind}/{key}/redact", id: "redact-held", tag: "secrets",
		summary: "Share a held record without its secrets",
		text:    "Each is replaced by [redacted: RULE]. A secret in the name of a record cannot be: that is invalid.", codes: codes,
	}, s.redact)
}

type heldListOutput struct{ Body wire.HeldList }

func (s held) list(ctx context.Context, _ *struct{}) (*heldListOutput, error) {
	found, err := s.replica.Held(ctx)
	if err != nil {
		return nil, err
	}
	list := wire.HeldList{SchemaVersion: wire.SchemaVersion, Held: make([]wire.HeldRecord, 0, len(found))}
	for i := range found {
		list.Held = append(list.Held, wireHeld(&found[i]))
	}
	return &heldListOutput{list}, nil
}

// HeldPath names a held record. It is exported for huma, which looks at exported
// fields alone.
type HeldPath struct {
	Kind string `path:"kind" doc:"The kind of the record."`
	Key  string `path:"key" doc:"Its key, as in a Conflict. Without a scope it is looked for among all that is held, and has to be the only one."`
	ScopeQuery
}

type heldGetInput struct{ HeldPath }

type heldOutput struct{ Body wire.HeldDetail }

func (s held) get(ctx context.Context, in *heldGetInput) (*heldOutput, error) {
	key, err := s.find(ctx, &in.HeldPath)
	if err != nil {
		return nil, err
	}
	d, err := s.replica.ShowHeld(ctx, key)
	if err != nil {
		return nil, err
	}
	out := wire.HeldDetail{
		SchemaVersion: wire.SchemaVersion, HeldRecord: wireHeld(&d.HeldRecord), Places: make([]wire.SecretPlace, 0, len(d.Places)),
		Redacted: wireVersion(d.Redacted),
	}
	for _, p := range d.Places {
		out.Places = append(out.Places, wire.SecretPlace(p))
	}
	return &heldOutput{out}, nil
}

type heldWriteInput struct {
	HeldPath
	Body wire.HeldRequest
}

type releasedOutput struct{ Body wire.Released }

func (s held) release(ctx context.Context, in *heldWriteInput) (*releasedOutput, error) {
	return s.letOut(ctx, in, s.replica.Release)
}

func (s held) redact(ctx context.Context, in *heldWriteInput) (*releasedOutput, error) {
	return s.letOut(ctx, in, s.replica.Redact)
}

func (s held) letOut(
	ctx context.Context, in *heldWriteInput, do func(context.Context, merge.Key, merge.Hash) (state.Version, error),
) (*releasedOutput, error) {
	var hash merge.Hash
	if n, err := hex.Decode(hash[:], []byte(in.Body.Hash[:min(len(in.Body.Hash), 2*len(hash))])); err != nil || n != len(hash) || len(in.Body.Hash) != 2*n {
		return nil, newProblem(wire.CodeInvalid, "the hash is not that of a held record: 64 hexadecimal digits")
	}
	key, err := s.find(ctx, &in.HeldPath)
	if err != nil {
		return nil, err
	}
	written, err := do(ctx, key, hash)
	if err != nil {
		return nil, err
	}
	key.Scope.Instance = ""
	return &releasedOutput{wire.Released{
		SchemaVersion: wire.SchemaVersion, Kind: key.Kind, Key: KeyText(key.ID), Scope: wireScope(key.Scope), Version: wireVersion(written),
	}}, nil
}

// find returns the key of the held record that a path names. A scope in the query is
// the one that the record is meant for, or the one that it is in. Errors: a Problem.
func (s held) find(ctx context.Context, in *HeldPath) (merge.Key, error) {
	scope, scoped := in.scope()
	all, err := s.replica.Held(ctx)
	if err != nil {
		return merge.Key{}, err
	}
	var found []merge.Key
	for _, h := range all {
		if h.Key.Kind == in.Kind && KeyText(h.Key.ID) == in.Key && (!scoped || scope == h.To || scope == h.Key.Scope) {
			found = append(found, h.Key)
		}
	}
	switch len(found) {
	case 0:
		return merge.Key{}, newProblem(wire.CodeNotFound, "not found: nothing is held back under this kind and key")
	case 1:
		return found[0], nil
	}
	return merge.Key{}, newProblem(wire.CodeAmbiguous, "ambiguous: it is held in several scopes: "+scopesText(found))
}

func wireHeld(h *state.HeldRecord) wire.HeldRecord {
	what := make([]string, 0, len(h.Rules))
	for _, rule := range h.Rules {
		what = append(what, secrets.What(rule))
	}
	return wire.HeldRecord{
		Kind: h.Key.Kind, Key: KeyText(h.Key.ID), Scope: wireScope(h.To), Rules: append([]string{}, h.Rules...), What: what,
		At: h.At, Hash: hex.EncodeToString(h.Version[:]),
	}
}
