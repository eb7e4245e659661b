package api

import (
	"context"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/node"
)

// trust serves who belongs to the fleet, and what of them counts no more.
type trust struct{ backend Backend }

func (t trust) register(h *handler) {
	register(h, operation{
		route: "GET /v1/members", id: "list-members", tag: "fleet", summary: "The members of the fleet, by name",
		text: "A fleet has few members, so the list has no pages.",
	}, t.members)
	register(h, operation{
		route: "POST /v1/bans", id: "ban", tag: "fleet", summary: "Revoke a member, or void a range of what it wrote",
		text:  "It is for ever, and for the whole fleet. An admin bans members; the holder of the root key, admins.",
		codes: []wire.Code{wire.CodeNotFound, wire.CodeConflict, wire.CodeClock, wire.CodeDiskFull},
	}, t.ban)
	register(h, operation{
		route: "POST /v1/skills/{ref}/withdraw", id: "withdraw-skill", tag: "skills", summary: "Take a version of a skill back",
		text:  "It is for ever, and for the whole fleet: what it had replaced shows again. Admins may, and the holder of the root key.",
		codes: append(readCodes(), wire.CodeClock, wire.CodeDiskFull),
	}, t.withdraw)
}

type membersInput struct {
	All bool `query:"all" doc:"Whether those that belong to the fleet no more are listed, too."`
}

type membersOutput struct{ Body wire.MemberList }

func (t trust) members(ctx context.Context, in *membersInput) (*membersOutput, error) {
	members, err := t.backend.Members(ctx)
	if err != nil {
		return nil, err
	}
	list := wire.MemberList{SchemaVersion: wire.SchemaVersion, Members: make([]wire.Member, 0, len(members))}
	for _, m := range members {
		if in.All || !m.IsGone() {
			list.Members = append(list.Members, m)
		}
	}
	return &membersOutput{list}, nil
}

type banInput struct{ Body wire.BanRequest }

type banOutput struct{ Body wire.Ban }

func (t trust) ban(ctx context.Context, in *banInput) (*banOutput, error) {
	opts := BanOptions{Member: in.Body.Member, Note: in.Body.Note, Dry: in.Body.DryRun}
	var err error
	if opts.From, err = readStamp("from", in.Body.From); err != nil {
		return nil, err
	}
	if opts.To, err = readStamp("to", in.Body.To); err != nil {
		return nil, err
	}
	if in.Body.To != "" && opts.To.IsZero() {
		return nil, newProblem(wire.CodeInvalid, "to is zero: nothing was written by then")
	}
	out, err := t.backend.Ban(ctx, opts)
	if err != nil {
		return nil, err
	}
	out.SchemaVersion = wire.SchemaVersion
	return &banOutput{out}, nil
}

// readStamp reads a stamp that may be absent. Errors: a Problem.
func readStamp(field, text string) (stamp hlc.Timestamp, err error) {
	if text == "" {
		return stamp, nil
	}
	if stamp, err = hlc.Parse(text); err != nil {
		return stamp, newProblem(wire.CodeInvalid, field+": "+err.Error())
	}
	return stamp, nil
}

func (b nodeBackend) Ban(ctx context.Context, opts BanOptions) (wire.Ban, error) {
	out, err := b.node.Ban(ctx, opts)
	if err != nil {
		return wire.Ban{}, nodeProblem(err)
	}
	return wire.Ban{
		ID: out.ID.String(), Name: out.Name, From: out.From.String(), To: stampText(out.To), Note: out.Note, By: out.By,
		DryRun: opts.Dry, Versions: out.Versions, Statements: out.Statements, Retracted: out.Retracted, Restored: out.Restored,
		Told: append([]string{}, out.Told...), Later: append([]string{}, out.Later...),
	}, nil
}

// stampText is the text of a stamp, empty for none.
func stampText(stamp hlc.Timestamp) string {
	if stamp.IsZero() {
		return ""
	}
	return stamp.String()
}

// addRights shows what the fleet's statements say of a member.
func addRights(w *wire.Member, r *node.Rights) {
	w.Capabilities = append([]string{}, r.Capabilities...)
	w.Scopes = make([]wire.Scope, 0, len(r.Scopes))
	for _, s := range r.Scopes {
		w.Scopes = append(w.Scopes, wireScope(s))
	}
	if !r.Expires.IsZero() {
		expires := r.Expires.UTC()
		w.ExpiresAt = &expires
	}
	if r.Revoked != nil {
		revoked := revocation(r.Revoked)
		w.Revoked = &revoked
	}
	for i := range r.Voids {
		w.Voids = append(w.Voids, revocation(&r.Voids[i]))
	}
	if r.Successor != "" {
		w.SuccessorID = r.Successor.String()
	}
}

func revocation(r *node.Revoked) wire.Revocation {
	return wire.Revocation{From: r.From.String(), To: stampText(r.To), Note: r.Note, By: r.By, At: r.At.UTC()}
}
