package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// TestAStateIsExportedAndImported also holds that an export is what package
// state makes of it, to the letter.
func TestAStateIsExportedAndImported(t *testing.T) {
	from := newBackend(t)
	h := api.NewHandler(from, api.Config{})
	decode[wire.SessionReply](t, ask(t, h, "POST", "/v1/sessions", `{"id":"s","title":"<&>"}`), http.StatusCreated)
	decode[wire.TurnReply](t, ask(t, h, "POST", "/v1/sessions/s/turns", `{"role":"user","content":"why?"}`), http.StatusCreated)
	decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/Deploy", `{"body":"b","tags":["a"]}`), http.StatusOK)
	decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/deploy", `{"body":"b","scope":{"project":"p"}}`), http.StatusOK)
	decode[wire.MemoryReply](t, ask(t, h, "POST", "/v1/memory", `{"content":"c"}`), http.StatusCreated)
	a := ask(t, h, "GET", "/v1/state", "")
	exported, err := from.state.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := state.MarshalSnapshot(exported)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want)+"\n", a.body); diff != "" || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	to := api.NewHandler(newBackend(t), api.Config{})
	exported.SlugToID = nil // two of its names are one to a reader that knows no case
	part, err := state.MarshalSnapshot(exported)
	if err != nil {
		t.Fatal(err)
	}
	importing := func(dryRun bool) wire.ImportReply {
		body, err := json.Marshal(wire.ImportRequest{DryRun: dryRun, Snapshot: part})
		if err != nil {
			t.Fatal(err)
		}
		return decode[wire.ImportReply](t, ask(t, to, "POST", "/v1/state", string(body)), http.StatusOK)
	}
	one, two := wire.ImportCounts{Created: 1}, wire.ImportCounts{Created: 2}
	all := wire.ImportReply{SchemaVersion: wire.SchemaVersion, Sessions: one, Turns: one, Skills: two, Items: one, Refused: []wire.ImportRefusal{}}
	dry := all
	dry.DryRun = true
	again := wire.ImportReply{
		SchemaVersion: wire.SchemaVersion, Refused: []wire.ImportRefusal{},
		Sessions: wire.ImportCounts{Equal: 1}, Turns: wire.ImportCounts{Equal: 1}, Skills: wire.ImportCounts{Equal: 2}, Items: wire.ImportCounts{Equal: 1},
	}
	for _, step := range []struct {
		dryRun bool
		want   wire.ImportReply
	}{{true, dry}, {false, all}, {false, again}} {
		if diff := cmp.Diff(step.want, importing(step.dryRun)); diff != "" {
			t.Errorf("dry run %t (-want +got):\n%s", step.dryRun, diff)
		}
	}
}

func TestAStateThatIsNoneIsRefused(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	for name, test := range map[string]struct {
		body string
		want wire.Code
	}{
		"no snapshot":           {`{}`, wire.CodeInvalid},
		"null":                  {`{"snapshot":null}`, wire.CodeInvalid},
		"a text":                {`{"snapshot":"{}"}`, wire.CodeInvalid},
		"a number for a list":   {`{"snapshot":{"skills":1}}`, wire.CodeInvalid},
		"a stamp of nobody":     {`{"snapshot":{"skills":[{"UpdatedHLC":"x"}]}}`, wire.CodeInvalid},
		"half a pair":           {`{"snapshot":{"items":[{"Content":"\ud800"}]}}`, wire.CodeInvalid},
		"a field twice":         {`{"snapshot":{"items":[{"ID":"a","ID":"b"}]}}`, wire.CodeBadRequest},
		"an unknown field":      {`{"snapshot":{},"force":true}`, wire.CodeBadRequest},
		"more than one request": {`{"snapshot":{"items":[{"Content":"` + strings.Repeat("x", wire.ImportBytesMax) + `"}]}}`, wire.CodeTooLarge},
	} {
		t.Run(name, func(t *testing.T) { refused(t, ask(t, h, "POST", "/v1/state", test.body), test.want) })
	}
	refused(t, ask(t, h, "GET", "/v1/state?q=x", ""), wire.CodeBadRequest)
	reply := decode[wire.ImportReply](t, ask(t, h, "POST", "/v1/state", `{"snapshot":{"skills":[{"Slug":"../x"}],"turns":[{"SessionID":"s","ID":"a/b","Seq":1}]}}`), http.StatusOK)
	want := []wire.ImportRefusal{
		{Kind: "session.turn", Key: "s/a%2Fb", Reason: "invalid: its session is not in the snapshot"},
		{Kind: "skill", Key: "../x"},
	}
	if len(reply.Refused) == 2 {
		want[1].Reason = reply.Refused[1].Reason
	}
	if diff := cmp.Diff(want, reply.Refused); diff != "" || reply.Skills.Refused != 1 || reply.Turns.Refused != 1 {
		t.Errorf("%+v (-want +got):\n%s", reply, diff)
	}
}
