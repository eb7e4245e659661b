package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

func slugs(list wire.SkillList) []string {
	names := []string{}
	for _, sk := range list.Skills {
		names = append(names, sk.Slug)
	}
	return names
}

func contents(list wire.MemoryList) []string {
	texts := []string{}
	for _, it := range list.Items {
		texts = append(texts, it.Content)
	}
	return texts
}

func TestASkillIsCreatedReadReplacedAndDeleted(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	body := "---\nname: deploy\ndescription: How to deploy.\n---\r\nPush.\n"
	in, err := json.Marshal(wire.SkillWrite{Name: "deploy", Body: body, Tags: []string{"ops"}})
	if err != nil {
		t.Fatal(err)
	}
	created := decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/deploy", string(in)), http.StatusOK)
	want := wire.Skill{
		Slug: "deploy", Name: "deploy", Description: "How to deploy.", Version: 1, Tags: []string{"ops"},
		BodyBytes: len(body), Body: &body, Envelope: wire.Envelope{SyncVersion: 1, LastWriterID: "local", OriginInstanceID: "local"},
	}
	ignore := cmpopts.IgnoreFields(wire.Skill{}, "ID", "CreatedAt", "UpdatedAt", "Envelope.UpdatedHLC")
	if diff := cmp.Diff(want, created.Skill, ignore); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	for _, ref := range []string{"deploy", created.ID} {
		got := decode[wire.SkillReply](t, ask(t, h, "GET", "/v1/skills/"+ref, ""), http.StatusOK)
		if diff := cmp.Diff(created, got); diff != "" {
			t.Errorf("read by %s (-want +got):\n%s", ref, diff)
		}
	}
	list := decode[wire.SkillList](t, ask(t, h, "GET", "/v1/skills", ""), http.StatusOK)
	if len(list.Skills) != 1 || list.Skills[0].Body != nil || list.SchemaVersion != wire.SchemaVersion {
		t.Errorf("list %+v, want one skill without its body", list)
	}
	replaced := decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/deploy", `{"body":"new"}`), http.StatusOK)
	if replaced.Version != 2 || replaced.SyncVersion != 2 || *replaced.Body != "new" {
		t.Errorf("replaced %+v", replaced)
	}
	if a := ask(t, h, "DELETE", "/v1/skills/deploy", ""); a.status != http.StatusNoContent {
		t.Errorf("delete: status %d: %s", a.status, a.body)
	}
	refused(t, ask(t, h, "GET", "/v1/skills/deploy", ""), wire.CodeNotFound)
	refused(t, ask(t, h, "DELETE", "/v1/skills/deploy", ""), wire.CodeNotFound)
}

func TestAScopeNarrowsReadsAndDeletes(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	for _, body := range []string{
		`{"body":"everywhere"}`, `{"body":"web","scope":{"project":"web"}}`, `{"body":"mine","scope":{"instance":"i"}}`,
	} {
		decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/deploy", body), http.StatusOK)
	}
	decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/only", `{"body":"b","scope":{"project":"web"}}`), http.StatusOK)
	tests := map[string]struct {
		query string
		want  []string
	}{
		"no scope means every scope":             {"", []string{"deploy", "deploy", "deploy", "only"}},
		"a scope is exact":                       {"?project=web", []string{"deploy", "only"}},
		"an empty scope is the global one":       {"?project=", []string{"deploy"}},
		"a limit counts what the scope left":     {"?project=web&limit=1", []string{"deploy"}},
		"a query narrows further":                {"?q=mine", []string{"deploy"}},
		"a query and a scope have to match both": {"?q=mine&project=web", []string{}},
		"a scope that cannot be holds nothing":   {"?project=%01", []string{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			list := decode[wire.SkillList](t, ask(t, h, "GET", "/v1/skills"+test.query, ""), http.StatusOK)
			if diff := cmp.Diff(test.want, slugs(list)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	got := decode[wire.SkillReply](t, ask(t, h, "GET", "/v1/skills/deploy", ""), http.StatusOK)
	if *got.Body != "everywhere" {
		t.Errorf("a bare slug gave %q, want the global skill", *got.Body)
	}
	byID := decode[wire.SkillReply](t, ask(t, h, "GET", "/v1/skills/only", ""), http.StatusOK).ID
	decode[wire.SkillReply](t, ask(t, h, "GET", "/v1/skills/"+byID+"?project=web", ""), http.StatusOK)
	refused(t, ask(t, h, "GET", "/v1/skills/"+byID+"?project=other", ""), wire.CodeNotFound)
	refused(t, ask(t, h, "DELETE", "/v1/skills/deploy", ""), wire.CodeAmbiguous)
	if a := ask(t, h, "DELETE", "/v1/skills/deploy?project=web", ""); a.status != http.StatusNoContent {
		t.Errorf("delete in a scope: status %d: %s", a.status, a.body)
	}
	list := decode[wire.SkillList](t, ask(t, h, "GET", "/v1/skills?project=web", ""), http.StatusOK)
	if diff := cmp.Diff([]string{"only"}, slugs(list)); diff != "" {
		t.Errorf("after the delete (-want +got):\n%s", diff)
	}
}

func TestAStaleTokenIsAConflictWithTheStoredRecord(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	first := decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/deploy", `{"body":"1"}`), http.StatusOK)
	token, err := json.Marshal(wire.SkillWrite{Body: "2", Token: first.Token()})
	if err != nil {
		t.Fatal(err)
	}
	second := decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/deploy", string(token)), http.StatusOK)
	p := refused(t, ask(t, h, "PUT", "/v1/skills/deploy", string(token)), wire.CodeConflict)
	if p.Skill == nil || p.Skill.UpdatedHLC != second.UpdatedHLC || *p.Skill.Body != "2" {
		t.Errorf("the conflict carries %+v, want the stored skill", p.Skill)
	}
	it := decode[wire.MemoryReply](t, ask(t, h, "POST", "/v1/memory", `{"id":"m","content":"1"}`), http.StatusCreated)
	if it.ID != "m" {
		t.Errorf("id %q", it.ID)
	}
	p = refused(t, ask(t, h, "PUT", "/v1/memory/m", `{"content":"2","sync_version":7}`), wire.CodeConflict)
	if p.Memory == nil || p.Memory.Content != "1" {
		t.Errorf("the conflict carries %+v, want the stored item", p.Memory)
	}
	for name, body := range map[string]string{
		"a stamp without a version": `{"content":"2","updated_hlc":"1790000000000.0"}`,
		"a stamp that is none":      `{"content":"2","sync_version":1,"updated_hlc":"yesterday"}`,
		"a negative version":        `{"content":"2","sync_version":-1}`,
	} {
		t.Run(name, func(t *testing.T) { refused(t, ask(t, h, "PUT", "/v1/memory/m", body), wire.CodeInvalid) })
	}
}

func TestMemoryIsWrittenRecalledAndDeleted(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	for _, body := range []string{
		`{"kind":"fact","content":"tabs","source":"chat 1"}`,
		`{"kind":"preference","content":"short answers"}`,
		`{"kind":"fact","content":"port 8080","scope":{"project":"web"}}`,
	} {
		it := decode[wire.MemoryReply](t, ask(t, h, "POST", "/v1/memory", body), http.StatusCreated)
		got := decode[wire.MemoryReply](t, ask(t, h, "GET", "/v1/memory/"+it.ID, ""), http.StatusOK)
		if diff := cmp.Diff(it, got); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
	}
	for query, want := range map[string][]string{
		"":                            {"port 8080", "short answers", "tabs"},
		"?q=TAB":                      {"tabs"},
		"?q=chat":                     {"tabs"},
		"?kind=fact":                  {"port 8080", "tabs"},
		"?kind=fact&limit=1":          {"port 8080"},
		"?limit=2":                    {"port 8080", "short answers"},
		"?workspace=":                 {"short answers", "tabs"},
		"?project=web":                {"port 8080"},
		"?project=web&kind=other":     {},
		"?instance=&kind=fact&q=tabs": {"tabs"},
	} {
		list := decode[wire.MemoryList](t, ask(t, h, "GET", "/v1/memory"+query, ""), http.StatusOK)
		if diff := cmp.Diff(want, contents(list)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	for method, path := range map[string]string{"POST": "/v1/memory", "PUT": "/v1/memory/kindless"} {
		written := ask(t, h, method, path, `{"content":"of no kind"}`)
		var it wire.MemoryReply
		if err := json.Unmarshal([]byte(written.body), &it); err != nil || it.Kind != "note" {
			t.Errorf("%s without a kind: %s", method, written.body)
		}
	}
	refused(t, ask(t, h, "PUT", "/v1/memory/a", `{"id":"b","content":"x"}`), wire.CodeInvalid)
	decode[wire.MemoryReply](t, ask(t, h, "PUT", "/v1/memory/a", `{"content":"x","scope":{"project":"p"}}`), http.StatusOK)
	refused(t, ask(t, h, "PUT", "/v1/memory/a", `{"content":"x"}`), wire.CodeInvalid)
	refused(t, ask(t, h, "DELETE", "/v1/memory/a?project=other", ""), wire.CodeNotFound)
	if a := ask(t, h, "DELETE", "/v1/memory/a?project=p", ""); a.status != http.StatusNoContent {
		t.Errorf("delete: status %d: %s", a.status, a.body)
	}
	refused(t, ask(t, h, "GET", "/v1/memory/a?project=p", ""), wire.CodeNotFound)
}

func TestEveryIDCanBeAddressed(t *testing.T) {
	b := newBackend(t)
	h := api.NewHandler(b, api.Config{})
	for _, id := range []string{
		"a/b", "../x", "a b", "a%2Fb", "50%", "a?b=c#d", "技能", "ü", "a+b", "//", `a\b`, "/", ".", "..", "...", "a//b", "a/", "/a", "/.", "./..", "a/../b", "%2F", "%00", "a;b", strings.Repeat("x", 256),
	} {
		path := "/v1/memory/" + strings.ReplaceAll(url.PathEscape(id), ".", "%2E")
		in, err := json.Marshal(wire.MemoryWrite{Content: "of " + id})
		if err != nil {
			t.Fatal(err)
		}
		if id == "." || id == ".." { // the API makes none such, and other programs do
			refused(t, ask(t, h, "PUT", path, string(in)), wire.CodeInvalid)
			if _, err := b.state.Memory().Write(t.Context(), state.MemoryItem{ID: id, Content: "of " + id}); err != nil {
				t.Fatal(err)
			}
		} else {
			decode[wire.MemoryReply](t, ask(t, h, "PUT", path, string(in)), http.StatusOK)
		}
		got := decode[wire.MemoryReply](t, ask(t, h, "GET", path, ""), http.StatusOK)
		if got.ID != id || got.Content != "of "+id {
			t.Errorf("%q gave item %q of content %q", id, got.ID, got.Content)
		}
		if a := ask(t, h, "DELETE", path, ""); a.status != http.StatusNoContent {
			t.Errorf("%q: delete: status %d", id, a.status)
		}
		versions := decode[wire.History](t, ask(t, h, "GET", path+"/versions", ""), http.StatusOK)
		same := decode[wire.History](t, ask(t, h, "GET", strings.Replace(path, "/memory/", "/records/memory/", 1)+"/versions", ""), http.StatusOK)
		if diff := cmp.Diff(versions, same); diff != "" || len(versions.Versions) != 2 {
			t.Errorf("%q: %d versions, by the path of records (-memory +records):\n%s", id, len(versions.Versions), diff)
		}
		if got := refused(t, ask(t, h, "GET", path, ""), wire.CodeNotFound); !strings.Contains(got.Detail, fmt.Sprintf("%.60q", id)) {
			t.Errorf("%q: %s", id, got.Detail)
		}
	}
}

// TestWhatIsNoPathIsStillNone although an id may be an escaped slash.
func TestWhatIsNoPathIsStillNone(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	for _, path := range []string{
		"/v1/memory/", "/v1/memory//versions", "/v1/memory/../skills", "/v1/memory/.", "/%2F/memory", "/v1/%2F/x", "/v1/memory/a/%2F", "//v1/memory",
	} {
		refused(t, ask(t, h, "GET", path, ""), wire.CodeNoRoute)
	}
	refused(t, ask(t, h, "PATCH", "/v1/memory/%2F", ""), wire.CodeMethod)
}
