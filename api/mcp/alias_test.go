package mcp_test

import (
	"os"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/api/mcp"
)

// TestAliases calls tools as models that do not look at the schema do.
func TestAliases(t *testing.T) {
	a := connect(t, mcp.New(newNode(t), mcp.Config{}), mcp.Options{})
	written, _ := call[mcp.MemoryEntry](t, a, "memory_write", args{"text": "port 5432 is taken", "type": "fact", "key": "port", "Repo": "p"})
	if written.ID != "port" || written.Kind != "fact" || written.Scope.Project != "p" || written.Snippet != "port 5432 is taken" {
		t.Errorf("memory_write by aliases: %+v", written)
	}
	call[mcp.SkillEntry](t, a, "skill_upsert", args{"name": "deploy", "markdown": "Test, then push.", "summary": "Deploys.", "labels": []string{"ops"}})
	ses, _ := call[mcp.Session](t, a, "session_create", args{"name": "talk", "key": nil})
	call[mcp.Turn](t, a, "session_append", args{"conversation_id": ses.ID, "speaker": "user", "message": "hello"})
	tests := []struct {
		tool string
		in   args
		want string // in the text of the result
	}{
		{"memory_recall", args{"q": "port"}, "1 item"},
		{"memory_recall", args{"search": "port", "n": 1}, "1 item"},
		{"memory_recall", args{"query": "port", "topK": "5"}, "1 item"},
		{"memory_recall", args{"Query": "port", "max-results": 5.0}, "1 item"},
		{"memory_recall", args{"query": "port", "limit": nil, "category": "fact"}, "1 item"},
		{"memory_recall", args{"query": "port", "category": "preference"}, "nothing is remembered"},
		{"memory_recall", args{"query": "port", "scope": "global"}, "nothing is remembered"},
		{"memory_recall", args{"query": "port", "scope": args{"project": "p"}}, "1 item"},
		{"memory_get", args{"name": "port"}, "5432"},
		{"memory_get", args{"memory_id": "port", "project": "p"}, "5432"},
		{"skill_get", args{"id": "deploy"}, "Test, then push."},
		{"skill_get", args{"skill": "deploy"}, "Test, then push."},
		{"skill_search", args{"keywords": "push", "k": "3"}, "1 skill"},
		{"skill_report", args{"skill_name": "deploy", "success": "yes"}, "worked 1 of 1 use"},
		{"skill_report", args{"slug": "deploy", "outcome": "lost"}, "worked 1 of 2 uses"},
		{"session_turns", args{"id": ses.ID, "offset": "0"}, "hello"},
		{"memory", args{"action": "create", "file": "/memories/a", "content": "x"}, "created successfully"},
		{"memory", args{"command": "view", "file_path": "/memories/a", "lines": "[1, -1]"}, "     1\tx"},
		{"memory", args{"command": "rename", "from": "/memories/a", "to": "/memories/b"}, "Successfully renamed"},
	}
	for _, test := range tests {
		if _, text := call[map[string]any](t, a, test.tool, test.in); !strings.Contains(text, test.want) {
			t.Errorf("%s %v: %q, want %q in it", test.tool, test.in, text, test.want)
		}
	}
}

func TestUnknownArgumentsAreRefused(t *testing.T) {
	a := connect(t, mcp.New(newNode(t), mcp.Config{}), mcp.Options{})
	tests := []struct {
		tool string
		in   args
		want string
	}{
		{"memory_recall", args{"query": "x", "projekt": "p"}, `bad_request: unknown argument "projekt"; memory_recall takes: query, kind, limit, project, workspace, instance, scope`},
		{"fleet_status", args{"verbose": true}, `unknown argument "verbose"; fleet_status takes: none`},
		{"memory_recall", args{"query": "x", "limit": "many"}, `argument limit is "many", not a whole number from 1`},
		{"memory_recall", args{"query": "x", "limit": -1}, `argument limit is -1, not a whole number from 1`},
		{"memory_recall", args{"query": "x", "limit": 0}, `argument limit is 0, not a whole number from 1`},
		{"memory_recall", args{"query": "x", "limit": 1.5}, `not a whole number`},
		{"memory_recall", args{"query": 5}, `argument query is 5, not text`},
		{"memory_recall", args{"query": []string{"x"}}, `argument query is ["x"], not text`},
		{"memory_recall", args{"query": "x", "q": "y"}, `"q" and "query" are one argument, query: give one of them`},
		{"memory_recall", args{}, `the argument query is missing; memory_recall takes: query`},
		{"memory_recall", args{"query": " "}, `invalid: the query is empty`},
		{"memory_recall", args{"query": "x", "scope": args{"projekt": "p"}}, `not an object with instance, project and workspace`},
		{"memory_recall", args{"query": "x", "scope": args{"project": "p"}, "project": "p"}, `scope stands for project`},
		{"memory_list", args{"cursor": "x"}, `the cursor "x" is none of this list`},
		{"skill_list", args{"cursor": "x"}, `the cursor "x" is none of this list`},
		{"skill_report", args{"slug": "x", "won": "perhaps"}, `not true or false`},
		{"skill_upsert", args{"slug": "x", "body": "y", "tags": []any{1}}, `argument tags is [1], not a list of texts`},
		{"skill_upsert", args{"slug": "No Such Name", "body": "y"}, `invalid: `},
		{"memory_write", args{"content": "x", "if_version": "soon"}, `no version`},
		{"memory_write", args{"content": "  "}, `invalid: the text is empty`},
		{"memory", args{"command": "read", "path": "/memories"}, `argument command is "read", not one of view, create`},
		{"memory", args{"command": "view", "path": "/memories", "old_str": "x"}, `The command view takes only: path, view_range`},
		{"memory", args{"command": "create", "path": "/memories/x"}, `The command create needs the argument file_text`},
		{"memory_get", args{"id": "nobody"}, "not_found: not found"},
	}
	for _, test := range tests {
		failing(t, a, test.tool, test.in, test.want)
	}
}

// TestTheTableOfAliases: each name that it has is used by a tool, leads to one
// argument of a tool alone, and is documented.
func TestTheTableOfAliases(t *testing.T) {
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, tool := range mcp.ToolNames() {
		seen := map[string]string{}
		for argument, names := range mcp.Guesses(tool) {
			used[argument] = true
			for _, name := range names {
				if other, twice := seen[name]; twice {
					t.Errorf("%s: %s leads to %s and %s", tool, name, other, argument)
				}
				seen[name] = argument
			}
		}
	}
	for argument, guesses := range mcp.AliasTable() {
		if !used[argument] {
			t.Errorf("no tool has the argument %s", argument)
		}
		row := "| `" + argument + "` | " + strings.Join(guesses, ", ") + " |"
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/mcp.md lacks the row\n%s", row)
		}
	}
	for _, tool := range mcp.ToolNames() {
		if !strings.Contains(string(page), "`"+tool+"`") {
			t.Errorf("docs/mcp.md does not name %s", tool)
		}
	}
}
