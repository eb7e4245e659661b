package mcp_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/api/mcp"
	"github.com/fleetsync/fleetd/api/wire"
)

// FuzzDecode holds that arguments of any bytes are read or refused with a
// problem, and that no argument that was given is left out.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `[]`, `{"q":"x","n":"5"}`, `{"query":1}`, `{"query":"x","query":"y"}`, `{"scope":{"project":"p"}}`,
		`{"view_range":[1,-1],"command":"view","path":"/memories"}`, `{"limit":1e999}`, `{"limit":9007199254740993}`, `{"content":"\ud800"}`,
		"{\"q\":\"\xff\"}", `{"won":"yes","slug":"s"}`, `{"tags":["a",1]}`, `{"if_version":3}`, strings.Repeat(`{"a":`, 100),
	} {
		for _, tool := range []string{"memory_recall", "memory", "skill_upsert", "skill_report"} {
			f.Add(tool, []byte(seed))
		}
	}
	known := mcp.ToolNames()
	f.Fuzz(func(t *testing.T, tool string, raw []byte) {
		if !slices.Contains(known, tool) {
			return
		}
		names, err := mcp.DecodeAs(tool, raw)
		if err != nil {
			var problem *wire.Problem
			if !errors.As(err, &problem) || problem.Detail == "" || len(problem.Detail) > 2000 {
				t.Fatalf("%q: %v is no problem", raw, err)
			}
			return
		}
		var given map[string]any
		if len(strings.TrimSpace(string(raw))) > 0 {
			if err := json.Unmarshal(raw, &given); err != nil {
				t.Fatalf("%q was read and is no JSON: %v", raw, err)
			}
		}
		want := 0
		for _, value := range given {
			if value != nil {
				want++
			}
		}
		if want != len(names) {
			t.Fatalf("%q has %d arguments, read were %v", raw, want, names)
		}
	})
}

// FuzzFilePath holds that a path that is taken stays below /memories, and is one
// that is taken as itself.
func FuzzFilePath(f *testing.F) {
	for _, seed := range []string{
		"/memories", "/memories/a", "/memories/../a", "/memories/a/./b", "memories/a", "/memories/%2e%2e/x", "/memories/a\x00b", "/memories/u\u0308",
		"/memories/..\\a", "/memories//a", "/memoriesx", "/memories/ .. /x", "/memories/%252e%252e",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := mcp.ParsePath(text)
		if err != nil {
			return
		}
		again, err := mcp.ParsePath(path)
		if err != nil || again != path || path != "/memories" && !strings.HasPrefix(path, "/memories/") || slices.Contains(strings.Split(path, "/"), "..") {
			t.Fatalf("%q became %q, and that %q, %v", text, path, again, err)
		}
	})
}

// FuzzAddress holds that a URI which is taken names one record.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{
		"memory://a", "skill://a/SKILL.md", "skill://a", "skill://project/p/a/SKILL.md", "memory://instance/i/project/p/workspace/w/x%2Fy",
		"memory://%2E", "memory://project/p", "skill:///SKILL.md", "memory://a/b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		one, err := mcp.Readdress(uri)
		if err != nil {
			return
		}
		if again, err := mcp.Readdress(one); err != nil || again != one {
			t.Fatalf("%q became %q, and that %q, %v", uri, one, again, err)
		}
	})
}
