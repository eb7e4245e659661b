package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

func TestOutcomesAreCountedAndReported(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	for _, body := range []string{`{"body":"b"}`, `{"body":"b","scope":{"project":"web"}}`} {
		decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/deploy", body), http.StatusOK)
	}
	decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/unused", `{"body":"b"}`), http.StatusOK)
	for _, step := range []struct{ target, body string }{
		{"/v1/skills/deploy/outcomes", `{"won":true}`},
		{"/v1/skills/deploy/outcomes", `{"won":false}`},
		{"/v1/skills/deploy/outcomes?project=web", `{"won":true}`},
		{"/v1/skills/deploy/outcomes?project=web", `{"won":true}`},
	} {
		sk := decode[wire.SkillReply](t, ask(t, h, "POST", step.target, step.body), http.StatusOK)
		if sk.Slug != "deploy" || sk.Body != nil || sk.SyncVersion != 1 {
			t.Errorf("%s gave %+v", step.target, sk)
		}
	}
	for query, want := range map[string][]string{
		"":             {"project web 2/2", "global 1/2", "global 0/0"},
		"?project=":    {"global 1/2", "global 0/0"},
		"?project=web": {"project web 2/2"},
		"?limit=1":     {"project web 2/2"},
		"?project=%01": nil,
	} {
		report := decode[wire.SkillReport](t, ask(t, h, "GET", "/v1/report"+query, ""), http.StatusOK)
		var got []string
		for _, sk := range report.Skills {
			got = append(got, fmt.Sprintf("%s %d/%d", state.Scope(sk.Scope), sk.Wins, sk.Uses))
			if sk.Confidence != state.WilsonLowerBound(sk.Wins, sk.Uses) || (len(sk.ByStore) == 1) != (sk.Uses > 0) {
				t.Errorf("evidence %+v", sk)
			}
			for _, o := range sk.ByStore {
				if o.Uses != int64(sk.Uses) || o.Slug != "deploy" || len(o.StoreID) != 32 {
					t.Errorf("outcome %+v", o)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}

func TestAnOutcomeThatNobodyCanMeanIsRefused(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	id := decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/deploy", `{"body":"b"}`), http.StatusOK).ID
	for name, test := range map[string]struct {
		method, target, body string
		want                 wire.Code
	}{
		"of nobody":            {"POST", "/v1/skills/nobody/outcomes", `{"won":true}`, wire.CodeNotFound},
		"of another scope":     {"POST", "/v1/skills/" + id + "/outcomes?project=web", `{"won":true}`, wire.CodeNotFound},
		"of no slug":           {"POST", "/v1/skills/%01/outcomes", `{"won":true}`, wire.CodeNotFound},
		"neither won nor lost": {"POST", "/v1/skills/deploy/outcomes", `{}`, wire.CodeInvalid},
		"null":                 {"POST", "/v1/skills/deploy/outcomes", `{"won":null}`, wire.CodeInvalid},
		"a text":               {"POST", "/v1/skills/deploy/outcomes", `{"won":"yes"}`, wire.CodeBadRequest},
		"a list of outcomes":   {"GET", "/v1/skills/deploy/outcomes", "", wire.CodeMethod},
		"a limit of nothing":   {"GET", "/v1/report?limit=0", "", wire.CodeBadRequest},
	} {
		t.Run(name, func(t *testing.T) { refused(t, ask(t, h, test.method, test.target, test.body), test.want) })
	}
}
