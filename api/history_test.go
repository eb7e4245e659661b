package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

// told is what a history says, newest first.
func told(h wire.History) []string {
	lines := []string{}
	for _, v := range h.Versions {
		text := ""
		switch {
		case v.Deleted:
			text = "(delete)"
		case v.Skill != nil:
			text = *v.Skill.Body
		case v.Memory != nil:
			text = v.Memory.Content
		}
		lines = append(lines, v.Standing+" "+text)
	}
	return lines
}

func TestAHistoryListsEveryVersion(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	var id string
	for _, body := range []string{`{"body":"1"}`, `{"body":"2"}`} {
		id = decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/deploy", body), http.StatusOK).ID
	}
	decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/deploy", `{"body":"web","scope":{"project":"web"}}`), http.StatusOK)
	ask(t, h, "DELETE", "/v1/skills/deploy?project=", "")
	decode[wire.MemoryReply](t, ask(t, h, "PUT", "/v1/memory/m%2Fn", `{"content":"a","scope":{"project":"web"}}`), http.StatusOK)
	decode[wire.MemoryReply](t, ask(t, h, "PUT", "/v1/memory/m%2Fn", `{"content":"b","scope":{"project":"web"}}`), http.StatusOK)
	global := []string{"head (delete)", "covered 2", "covered 1"}
	for target, want := range map[string][]string{
		"/v1/skills/" + id + "/versions":             global,
		"/v1/skills/" + id + "/versions?project=":    global,
		"/v1/skills/deploy/versions?project=":        global,
		"/v1/skills/deploy/versions?project=web":     {"head web"},
		"/v1/memory/m%2Fn/versions":                  {"head b", "covered a"},
		"/v1/memory/m%2Fn/versions?project=web":      {"head b", "covered a"},
		"/v1/memory/m%2Fn/versions?project=web&q=no": nil,
	} {
		a := ask(t, h, "GET", target, "")
		if want == nil {
			refused(t, a, wire.CodeBadRequest)
			continue
		}
		history := decode[wire.History](t, a, http.StatusOK)
		if diff := cmp.Diff(want, told(history)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
		for _, v := range history.Versions {
			if (v.CoveredAt != nil) != (v.Standing == wire.StandingCovered) || len(v.Hash) != 64 {
				t.Errorf("%s: version %+v", target, v)
			}
		}
		if key := history.Key; key != "deploy" && key != "m/n" || history.SchemaVersion != wire.SchemaVersion {
			t.Errorf("%s: history of %q, %q", target, history.Kind, key)
		}
	}
	for _, target := range []string{
		"/v1/skills/nobody/versions", "/v1/skills/nobody/versions?project=", "/v1/skills/" + id + "/versions?project=web",
		"/v1/skills/%01/versions", "/v1/skills/%01/versions?project=", "/v1/skills/deploy/versions?project=%01",
		"/v1/memory/nobody/versions", "/v1/memory/m%2Fn/versions?project=", "/v1/memory/%00/versions?project=%00",
	} {
		refused(t, ask(t, h, "GET", target, ""), wire.CodeNotFound)
	}
}
