package mcp_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api/mcp"
)

func TestOptions(t *testing.T) {
	readers := []string{
		"fleet_conflicts", "fleet_status", "memory_get", "memory_history", "memory_list", "memory_recall",
		"session_list", "session_turns", "skill_get", "skill_history", "skill_list", "skill_search",
	}
	tests := []struct {
		name, query string
		want        []string
		resources   bool
	}{
		{"reading only", "read_only=true", readers, true},
		{"a group", "tools=session", []string{"session_append", "session_create", "session_list", "session_turns"}, false},
		{"groups and a tool", "tools=fleet,memory_get", []string{"fleet_conflicts", "fleet_status", "memory_get"}, true},
		{"memory has the files", "tools=memory", []string{
			"memory", "memory_delete", "memory_get", "memory_history", "memory_list", "memory_recall", "memory_write",
		}, true},
		{"the files alone", "tools=file", []string{"memory"}, false},
		{"both", "tools=skill,%20session_append&read_only=1", []string{"skill_get", "skill_history", "skill_list", "skill_search"}, true},
	}
	s := mcp.New(newNode(t), mcp.Config{})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			opts, err := mcp.ParseOptions(test.query)
			if err != nil {
				t.Fatal(err)
			}
			a := connect(t, s, opts)
			if diff := cmp.Diff(test.want, slices.Sorted(maps.Keys(a.schemas))); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			// What is not listed cannot be called either.
			if _, listed := a.schemas["memory_write"]; !listed {
				_, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "memory_write", Arguments: args{"content": "x"}})
				if err == nil || !strings.Contains(err.Error(), `unknown tool "memory_write"`) {
					t.Errorf("got %v, want an unknown tool", err)
				}
			}
			if _, err := a.ListResources(t.Context(), nil); (err == nil) != test.resources && a.InitializeResult().Capabilities.Resources != nil {
				t.Errorf("resources: %v, want them %t", err, test.resources)
			}
			if got := a.InitializeResult().Capabilities.Resources != nil; got != test.resources {
				t.Errorf("resources offered %t, want %t", got, test.resources)
			}
		})
	}
}

func TestOptionsThatCannotBeMeantAreRefused(t *testing.T) {
	for query, want := range map[string]string{
		"tools=memory,memmory": `no tool or group of tools "memmory"; known are memory, file, skill, session, fleet, memory_write`,
		"read_only=perhaps":    `read_only is "perhaps"`,
		"readonly=true":        `unknown parameter "readonly"`,
		"read_only=true;x=1":   "the query cannot be read",
		"read_only=%zz":        "the query cannot be read",
		"tools=":               `no tool or group of tools ""`,
		"tools=memory,,":       `no tool or group of tools ""`,
	} {
		if _, err := mcp.ParseOptions(query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", query, err, want)
		}
	}
}
