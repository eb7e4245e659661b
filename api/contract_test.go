package api_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// example is one call of an operation.
type example struct {
	operation    string
	target, body string
	header       http.Header
	status       int
}

// examples are called in this order, so that each finds what it needs. Every
// operation of the document has one that succeeds, and one that fails unless
// nothing about it can.
func examples() []example {
	tag := http.Header{"If-Match": {`"7-1790000000000.0"`}}
	return []example{
		{"list-skills", "/v1/skills?limit=1", "", nil, 200},
		{"list-skills", "/v1/skills?q=a&project=", "", nil, 200},
		{"list-skills", "/v1/skills?limit=0", "", nil, 400},
		{"put-skill", "/v1/skills/new", `{"name":"n","body":"---\ndescription: d\n---\n","tags":["a"],"check":"true","scope":{"project":"p"}}`, nil, 200},
		{"put-skill", "/v1/skills/new", `{"body":"x","scope":{"project":"p"},"must_not_exist":true}`, nil, 409},
		{"put-skill", "/v1/skills/new", `{}`, nil, 400},
		{"get-skill", "/v1/skills/new", "", nil, 200},
		{"get-skill", "/v1/skills/new", "", http.Header{"If-None-Match": {"*"}}, 304},
		{"get-skill", "/v1/skills/nobody", "", nil, 404},
		{"count-outcome", "/v1/skills/new/outcomes", `{"won":true}`, nil, 200},
		{"count-outcome", "/v1/skills/new/outcomes", `{"won":1}`, nil, 400},
		{"report-skills", "/v1/report", "", nil, 200},
		{"report-skills", "/v1/report?x=1", "", nil, 400},
		{"list-skill-versions", "/v1/skills/new/versions", "", nil, 200},
		{"list-skill-versions", "/v1/skills/nobody/versions", "", nil, 404},
		{"withdraw-skill", "/v1/skills/new/withdraw?project=p", `{"version":"1.0@b","note":"n"}`, nil, 200},
		{"withdraw-skill", "/v1/skills/new/withdraw", `{"version":"1.0"}`, nil, 400},
		{"withdraw-skill", "/v1/skills/nobody/withdraw", `{}`, nil, 404},
		{"delete-skill", "/v1/skills/new", "", tag, 409},
		{"delete-skill", "/v1/skills/new", "", nil, 204},
		{"create-memory", "/v1/memory", `{"id":"x","kind":"fact","content":"c","source":"s","scope":{"workspace":"w"}}`, nil, 201},
		{"create-memory", "/v1/memory", `{"content":""}`, nil, 400},
		{"list-memory", "/v1/memory?limit=1", "", nil, 200},
		{"list-memory", "/v1/memory?cursor=x", "", nil, 400},
		{"get-memory", "/v1/memory/x", "", nil, 200},
		{"get-memory", "/v1/memory/x?project=p", "", nil, 404},
		{"put-memory", "/v1/memory/x", `{"content":"d","scope":{"workspace":"w"}}`, nil, 200},
		{"put-memory", "/v1/memory/x", `{"content":"d","scope":{"workspace":"w"}}`, tag, 409},
		{"put-memory", "/v1/memory/x", `{"content":"d","scope":{"workspace":"w"},"more":1}`, nil, 400},
		{"list-memory-versions", "/v1/memory/x/versions", "", nil, 200},
		{"list-memory-versions", "/v1/memory/nobody/versions", "", nil, 404},
		{"delete-memory", "/v1/memory/x", "", tag, 409},
		{"delete-memory", "/v1/memory/x", "", nil, 204},
		{"delete-memory", "/v1/memory/x", "", nil, 404},
		{"create-session", "/v1/sessions", `{"id":"talk","title":"t","model":"m"}`, nil, 201},
		{"create-session", "/v1/sessions", `{"id":"talk"}`, nil, 409},
		{"list-sessions", "/v1/sessions?limit=1", "", nil, 200},
		{"list-sessions", "/v1/sessions?project=p", "", nil, 400},
		{"get-session", "/v1/sessions/talk", "", nil, 200},
		{"get-session", "/v1/sessions/nobody", "", nil, 404},
		{"append-turn", "/v1/sessions/talk/turns", `{"role":"user","content":"hi"}`, nil, 201},
		{"append-turn", "/v1/sessions/talk/turns", `{"role":"user"}`, nil, 400},
		{"list-turns", "/v1/sessions/talk/turns?after=0&limit=9", "", nil, 200},
		{"list-turns", "/v1/sessions/talk/turns?after=-1", "", nil, 400},
		{"delete-session", "/v1/sessions/talk", "", nil, 204},
		{"delete-session", "/v1/sessions/talk", "", nil, 404},
		{"list-conflicts", "/v1/conflicts?limit=1", "", nil, 200},
		{"list-conflicts", "/v1/conflicts?limit=x", "", nil, 400},
		{"list-versions", "/v1/records/session.turn/s%2Ft%252Fu/versions", "", nil, 200},
		{"list-versions", "/v1/records/skill/nobody/versions", "", nil, 404},
		{"keep-record", "/v1/records/memory/m%2Fn/keep", "", nil, 200},
		{"keep-record", "/v1/records/memory/nobody/keep", "", nil, 404},
		{"restore-record", "/v1/records/memory/m%2Fn/restore", `{"hash":"HASH"}`, nil, 200},
		{"restore-record", "/v1/records/memory/m%2Fn/restore", `{"hash":"x"}`, nil, 400},
		{"list-held", "/v1/secrets", "", nil, 200},
		{"list-held", "/v1/secrets?x=1", "", nil, 400},
		{"get-held", "/v1/secrets/memory/held1", "", nil, 200},
		{"get-held", "/v1/secrets/memory/nobody", "", nil, 404},
		{"release-held", "/v1/secrets/memory/held1/release", `{"hash":"HELD2"}`, nil, 409},
		{"release-held", "/v1/secrets/memory/held1/release?project=p", `{"hash":"HELD1"}`, nil, 200},
		{"redact-held", "/v1/secrets/memory/held2/redact", `{"hash":"x"}`, nil, 400},
		{"redact-held", "/v1/secrets/memory/held2/redact", `{"hash":"HELD2"}`, nil, 200},
		{"list-changes", "/v1/writers/a/changes", "", nil, 200},
		{"list-changes", "/v1/writers/a/changes?since=x", "", nil, 400},
		{"revert-writer", "/v1/writers/b/revert?since=1.0", "", nil, 200},
		{"revert-writer", "/v1/writers/b/revert?since=x", "", nil, 400},
		{"export-state", "/v1/state", "", nil, 200},
		{"export-state", "/v1/state?x=1", "", nil, 400},
		{"import-state", "/v1/state", `{"dry_run":true,"snapshot":{"items":[{"ID":"i","Content":"c"},{"ID":"i\u0001"}]}}`, nil, 200},
		{"import-state", "/v1/state", `{"snapshot":null}`, nil, 400},
		{"watch", "/v1/watch", "", nil, 200},
		{"watch", "/v1/watch?after=x", "", nil, 400},
		{"get-status", "/v1/status", "", nil, 200},
		{"list-members", "/v1/members", "", nil, 200},
		{"list-members", "/v1/members?all=true", "", nil, 200},
		{"list-members", "/v1/members?x=1", "", nil, 400},
		{"ban", "/v1/bans", `{"member":"b","from":"1.0","to":"2.0","note":"n","dry_run":true}`, nil, 200},
		{"ban", "/v1/bans", `{"member":"b","from":"x"}`, nil, 400},
		{"ban", "/v1/bans", `{}`, nil, 400},
		{"probe", "/v1/probe?timeout_ms=100", "", nil, 200},
		{"probe", "/v1/probe?timeout_ms=0", "", nil, 400},
		{"verify", "/v1/verify", "", nil, 200},
		{"verify", "/v1/verify?timeout_ms=x", "", nil, 400},
		{"compare", "/v1/compare?member=a&member=b", "", nil, 200},
		{"compare", "/v1/compare?member=", "", nil, 400},
		{"invite", "/v1/invitations", `{"name":"n","ttl_seconds":60,"uses":1,"can":null,"scopes":[{"project":"p"}]}`, nil, 201},
		{"invite", "/v1/invitations", `{"uses":-1}`, nil, 400},
		{"get-version", "/v1/version", "", nil, 200},
		{"get-version", "/v1/version?x=1", "", nil, 400},
		{"live", "/livez", "", nil, 200},
		{"live", "/livez?x=1", "", nil, 400},
		{"ready", "/readyz", "", nil, 200},
		{"describe", "/openapi.json", "", nil, 200},
		{"describe", "/openapi.json?x=1", "", nil, 400},
		{"metrics", "/metrics", "", nil, 200},
		{"metrics", "/metrics?x=1", "", nil, 400},
		// Last, since the backend fails from here on.
		{"ready", "/readyz", "", nil, 503},
		{"get-status", "/v1/status", "", nil, 500},
	}
}

// full is a backend whose answers have everything in them.
func full(t *testing.T) *backend {
	t.Helper()
	a, _, _ := inConflict(t)
	held := state.Snapshot{}
	for _, id := range []string{"held1", "held2"} {
		held.Items = append(held.Items, state.MemoryItem{
			ID: id, Content: "key AKIA" + "IOSFODNN7EXAMPLE", Scope: state.Scope{Project: "p"}, Secrets: state.Secrets{Held: "aws-access-key-id"},
		})
	}
	if _, err := a.Import(t.Context(), held, false); err != nil {
		t.Fatal(err)
	}
	since := time.Unix(1, 0).UTC()
	return &backend{
		state: a,
		members: []wire.Member{{ID: "a", Name: "a", Role: "admin", State: wire.StateSelf, Addresses: []string{}, Capabilities: []string{"*"}, Scopes: []wire.Scope{}}, {
			ID: "b", Name: "b", Role: "member", State: wire.StateBehind, Since: &since, Why: "w", Addresses: []string{"/ip4/1"},
			Capabilities: []string{"skill"}, Scopes: []wire.Scope{{Project: "p"}}, ExpiresAt: &since, SuccessorID: "c",
			Revoked: &wire.Revocation{From: "1.0", By: "a", At: since, Note: "n"}, Voids: []wire.Revocation{{From: "1.0", To: "2.0", By: "root", At: since}},
			Progress: &wire.Progress{Family: "memory", Received: 1, Expected: 2},
		}},
		probe: wire.Probe{Root: "r", Members: []wire.Answer{{ID: "b", Name: "b", Answered: true}}},
		compared: []wire.ComparedMember{{ID: "b", Name: "b", Result: wire.ResultDiffers, Sections: []wire.ComparedSection{
			{Family: "memory", Outcome: wire.OutcomeEqual},
			{Family: "skill", Outcome: wire.OutcomeDiffers, First: &wire.Difference{Kind: "skill", Key: "k", OnlyHere: []wire.HeldVersion{{WriterID: "b", HLC: "1.0"}}, OnlyThere: []wire.HeldVersion{}}},
		}}},
	}
}

// hashesOfHeld puts the hashes of what a backend holds in the place of HELD1 and HELD2.
func hashesOfHeld(t *testing.T, b *backend) *strings.Replacer {
	t.Helper()
	held, err := b.state.Held(t.Context())
	if err != nil || len(held) != 2 {
		t.Fatalf("held: %v, %v", held, err)
	}
	return strings.NewReplacer("HELD1", hex.EncodeToString(held[0].Version[:]), "HELD2", hex.EncodeToString(held[1].Version[:]))
}

// TestEveryOperationAnswersAsItIsDescribed calls every operation of the document,
// and holds each answer against what the document says of it.
func TestEveryOperationAnswersAsItIsDescribed(t *testing.T) {
	b := full(t)
	h := api.NewHandler(b, api.Config{Metrics: prometheus.NewRegistry()})
	d := readDocument(t)
	shapes := readShapes(t)
	type place struct{ method, path string }
	places := map[string]place{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			places[op.OperationID] = place{strings.ToUpper(method), path}
		}
	}
	good, bad := map[string]bool{}, map[string]bool{}
	held := hashesOfHeld(t, b)
	for _, ex := range examples() {
		ex.body = held.Replace(ex.body)
		at, known := places[ex.operation]
		if !known {
			t.Fatalf("%s is not in the document", ex.operation)
		}
		if ex.status >= 500 {
			b.err = errors.New("broken")
		}
		op := d.Paths[at.path][strings.ToLower(at.method)]
		if op.RequestBody != nil && ex.status < 300 {
			shapes.check(t, ex.target+" asks", op.RequestBody.Content["application/json"].Schema, ex.body)
		}
		a := callOnce(t, h, at.method, strings.ReplaceAll(ex.target, "HASH", hashOf(t, b)), strings.ReplaceAll(ex.body, "HASH", hashOf(t, b)), ex.header)
		name := fmt.Sprintf("%s %s answers %d", at.method, ex.target, a.status)
		if a.status != ex.status {
			t.Errorf("%s, want %d: %s", name, ex.status, a.body)
		}
		good[ex.operation], bad[ex.operation] = good[ex.operation] || a.status < 300, bad[ex.operation] || a.status >= 400
		shapes.checkAnswer(t, name, op, a)
	}
	for id := range places {
		if !good[id] || !bad[id] {
			t.Errorf("%s is called with success: %t, without: %t", id, good[id], bad[id])
		}
	}
}

// TestANodeAnswersAsItIsDescribed does the same with what a real node says of
// itself, before it has a network.
func TestANodeAnswersAsItIsDescribed(t *testing.T) {
	h := api.NewHandler(api.ForNode(openNode(t)), api.Config{})
	d, shapes := readDocument(t), readShapes(t)
	for _, ex := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/v1/status", "", 200},
		{"GET", "/v1/members", "", 200},
		{"GET", "/v1/version", "", 200},
		{"GET", "/v1/conflicts", "", 200},
		{"GET", "/v1/state", "", 200},
		{"POST", "/v1/memory", `{"content":"x"}`, 201},
		{"POST", "/v1/verify", "", 200},
		{"POST", "/v1/compare", "", 503},
		{"POST", "/v1/probe", "", 503},
		{"POST", "/v1/invitations", `{}`, 503},
		{"GET", "/readyz", "", 503},
	} {
		a := ask(t, h, ex.method, ex.path, ex.body)
		if a.status != ex.status {
			t.Errorf("%s %s answers %d, want %d: %s", ex.method, ex.path, a.status, ex.status, a.body)
		}
		shapes.checkAnswer(t, ex.method+" "+ex.path, d.Paths[ex.path][strings.ToLower(ex.method)], a)
	}
}

// checkAnswer holds an answer against the description of its operation.
func (s shapes) checkAnswer(t *testing.T, name string, op *described, a answer) {
	t.Helper()
	described, isDescribed := op.Responses[strconv.Itoa(a.status)]
	if !isDescribed {
		t.Errorf("%s, which is not in the document", name)
	}
	if len(described.Content) == 0 {
		if a.body != "" {
			t.Errorf("%s with %q, and the document has no body", name, a.body)
		}
		return
	}
	mediaType, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	content, known := described.Content[mediaType]
	switch {
	case !known:
		t.Errorf("%s as %q, want one of %v", name, mediaType, slices.Collect(maps.Keys(described.Content)))
	case mediaType == "text/event-stream":
		for line := range strings.Lines(a.body) {
			if data, isData := strings.CutPrefix(line, "data: "); isData {
				s.check(t, name, content.Schema, data)
			}
		}
	case mediaType != "text/plain":
		s.check(t, name, content.Schema, a.body)
	}
}

// callOnce is askWith, for streams too: they are left after a moment.
func callOnce(t *testing.T, h http.Handler, method, target, body string, header http.Header) answer {
	t.Helper()
	if header == nil {
		header = http.Header{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if strings.HasPrefix(target, "/v1/watch") {
		time.AfterFunc(200*time.Millisecond, cancel)
	}
	return askWith(contextual{t, ctx}, h, method, target, body, header)
}

// contextual is a test with another context.
type contextual struct {
	testing.TB
	ctx context.Context //nolint:containedctx // testing.TB has one, too
}

func (c contextual) Context() context.Context { return c.ctx }

// hashOf is that of a version of the item that was in conflict.
func hashOf(t *testing.T, b *backend) string {
	t.Helper()
	versions, err := b.state.MemoryLibrary().History(t.Context(), "m/n")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", versions[len(versions)-1].Hash)
}

// shapes validate values against the schemas of the document.
type shapes struct{ resolved *jsonschema.Resolved }

// readShapes returns the schemas of the document, for the test without room for
// fields that they do not have.
func readShapes(t *testing.T) shapes {
	t.Helper()
	raw, err := api.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	raw = []byte(strings.ReplaceAll(string(raw), "#/components/schemas/", "#/$defs/"))
	var d struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	// One object with a value of each schema, so that all are resolved at once.
	properties := map[string]any{}
	for name, value := range d.Components.Schemas {
		s, isObject := value.(map[string]any)
		if !isObject || s["type"] != "object" {
			t.Fatalf("schema %s is %v", name, value)
		}
		s["additionalProperties"] = false
		properties[name] = map[string]any{"$ref": "#/$defs/" + name}
	}
	raw, err = json.Marshal(map[string]any{"$defs": d.Components.Schemas, "properties": properties})
	if err != nil {
		t.Fatal(err)
	}
	var root jsonschema.Schema
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	resolved, err := root.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return shapes{resolved}
}

// check holds a JSON text against a schema: a reference, or any object.
func (s shapes) check(t *testing.T, what string, of *schema, text string) {
	t.Helper()
	var value map[string]any
	name := strings.TrimPrefix(of.Ref, "#/components/schemas/")
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Errorf("%s: %v in %q", what, err, text)
	} else if err := s.resolved.Validate(map[string]any{name: value}); err != nil {
		t.Errorf("%s: %v\n%s", what, err, text)
	}
}

// TestNothingIsServedThatIsNotDescribed looks for handlers that were registered
// beside huma, and for methods of described paths that are not described.
func TestNothingIsServedThatIsNotDescribed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// MCP describes itself, to those who speak it, and what huma registers passes
		// through segment.go.
		for _, found := range regexp.MustCompile(`\.Handle(Func)?\(.*`).FindAllString(string(text), -1) {
			if !strings.Contains(strings.ToLower(found), "mcp") && path != "segment.go" {
				t.Errorf("%s registers %s", path, found)
			}
		}
	}
	h := api.NewHandler(newBackend(t), api.Config{Metrics: prometheus.NewRegistry()})
	for path, methods := range readDocument(t).Paths {
		target := regexp.MustCompile(`{\w+}`).ReplaceAllString(path, "x")
		var want []string
		for method := range methods {
			if want = append(want, strings.ToUpper(method)); method == "get" {
				want = append(want, "HEAD")
			}
		}
		slices.Sort(want)
		p := refused(t, ask(t, h, "BREW", target, ""), wire.CodeMethod)
		if sentence := fmt.Sprintf("%q takes %s, not BREW", target, strings.Join(want, ", ")); p.Detail != sentence {
			t.Errorf("%s, want %s", p.Detail, sentence)
		}
	}
}
