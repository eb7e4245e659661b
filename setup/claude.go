package setup

import "path/filepath"

// claude is Claude Code. Servers: https://code.claude.com/docs/en/mcp, hooks:
// https://code.claude.com/docs/en/hooks, CLAUDE_CONFIG_DIR:
// https://code.claude.com/docs/en/env-vars. docs/agents.md says how and when
// this was checked, here and for the other agents.
type claude struct{}

func (claude) Name() string  { return "claude" }
func (claude) Title() string { return "Claude Code" }

func (claude) files(p Place, r Run) ([]file, error) {
	servers, settings := filepath.Join(p.Project, ".mcp.json"), filepath.Join(p.Project, ".claude", "settings.json")
	if p.Project == "" {
		servers = filepath.Join(p.home("CLAUDE_CONFIG_DIR"), ".claude.json")
		settings = filepath.Join(p.home("CLAUDE_CONFIG_DIR", ".claude"), "settings.json")
	}
	return []file{
		{path: servers, entries: []entry{mcpServer(r, true)}},
		{path: settings, entries: []entry{sessionStart(r, formClaude)}},
	}, nil
}

func (claude) Notes(p Place) []string {
	if p.Project != "" {
		return []string{"Claude Code asks before it starts a server of a project for the first time"}
	}
	return []string{"end Claude Code before: it writes .claude.json itself while it runs; begin a new session then"}
}
