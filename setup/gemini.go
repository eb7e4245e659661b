package setup

import "path/filepath"

// gemini is Gemini CLI. Settings and GEMINI_CLI_HOME:
// https://geminicli.com/docs/reference/configuration, hooks:
// https://geminicli.com/docs/hooks/reference.
type gemini struct{}

func (gemini) Name() string  { return "gemini" }
func (gemini) Title() string { return "Gemini CLI" }

func (gemini) files(p Place, r Run) ([]file, error) {
	dir := p.Project
	if dir == "" {
		dir = p.home("GEMINI_CLI_HOME")
	}
	return []file{{
		path:    filepath.Join(dir, ".gemini", "settings.json"),
		entries: []entry{mcpServer(r, false), sessionStart(r, formGemini)},
	}}, nil
}

func (gemini) Notes(p Place) []string {
	if p.Project != "" {
		return []string{"Gemini CLI reads the settings of a folder that is trusted alone"}
	}
	return nil
}
