package setup

import "path/filepath"

// codex is Codex. Servers: https://developers.openai.com/codex/mcp, hooks:
// https://developers.openai.com/codex/hooks and codex-rs/hooks in its
// repository. Hooks are on by default; what they
// print, or additionalContext of Claude Code's form, goes to the model. It runs a
// hook once it was trusted.
type codex struct{}

func (codex) Name() string  { return "codex" }
func (codex) Title() string { return "Codex" }

func (codex) files(p Place, r Run) ([]file, error) {
	dir := filepath.Join(p.Project, ".codex")
	if p.Project == "" {
		dir = p.home("CODEX_HOME", ".codex")
	}
	server := tomlEntry{
		path: []string{"mcp_servers", Server}, value: object{{"command", r.Command}, {"args", r.server()}},
		written: func(decoded any) bool {
			o, ok := hasKeys(decoded, "command", "args")
			return ok && isServer(o["command"], o["args"])
		},
	}
	return []file{
		{path: filepath.Join(dir, "config.toml"), entries: []entry{server}},
		{path: filepath.Join(dir, "hooks.json"), entries: []entry{sessionStart(r, formClaude)}},
	}, nil
}

func (codex) Notes(p Place) []string {
	notes := []string{"Codex runs a new hook once you trust it: type /hooks in Codex"}
	if p.Project != "" {
		notes = append(notes, "Codex reads .codex of a project that is trusted alone")
	}
	return notes
}
