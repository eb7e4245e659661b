package api

import (
	"bytes"
	"context"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// whole serves /v1/state.
type whole struct{ replica state.Replica }

func (s whole) register(h *handler) {
	snapshot := &huma.Schema{Type: huma.TypeObject, Description: "A snapshot in the form of package state.", AdditionalProperties: true}
	register(h, operation{
		route: "GET /v1/state", id: "export-state", tag: "state", summary: "Everything that the node holds, as one snapshot",
		text:  "It is whole, as of one moment, and so it has no pages.",
		codes: []wire.Code{wire.CodeIncomplete},
		responses: map[string]*huma.Response{"200": {
			Description: "The snapshot.", Content: map[string]*huma.MediaType{"application/json": {Schema: snapshot}},
		}},
	}, s.export)
	register(h, operation{
		route: "POST /v1/state", id: "import-state", tag: "state", summary: "Write what a part of a snapshot holds live",
		text:     "It deletes nothing, and doing it twice changes nothing the second time.",
		bytesMax: wire.ImportBytesMax, codes: writeCodes(),
	}, s.importing)
}

type exportOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// export answers with the snapshot itself, to the letter.
func (s whole) export(ctx context.Context, _ *struct{}) (*exportOutput, error) {
	exported, err := s.replica.Export(ctx)
	if err != nil {
		return nil, err
	}
	payload, err := state.MarshalSnapshot(exported)
	if err != nil {
		return nil, err
	}
	return &exportOutput{"application/json", append(payload, '\n')}, nil
}

type importInput struct{ Body wire.ImportRequest }

type importOutput struct{ Body wire.ImportReply }

func (s whole) importing(ctx context.Context, in *importInput) (*importOutput, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(in.Body.Snapshot), []byte("{")) {
		return nil, newProblem(wire.CodeInvalid, "the field snapshot holds no snapshot")
	}
	snapshot, err := state.UnmarshalSnapshot(in.Body.Snapshot)
	if err != nil {
		return nil, err
	}
	result, err := s.replica.Import(ctx, snapshot, in.Body.DryRun)
	if err != nil {
		return nil, err
	}
	out := wire.ImportReply{
		SchemaVersion: wire.SchemaVersion, DryRun: in.Body.DryRun,
		Sessions: wire.ImportCounts(result.Sessions), Turns: wire.ImportCounts(result.Turns),
		Skills: wire.ImportCounts(result.Skills), Items: wire.ImportCounts(result.Items),
		Held: result.Held, Refused: make([]wire.ImportRefusal, 0, len(result.Refused)),
	}
	for _, refusal := range result.Refused {
		out.Refused = append(out.Refused, wire.ImportRefusal{
			Kind: refusal.Key.Kind, Key: KeyText(refusal.Key.ID), Scope: wireScope(refusal.Key.Scope),
			Reason: strings.Replace(refusal.Reason, "state: ", "", 1),
		})
	}
	return &importOutput{out}, nil
}
