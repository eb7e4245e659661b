package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

func TestEveryErrorIsAProblem(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	big := `{"content":"` + strings.Repeat("x", wire.RequestBytesMax) + `"}`
	tests := map[string]struct {
		method, target, body string
		want                 wire.Code
	}{
		"an unknown path":                  {"GET", "/v1/skill", "", wire.CodeNoRoute},
		"the root":                         {"GET", "/", "", wire.CodeNoRoute},
		"a page of documentation":          {"GET", "/docs", "", wire.CodeNoRoute},
		"a description in another form":    {"GET", "/openapi.yaml", "", wire.CodeNoRoute},
		"a schema by itself":               {"GET", "/schemas/Skill.json", "", wire.CodeNoRoute},
		"a path that is not clean":         {"GET", "/v1//skills", "", wire.CodeNoRoute},
		"a path with dots":                 {"GET", "/v1/skills/../status", "", wire.CodeNoRoute},
		"a path with a slash at its end":   {"GET", "/v1/skills/", "", wire.CodeNoRoute},
		"a method that a path lacks":       {"POST", "/v1/status", "", wire.CodeMethod},
		"a method that nobody knows":       {"BREW", "/v1/skills/x", "", wire.CodeMethod},
		"a parameter that a path lacks":    {"GET", "/v1/skills?scope=web", "", wire.CodeBadRequest},
		"a parameter where none is taken":  {"GET", "/v1/status?x=1", "", wire.CodeBadRequest},
		"a parameter twice":                {"GET", "/v1/skills?q=a&q=b", "", wire.CodeBadRequest},
		"a query that cannot be read":      {"GET", "/v1/skills?q=%zz", "", wire.CodeBadRequest},
		"a limit that is no number":        {"GET", "/v1/skills?limit=many", "", wire.CodeBadRequest},
		"a limit of nothing":               {"GET", "/v1/memory?limit=0", "", wire.CodeBadRequest},
		"a parameter that is not UTF-8":    {"GET", "/v1/skills?q=%ff", "", wire.CodeInvalid},
		"a slug that is not UTF-8":         {"PUT", "/v1/skills/%ff", `{"body":"x"}`, wire.CodeInvalid},
		"a slug that is a path":            {"PUT", "/v1/skills/%2E%2E%2Fx", `{"body":"x"}`, wire.CodeInvalid},
		"a body that is no JSON":           {"POST", "/v1/memory", `content=x`, wire.CodeBadRequest},
		"a body that is no object":         {"POST", "/v1/memory", `[1]`, wire.CodeBadRequest},
		"a body of two objects":            {"POST", "/v1/memory", `{"content":"x"}{}`, wire.CodeBadRequest},
		"a body with an unknown field":     {"POST", "/v1/memory", `{"text":"x"}`, wire.CodeBadRequest},
		"a body beyond the limit":          {"POST", "/v1/memory", big, wire.CodeTooLarge},
		"content beyond the limit":         {"POST", "/v1/memory", `{"content":"` + strings.Repeat("x", wire.TextBytesMax+1) + `"}`, wire.CodeTooLarge},
		"a body that is null":              {"PUT", "/v1/skills/zz", `null`, wire.CodeBadRequest},
		"a body that is a text":            {"POST", "/v1/invitations", `"{}"`, wire.CodeBadRequest},
		"a slug of a device":               {"PUT", "/v1/skills/CON", `{"body":"x"}`, wire.CodeInvalid},
		"a slug of white space":            {"PUT", "/v1/skills/%20", `{"body":"x"}`, wire.CodeInvalid},
		"a slug that turns its letters":    {"PUT", "/v1/skills/a%E2%80%AEb", `{"body":"x"}`, wire.CodeInvalid},
		"a skill without a body":           {"PUT", "/v1/skills/zz", `{}`, wire.CodeInvalid},
		"a skill with null for a body":     {"PUT", "/v1/skills/zz", `{"body":null}`, wire.CodeInvalid},
		"a field twice":                    {"POST", "/v1/memory", `{"content":"x","content":"y"}`, wire.CodeBadRequest},
		"a field twice, in other letters":  {"POST", "/v1/memory", `{"content":"x","CONTENT":"y"}`, wire.CodeBadRequest},
		"a field twice, escaped":           {"POST", "/v1/memory", `{"content":"x","c\u006fntent":"y"}`, wire.CodeBadRequest},
		"a field twice, deep inside":       {"POST", "/v1/invitations", `{"scopes":[{"project":"a"},{"project":"b","project":"c"}]}`, wire.CodeBadRequest},
		"a body that is nested deep":       {"POST", "/v1/memory", `{"content":` + strings.Repeat("[", 1<<18), wire.CodeBadRequest},
		"a body that is missing":           {"POST", "/v1/memory", "", wire.CodeMediaType},
		"a skill of nobody":                {"GET", "/v1/skills/nobody", "", wire.CodeNotFound},
		"a token for a skill of nobody":    {"PUT", "/v1/skills/nobody", `{"body":"x","sync_version":3}`, wire.CodeConflict},
		"an invitation of negative length": {"POST", "/v1/invitations", `{"ttl_seconds":-1}`, wire.CodeInvalid},
		"an invitation beyond a duration":  {"POST", "/v1/invitations", `{"ttl_seconds":9000000000000000000}`, wire.CodeInvalid},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			refused(t, ask(t, h, test.method, test.target, test.body), test.want)
		})
	}
}

func TestErrorsOfTheNodeKeepTheirCode(t *testing.T) {
	b := newBackend(t)
	h := api.NewHandler(b, api.Config{})
	tests := map[string]struct {
		err  error
		want wire.Code
	}{
		"a problem":     {&wire.Problem{Type: "t", Title: "t", Status: http.StatusForbidden, Detail: "d", Code: wire.CodeDenied}, wire.CodeDenied},
		"denied":        {state.ErrDenied, wire.CodeDenied},
		"a full disk":   {fmt.Errorf("node: keep an invitation: %w: 7 bytes free in /data", store.ErrFull), wire.CodeDiskFull},
		"a wrong clock": {clockAhead(), wire.CodeClock},
		"a time-out":    {context.DeadlineExceeded, wire.CodeTimeout},
		"a stop":        {context.Canceled, wire.CodeUnavailable},
		"anything new":  {errors.New("disk 7 says secret"), wire.CodeInternal},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b.err = test.err
			p := refused(t, ask(t, h, "GET", "/v1/status", ""), test.want)
			if strings.Contains(p.Detail, "secret") {
				t.Errorf("detail %q tells what only the log may", p.Detail)
			}
		})
	}
	b.err = errors.New("still starting")
	refused(t, ask(t, h, "POST", "/v1/invitations", `{}`), wire.CodeInternal)
	ready := decode[wire.Health](t, ask(t, h, "GET", "/readyz", ""), http.StatusServiceUnavailable)
	if ready.OK || ready.Checks[0].OK || !ready.Checks[1].OK {
		t.Errorf("ready: %+v, want the check of the node to fail", ready)
	}
	decode[wire.Health](t, ask(t, h, "GET", "/livez", ""), http.StatusOK)
}

// clockAhead is the error of a clock that was set back by an hour.
func clockAhead() error {
	_, err := hlc.NewClock(time.Now, hlc.Timestamp{Wall: time.Now().Add(time.Hour).UnixMilli()}).Now()
	return fmt.Errorf("state: stamp: %w", err)
}

// panicking panics wherever it is asked.
type panicking struct{ *backend }

func (panicking) Status(context.Context) (wire.Status, error) { panic("broken") }

func TestAPanicIsAProblem(t *testing.T) {
	h := api.NewHandler(panicking{newBackend(t)}, api.Config{})
	refused(t, ask(t, h, "GET", "/v1/status", ""), wire.CodeInternal)
}

func TestTextThatJSONWouldAlterIsRefused(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	for name, content := range map[string]string{
		"a byte that is not UTF-8":    "a\xffb",
		"a surrogate in UTF-8":        "\xed\xa0\x80",
		"the first half of a pair":    `\ud83d`,
		"the second half of a pair":   `\ude00`,
		"two first halves":            `\ud83d\ud83d`,
		"a half before other escapes": `\ud83d\n`,
		"a half after a backslash":    `\\\udc00`,
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, ask(t, h, "POST", "/v1/memory", `{"content":"`+content+`"}`), wire.CodeInvalid)
		})
	}
	for content, want := range map[string]string{
		`\ud83d\ude00`: "😀", `\\ud83d`: `\ud83d`, `\u00e9`: "é", `\"\\`: `"\`, "\ufffd": "\ufffd", `a\u2028`: "a\u2028",
	} {
		it := decode[wire.MemoryReply](t, ask(t, h, "POST", "/v1/memory", `{"content":"`+content+`"}`), http.StatusCreated)
		if it.Content != want {
			t.Errorf("%s was stored as %q, want %q", content, it.Content, want)
		}
	}
}

func TestABodyOfAnotherMediaTypeIsRefused(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=\""} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/memory", strings.NewReader(`{"content":"x"}`))
		request.Header.Set("Content-Type", media)
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		refused(t, answer{recorder.Code, recorder.Header(), recorder.Body.String()}, wire.CodeMediaType)
	}
}

// What huma finds wrong names the field and says what was expected, as our own
// checks do.
func TestAProblemSaysWhatWasExpectedWhere(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	for _, test := range []struct{ method, target, body, want string }{
		{"GET", "/v1/skills?limit=0", "", `parameter limit is "0": expected number >= 1`},
		{"GET", "/v1/skills?limit=many", "", `parameter limit is "many": invalid integer`},
		{"GET", "/v1/sessions/s/turns?after=-1", "", `parameter after is "-1": expected number >= 0`},
		{"GET", "/v1/skills?scope=web", "", `unknown parameter "scope"; this path takes: q, instance, project, workspace, limit, cursor`},
		{"GET", "/v1/status?x=1", "", `unknown parameter "x"; this path takes: none`},
		{"GET", "/v1/skills?q=a&q=b", "", `parameter q is given 2 times`},
		{"POST", "/v1/memory", `{"text":"x"}`, notTheObject + `: unknown field "text"; it takes: id, kind, content, scope, source, sync_version, updated_hlc, last_writer_id, must_not_exist`},
		{"POST", "/v1/memory", `{"content":"x","scope":{"area":"y"}}`, notTheObject + `: unknown field "scope.area"`},
		{"POST", "/v1/memory", `{}`, `the field "content" is missing`},
		{"POST", "/v1/memory", `{"content":null}`, `the field "content" is null, which is no value: expected string`},
		{"POST", "/v1/memory", `{"content":7}`, notTheObject + `: field "content": expected string`},
		{"POST", "/v1/memory", `[]`, notTheObject + `: expected object`},
		{"POST", "/v1/memory", `{"content":"x"`, notTheObject + `: unexpected EOF`},
		{"POST", "/v1/memory", `{"content":"x","content":"y"}`, notTheObject + `: the body has the field "content" twice: nobody can tell which of them counts`},
		{"POST", "/v1/invitations", `{"scopes":[{"project":"p"},{"project":1}]}`, notTheObject + `: field "scopes[1].project": expected string`},
		{"POST", "/v1/invitations", `{"ttl_seconds":1.5}`, notTheObject + `: field "ttl_seconds": expected integer`},
		{"PUT", "/v1/skills/s", `{"body":"x","tags":["a",null]}`, `the field "tags[1]" is null, which is no value: expected string`},
		{"POST", "/v1/skills/s/outcomes", `{"won":"yes"}`, notTheObject + `: field "won": expected boolean`},
	} {
		t.Run(test.target+" "+test.body, func(t *testing.T) {
			var p wire.Problem
			if a := ask(t, h, test.method, test.target, test.body); json.Unmarshal([]byte(a.body), &p) != nil || p.Detail != test.want {
				t.Errorf("got  %s\nwant %s", a.body, test.want)
			}
		})
	}
}

const notTheObject = "the body is not the JSON object that this path takes"
