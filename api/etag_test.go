package api_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

// askWith is ask with headers.
func askWith(tb testing.TB, h http.Handler, method, target, body string, header http.Header) answer {
	tb.Helper()
	u, err := url.Parse("http://fleetd" + target)
	if err != nil {
		tb.Fatal(err)
	}
	request := httptest.NewRequestWithContext(tb.Context(), method, "/", strings.NewReader(body))
	request.URL = u
	request.Header = header.Clone()
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	return answer{recorder.Code, recorder.Header(), recorder.Body.String()}
}

func TestWritesUnderAConditionOfTheirHeaders(t *testing.T) {
	for _, target := range []string{"/v1/memory/m", "/v1/skills/s"} {
		t.Run(target, func(t *testing.T) {
			h := api.NewHandler(newBackend(t), api.Config{})
			in := `{"content":"c","body":"b"}`
			in = strings.Replace(in, map[bool]string{true: `,"body":"b"`, false: `"content":"c",`}[strings.Contains(target, "memory")], "", 1)
			with := func(fields string) string { return strings.Replace(in, "}", ","+fields+"}", 1) }
			match := func(tag string) http.Header { return http.Header{"If-Match": {tag}} }
			none := http.Header{"If-None-Match": {"*"}}

			refused(t, askWith(t, h, "PUT", target, in, match(`"1-1790000000000.0"`)), wire.CodeConflict)
			refused(t, askWith(t, h, "PUT", target, in, match("*")), wire.CodeConflict)
			first := askWith(t, h, "PUT", target, in, none)
			tag := first.header.Get("ETag")
			if first.status != http.StatusOK || tag == "" {
				t.Fatalf("created: status %d, tag %q: %s", first.status, tag, first.body)
			}
			if got := ask(t, h, "GET", target, "").header.Get("ETag"); got != tag {
				t.Errorf("a read has the tag %s, the write %s", got, tag)
			}
			again := askWith(t, h, "PUT", target, in, none)
			if p := refused(t, again, wire.CodeConflict); again.header.Get("ETag") != tag || p.Skill == nil && p.Memory == nil {
				t.Errorf("the conflict has the tag %q and %+v, want the current record", again.header.Get("ETag"), p)
			}
			second := askWith(t, h, "PUT", target, in, match(tag))
			if second.status != http.StatusOK || second.header.Get("ETag") == tag {
				t.Fatalf("replaced: status %d, tag %s: %s", second.status, second.header.Get("ETag"), second.body)
			}
			stale := askWith(t, h, "PUT", target, in, match(tag))
			if refused(t, stale, wire.CodeConflict); stale.header.Get("ETag") != second.header.Get("ETag") {
				t.Errorf("the conflict has the tag %s, want %s", stale.header.Get("ETag"), second.header.Get("ETag"))
			}
			if a := askWith(t, h, "PUT", target, with(`"sync_version":2`), match("*")); a.status != http.StatusOK {
				t.Errorf("a token beside *: %s", a.body)
			}
			third := ask(t, h, "GET", target, "").header.Get("ETag")
			for name, test := range map[string]struct {
				body   string
				header http.Header
				want   wire.Code
			}{
				"a weak tag":                {in, match("W/" + third), wire.CodeInvalid},
				"two tags":                  {in, match(third + ", " + third), wire.CodeInvalid},
				"a header twice":            {in, http.Header{"If-Match": {third, third}}, wire.CodeBadRequest},
				"a tag that is none":        {in, match("3"), wire.CodeInvalid},
				"a stamp that is none":      {in, match(`"3-yesterday"`), wire.CodeInvalid},
				"a tag to be absent":        {in, http.Header{"If-None-Match": {third}}, wire.CodeInvalid},
				"both headers":              {in, http.Header{"If-None-Match": {"*"}, "If-Match": {third}}, wire.CodeInvalid},
				"another token in the body": {with(`"sync_version":2`), match(third), wire.CodeInvalid},
				"creation in the body":      {with(`"must_not_exist":true`), match(third), wire.CodeInvalid},
			} {
				t.Run(name, func(t *testing.T) {
					refused(t, askWith(t, h, "PUT", target, test.body, test.header), test.want)
				})
			}
			if a := askWith(t, h, "PUT", target, with(`"sync_version":3`), match(third)); a.status != http.StatusOK {
				t.Errorf("the same token in both: %s", a.body)
			}
			checkConditionalDelete(t, h, target, third)
		})
	}
}

// checkConditionalDelete deletes a record of which stale is an old tag.
func checkConditionalDelete(t *testing.T, h http.Handler, target, stale string) {
	t.Helper()
	current := ask(t, h, "GET", target, "").header.Get("ETag")
	for _, query := range []string{"", "?project="} {
		a := askWith(t, h, "DELETE", target+query, "", http.Header{"If-Match": {stale}})
		if refused(t, a, wire.CodeConflict); a.header.Get("ETag") != current {
			t.Errorf("the conflict has the tag %s, want %s", a.header.Get("ETag"), current)
		}
	}
	refused(t, askWith(t, h, "DELETE", target, "", http.Header{"If-Match": {"x"}}), wire.CodeInvalid)
	if a := askWith(t, h, "DELETE", target, "", http.Header{"If-Match": {current}}); a.status != http.StatusNoContent {
		t.Errorf("delete: status %d: %s", a.status, a.body)
	}
	refused(t, askWith(t, h, "DELETE", target, "", http.Header{"If-Match": {"*"}}), wire.CodeNotFound)
}

func TestAReadOfWhatHasNotChangedIsEmpty(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	ask(t, h, "PUT", "/v1/skills/s", `{"body":"b"}`)
	tag := ask(t, h, "GET", "/v1/skills/s", "").header.Get("ETag")
	read := func(held string) answer {
		return askWith(t, h, "GET", "/v1/skills/s", "", http.Header{"If-None-Match": {held}})
	}
	for _, held := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
		if a := read(held); a.status != http.StatusNotModified || a.body != "" || a.header.Get("ETag") != tag {
			t.Errorf("%s: status %d, tag %s, body %q", held, a.status, a.header.Get("ETag"), a.body)
		}
	}
	if a := read(`"1-1.0"`); a.status != http.StatusOK {
		t.Errorf("another tag: status %d", a.status)
	}
	// Uses are part of what is read, and no version: the tag shows them, and still
	// stands for the version.
	ask(t, h, "POST", "/v1/skills/s/outcomes", `{"won":true}`)
	if a := read(tag); a.status != http.StatusOK || a.header.Get("ETag") == tag {
		t.Errorf("after an outcome: status %d, tag %s", a.status, a.header.Get("ETag"))
	}
	if a := askWith(t, h, "PUT", "/v1/skills/s", `{"body":"c"}`, http.Header{"If-Match": {tag}}); a.status != http.StatusOK {
		t.Errorf("the version is still that of the tag: %s", a.body)
	}
}

func TestTheClientDeletesWhatItHasRead(t *testing.T) {
	c, _ := serve(t, newBackend(t))
	ctx := t.Context()
	first, err := c.WriteMemory(ctx, wire.MemoryWrite{ID: "m", Content: "1"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.WriteMemory(ctx, wire.MemoryWrite{ID: "m", Content: "2"})
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]wire.Token{"an old token": first.Token(), "no token": {}} {
		if err := c.DeleteMemoryIf(ctx, "m", nil, token); err == nil {
			t.Errorf("%s deleted the item", name)
		}
	}
	if err := c.DeleteMemoryIf(ctx, "m", nil, second.Token()); err != nil {
		t.Error(err)
	}
	sk, err := c.PutSkill(ctx, "s", wire.SkillWrite{Body: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.DeleteSkillIf(ctx, "s", &wire.Scope{}, sk.Token()); err != nil {
		t.Error(err)
	}
}

// TestAConditionThatIsEmptyIsRefused and so is a body in what nobody reads: they would
// be taken for none, and for JSON.
func TestAConditionThatIsEmptyIsRefused(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	for _, test := range []struct {
		name, value string
		want        int
	}{
		{"If-Match", "", 400},
		{"If-None-Match", " ", 400},
		{"Content-Encoding", "gzip", 415},
		{"Content-Type", "application/json; charset=latin1", 415},
		{"Content-Type", "application/json; charset=UTF-8", 200},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "PUT", "/v1/memory/a", strings.NewReader(`{"content":"x"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(test.name, test.value)
		recorder := httptest.NewRecorder()
		if h.ServeHTTP(recorder, r); recorder.Code != test.want {
			t.Errorf("%s: %q: status %d, want %d: %s", test.name, test.value, recorder.Code, test.want, recorder.Body)
		}
	}
}
