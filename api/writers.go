package api

import (
	"context"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/state"
)

// writers serves /v1/writers: what instances have written, and undoing it.
type writers struct{ replica state.Replica }

func (s writers) register(h *handler) {
	const unpaged = "The list is whole: it is what one undoing does."
	register(h, operation{
		route: "GET /v1/writers/{id}/changes", id: "list-changes", tag: "records", summary: "What undoing an instance would do",
		text: unpaged, codes: []wire.Code{wire.CodeInvalid},
	}, s.changes)
	register(h, operation{
		route: "POST /v1/writers/{id}/revert", id: "revert-writer", tag: "records", summary: "Undo what an instance wrote",
		text:  unpaged + " When it fails, some may be done: it may be repeated.",
		codes: []wire.Code{wire.CodeInvalid, wire.CodeTooLarge, wire.CodeIncomplete, wire.CodeClock, wire.CodeDiskFull},
	}, s.revert)
}

type changesInput struct {
	ID    string `path:"id" doc:"The instance."`
	Since string `query:"since" doc:"The stamp from which on its writes count, such as 1790000000000.0; all when absent."`
}

type changesOutput struct{ Body wire.ChangeList }

func (s writers) changes(ctx context.Context, in *changesInput) (*changesOutput, error) {
	return s.undo(ctx, in, s.replica.WrittenBy)
}

func (s writers) revert(ctx context.Context, in *changesInput) (*changesOutput, error) {
	return s.undo(ctx, in, s.replica.Revert)
}

// undo answers with what do says of a writer.
func (s writers) undo(
	ctx context.Context, in *changesInput, do func(context.Context, string, hlc.Timestamp) ([]state.Change, error),
) (*changesOutput, error) {
	var since hlc.Timestamp
	if in.Since != "" {
		var err error
		if since, err = hlc.Parse(in.Since); err != nil {
			return nil, newProblem(wire.CodeInvalid, "since: "+err.Error())
		}
	}
	changes, err := do(ctx, in.ID, since)
	if err != nil {
		return nil, err
	}
	list := wire.ChangeList{
		SchemaVersion: wire.SchemaVersion, Writer: in.ID, Since: since.String(), Changes: make([]wire.Change, 0, len(changes)),
	}
	for _, c := range changes {
		change := wire.Change{
			Kind: c.Key.Kind, Key: KeyText(c.Key.ID), Scope: wireScope(c.Key.Scope),
			Outcome: string(c.Outcome), Reason: c.Reason, Was: wireVersion(c.Was),
		}
		if c.Now != nil {
			now := wireVersion(*c.Now)
			change.Now = &now
		}
		list.Changes = append(list.Changes, change)
	}
	return &changesOutput{list}, nil
}
