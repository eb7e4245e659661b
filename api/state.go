package api

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// whole serves /v1/state.
type whole struct{ replica state.Replica }

// export answers with the snapshot itself, to the letter.
func (s whole) export(r *http.Request) (reply, error) {
	if err := paramsOf(r).done(); err != nil {
		return reply{}, err
	}
	exported, err := s.replica.Export(r.Context())
	if err != nil {
		return reply{}, err
	}
	payload, err := state.MarshalSnapshot(exported)
	return reply{raw: payload}, err
}

func (s whole) importing(w http.ResponseWriter, r *http.Request) (reply, error) {
	var in wire.ImportRequest
	_, err := readBodyMax(w, r, &in, wire.ImportBytesMax)
	if err := errors.Join(paramsOf(r).done(), err); err != nil {
		return reply{}, err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(in.Snapshot), []byte("{")) {
		return reply{}, newProblem(wire.CodeInvalid, "the field snapshot holds no snapshot")
	}
	snapshot, err := state.UnmarshalSnapshot(in.Snapshot)
	if err != nil {
		return reply{}, err
	}
	result, err := s.replica.Import(r.Context(), snapshot, in.DryRun)
	if err != nil {
		return reply{}, err
	}
	out := wire.ImportReply{
		SchemaVersion: wire.SchemaVersion, DryRun: in.DryRun,
		Sessions: wire.ImportCounts(result.Sessions), Turns: wire.ImportCounts(result.Turns),
		Skills: wire.ImportCounts(result.Skills), Items: wire.ImportCounts(result.Items),
		Refused: make([]wire.ImportRefusal, 0, len(result.Refused)),
	}
	for _, refusal := range result.Refused {
		out.Refused = append(out.Refused, wire.ImportRefusal{
			Kind: refusal.Key.Kind, Key: keyText(refusal.Key.ID), Scope: wireScope(refusal.Key.Scope),
			Reason: strings.Replace(refusal.Reason, "state: ", "", 1),
		})
	}
	return ok(out), nil
}
