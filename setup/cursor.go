package setup

import "path/filepath"

// cursor is Cursor. Servers: https://cursor.com/docs/mcp, hooks:
// https://cursor.com/docs/agent/hooks. A hook of the user runs in ~/.cursor, and
// reads in workspace_roots where the project is.
type cursor struct{}

func (cursor) Name() string  { return "cursor" }
func (cursor) Title() string { return "Cursor" }

func (cursor) files(p Place, r Run) ([]file, error) {
	dir := filepath.Join(p.Project, ".cursor")
	if p.Project == "" {
		dir = filepath.Join(p.Home, ".cursor")
	}
	hook := jsonEntry{
		path: []string{"hooks", "sessionStart"}, value: object{{"command", r.hook(formCursor)}},
		mine:    isContext,
		written: func(decoded any) bool { return isWrittenHook(decoded, "command") },
		with:    &member{"version", 1},
	}
	return []file{
		{path: filepath.Join(dir, "mcp.json"), entries: []entry{mcpServer(r, false)}},
		{path: filepath.Join(dir, "hooks.json"), entries: []entry{hook}},
	}, nil
}

func (cursor) Notes(Place) []string {
	return []string{"Cursor runs the hooks of Claude Code too, if you let it: then set up one of the two only"}
}
