package mcp_test

import (
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/api/mcp"
	"github.com/fleetsync/fleetd/state"
)

// TestAgentsAreToldWhatIsHeldBack by every tool that writes, and what they write again
// without the secret is shared.
func TestAgentsAreToldWhatIsHeldBack(t *testing.T) {
	replica, isReplica := state.NewMemory(func(c *state.Config) { c.Gate = state.GateHold }).(state.Replica)
	if !isReplica {
		t.Fatal("no replica")
	}
	t.Cleanup(func() {
		if err := replica.Close(); err != nil {
			t.Error(err)
		}
	})
	a := connect(t, mcp.New(&node{replica}, mcp.Config{}), mcp.Options{})
	leak := "the key is AKIA" + "IOSFODNN7EXAMPLE"
	_, item := call[mcp.MemoryEntry](t, a, "memory_write", args{"id": "m", "content": leak})
	_, skill := call[mcp.SkillEntry](t, a, "skill_upsert", args{"slug": "s", "body": leak})
	call[mcp.Session](t, a, "session_create", args{"id": "talk"})
	_, turn := call[mcp.Turn](t, a, "session_append", args{"session_id": "talk", "role": "user", "content": leak})
	for _, text := range []string{item, skill, turn} {
		if !strings.Contains(text, "held back: it holds a secret (aws-access-key-id)") {
			t.Errorf("an agent is told %q", text)
		}
	}
	if held, err := replica.Held(t.Context()); err != nil || len(held) != 3 {
		t.Fatalf("held: %v, %v", held, err)
	}
	again, text := call[mcp.MemoryEntry](t, a, "memory_write", args{"id": "m", "content": "the key is in the vault"})
	if len(again.Scope.Instance) > 0 || strings.Contains(text, "held back") {
		t.Errorf("without the secret: %+v, %q", again, text)
	}
	if held, err := replica.Held(t.Context()); err != nil || len(held) != 2 {
		t.Errorf("held: %v, %v", held, err)
	}
}
