package api

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

type withdrawInput struct {
	Ref string `path:"ref" doc:"The slug of the skill, or its id."`
	ScopeQuery
	Body wire.WithdrawRequest
}

type withdrawOutput struct{ Body wire.Withdrawal }

// withdraw takes a version of a skill back.
func (t trust) withdraw(ctx context.Context, in *withdrawInput) (*withdrawOutput, error) {
	opts := WithdrawOptions{Note: in.Body.Note}
	if version := in.Body.Version; version != "" && version != "head" {
		stamp, writer, _ := strings.Cut(version, "@")
		var err error
		if opts.Stamp, err = hlc.Parse(stamp); err != nil || writer == "" {
			return nil, newProblem(wire.CodeInvalid, fmt.Sprintf("version %.80q is neither head nor STAMP@NAME, such as 1790000000000.0@laptop", version))
		}
		opts.Writer = writer
	}
	replica := t.backend.State()
	var err error
	if _, opts.Key, err = (skills{replica: replica, library: replica.SkillLibrary()}).known(ctx, in.Ref, &in.ScopeQuery); err != nil {
		return nil, err
	}
	out, err := t.backend.Withdraw(ctx, opts)
	if err != nil {
		return nil, err
	}
	out.SchemaVersion = wire.SchemaVersion
	left, err := replica.History(ctx, opts.Key)
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return nil, err
	}
	for _, v := range left {
		if v.Standing == state.StandingHead {
			head := wireVersion(v)
			out.Head = &head
		}
	}
	return &withdrawOutput{out}, nil
}

func (b nodeBackend) Withdraw(ctx context.Context, opts WithdrawOptions) (wire.Withdrawal, error) {
	out, err := b.node.Withdraw(ctx, opts)
	if err != nil {
		return wire.Withdrawal{}, nodeProblem(err)
	}
	w := wire.Withdrawal{
		Slug: slugOf(opts.Key), Scope: wireScope(opts.Key.Scope), Note: out.Note, By: out.By,
		Versions: make([]wire.HeldVersion, 0, len(out.Versions)), Content: hex.EncodeToString(out.Content[:]),
		Retracted: out.Retracted, Restored: out.Restored,
		Told: append([]string{}, out.Told...), Later: append([]string{}, out.Later...),
	}
	for _, v := range out.Versions {
		w.Versions = append(w.Versions, wire.HeldVersion{WriterID: v.Writer.String(), Writer: b.node.NameOf(v.Writer), HLC: v.Stamp.String()})
	}
	return w, nil
}

// slugOf is the slug in the key of a skill.
func slugOf(key merge.Key) string { return strings.Join(key.ID.Components(), "/") }
