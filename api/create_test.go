package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

func TestOfFourThatMustNotExistOneIsWritten(t *testing.T) {
	for _, target := range []string{"/v1/memory/m", "/v1/skills/s"} {
		h := api.NewHandler(newBackend(t), api.Config{})
		in := `{"content":"c","must_not_exist":true}`
		if strings.HasPrefix(target, "/v1/skills") {
			in = `{"body":"b","must_not_exist":true}`
		}
		var answers [4]answer
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = ask(t, h, "PUT", target, in) })
		}
		all.Wait()
		written := 0
		for _, a := range answers {
			if a.status == http.StatusOK {
				written++
				continue
			}
			if p := refused(t, a, wire.CodeConflict); p.Memory == nil && p.Skill == nil {
				t.Errorf("%s: the conflict does not carry the stored record", target)
			}
		}
		if written != 1 {
			t.Errorf("%s was written %d times, want once", target, written)
		}
		both := strings.Replace(in, "{", `{"sync_version":1,`, 1)
		refused(t, ask(t, h, "PUT", target, both), wire.CodeInvalid)
	}
}

func TestMemoryThatNobodyCanMeanIsRefused(t *testing.T) {
	b := newBackend(t)
	h := api.NewHandler(b, api.Config{})
	for name, in := range map[string]wire.MemoryWrite{
		"white space":             {Content: " \n\t"},
		"NUL":                     {Content: "a\x00b"},
		"an escape":               {Content: "\x1b[2J"},
		"a control in the kind":   {Content: "a", Kind: "\x07"},
		"a control in the source": {Content: "a", Source: "\u009b"},
		"an id of two dots":       {Content: "a", ID: ".."},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			refused(t, ask(t, h, "POST", "/v1/memory", string(raw)), wire.CodeInvalid)
		})
	}
	// What another program of the fleet called so is still within reach.
	if _, err := b.state.Memory().Write(t.Context(), state.MemoryItem{ID: "..", Content: "a"}); err != nil {
		t.Fatal(err)
	}
	decode[wire.MemoryReply](t, ask(t, h, "GET", "/v1/memory/%2E%2E", ""), http.StatusOK)
	refused(t, ask(t, h, "PUT", "/v1/memory/%2E%2E", `{"content":"a"}`), wire.CodeInvalid)
	decode[wire.MemoryReply](t, ask(t, h, "PUT", "/v1/memory/m", `{"content":"two\r\n\tlines"}`), http.StatusOK)
}

func TestADescriptionDoesNotDependOnOtherKeys(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	for name, key := range map[string]string{
		"no name":                 "license: MIT",
		"a name that is a list":   "name: [a]",
		"a name that is a path":   "name: ../x",
		"a name without a letter": `name: "!!"`,
		"values that are no YAML": "name: a: b\nauthor: @me",
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(wire.SkillWrite{Body: "---\n" + key + "\ndescription: What it is for.\n---\n"})
			if err != nil {
				t.Fatal(err)
			}
			got := decode[wire.SkillReply](t, ask(t, h, "PUT", "/v1/skills/s", string(raw)), http.StatusOK)
			if got.Description != "What it is for." {
				t.Errorf("description %q", got.Description)
			}
		})
	}
}
