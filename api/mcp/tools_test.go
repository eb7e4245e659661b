package mcp_test

import (
	"testing"

	"github.com/fleetsync/fleetd/api/mcp"
)

// TestResultsFollowTheirSchemas goes through every tool once: call compares each
// result with its schema.
func TestResultsFollowTheirSchemas(t *testing.T) {
	a := connect(t, mcp.New(newNode(t), mcp.Config{Version: "test"}), mcp.Options{})
	called := map[string]bool{}
	step := func(name string, in args) (out map[string]any, text string) {
		t.Helper()
		called[name] = true
		out, text = call[map[string]any](t, a, name, in)
		return out, text
	}
	m, _ := step("memory_write", args{"content": "The build needs port 5432 free.\nReally.", "kind": "fact", "project": "p"})
	id, _ := m["id"].(string)
	_, text := step("memory_recall", args{"query": "port"})
	contains(t, text, "by desk", id, "1 item.")
	got, text := step("memory_get", args{"id": id})
	expect(t, "memory_get", []any{"desk", "tester", false}, []any{got["writer"], got["source"], got["in_conflict"]})
	contains(t, text, "Really.")
	step("memory_list", nil)
	step("memory_history", args{"id": id})
	step("memory_delete", args{"id": id})
	step("memory", args{"command": "create", "path": "/memories/a.md", "file_text": "x"})
	step("skill_upsert", args{"slug": "say-hello", "body": "Say hello.", "description": "Greets: people.", "tags": "a, b"})
	step("skill_list", nil)
	step("skill_search", args{"query": "hello"})
	sk, text := step("skill_get", args{"slug": "say-hello"})
	contains(t, text, `description: "Greets: people."`)
	expect(t, "skill_get", []any{"Greets: people.", "desk"}, []any{sk["description"], sk["writer"]})
	reported, _ := step("skill_report", args{"slug": "say-hello", "won": true})
	expect(t, "skill_report", []any{1.0, 1.0}, []any{reported["uses"], reported["wins"]})
	step("skill_history", args{"slug": "say-hello"})
	step("skill_delete", args{"slug": "say-hello"})
	ses, _ := step("session_create", args{"title": "t"})
	step("session_append", args{"session_id": ses["id"], "role": "user", "content": "hi"})
	step("session_turns", args{"session_id": ses["id"]})
	step("session_list", nil)
	step("fleet_status", nil)
	step("fleet_conflicts", nil)
	for name := range a.schemas {
		if !called[name] {
			t.Errorf("%s was not called", name)
		}
	}
}
