package api

import (
	"context"
	"net/http"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/state"
)

// writers serves /v1/writers: what instances have written, and undoing it.
type writers struct{ replica state.Replica }

func (s writers) changes(r *http.Request) (reply, error) { return s.undo(r, s.replica.WrittenBy) }

func (s writers) revert(r *http.Request) (reply, error) { return s.undo(r, s.replica.Revert) }

// undo answers with what do says of a writer.
func (s writers) undo(r *http.Request, do func(context.Context, string, hlc.Timestamp) ([]state.Change, error)) (reply, error) {
	p := paramsOf(r)
	text := p.text("since")
	if err := p.done(); err != nil {
		return reply{}, err
	}
	var since hlc.Timestamp
	if text != "" {
		var err error
		if since, err = hlc.Parse(text); err != nil {
			return reply{}, newProblem(wire.CodeInvalid, "since: "+err.Error())
		}
	}
	changes, err := do(r.Context(), r.PathValue("id"), since)
	if err != nil {
		return reply{}, err
	}
	list := wire.ChangeList{
		SchemaVersion: wire.SchemaVersion, Writer: r.PathValue("id"), Since: since.String(), Changes: make([]wire.Change, 0, len(changes)),
	}
	for _, c := range changes {
		change := wire.Change{
			Kind: c.Key.Kind, Key: keyText(c.Key.ID), Scope: wireScope(c.Key.Scope),
			Outcome: string(c.Outcome), Reason: c.Reason, Was: wireVersion(c.Was),
		}
		if c.Now != nil {
			now := wireVersion(*c.Now)
			change.Now = &now
		}
		list.Changes = append(list.Changes, change)
	}
	return ok(list), nil
}
