package setup

import (
	"encoding/json"
	"strings"
)

// The forms in which hooks print context.
const (
	formText   = "text"
	formClaude = "claude"
	formGemini = "gemini"
	formCursor = "cursor"
)

// Form is a form in which a hook gives context to its agent.
type Form struct {
	Name string
	// Hook says that an agent runs the command, and tells on standard input where
	// it works.
	Hook bool
	wrap func(text string) any
}

// Forms returns every form.
func Forms() []Form {
	specific := func(text string) any {
		return map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "SessionStart", "additionalContext": text}}
	}
	return []Form{
		{Name: formText},
		{Name: formClaude, Hook: true, wrap: specific},
		{Name: formGemini, Hook: true, wrap: specific},
		{Name: formCursor, Hook: true, wrap: func(text string) any { return map[string]any{"additional_context": text} }},
	}
}

// Wrap puts context into the form.
func (f Form) Wrap(text string) string {
	if f.wrap == nil {
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(f.wrap(text)) // text in maps can be written
	return b.String()
}

// ProjectOf returns the directory that an agent works in, by what it writes to a
// hook: "" when it does not say.
func ProjectOf(input []byte) string {
	var said struct {
		Dir   string   `json:"cwd"`
		Roots []string `json:"workspace_roots"`
	}
	if json.Unmarshal(input, &said) != nil {
		return ""
	}
	if len(said.Roots) > 0 {
		return said.Roots[0]
	}
	return said.Dir
}
