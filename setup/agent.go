package setup

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Server is the name under which agents know fleetd.
const Server = "fleetd"

// Agent is what is known of one agent.
type Agent interface {
	// Name is what a command line calls it, Title what people do.
	Name() string
	Title() string
	// files are those that it reads, with what fleetd has in them, in the order in
	// which they are written.
	files(p Place, r Run) ([]file, error)
	// Notes say what remains to be done by hand, and what to know.
	Notes(p Place) []string
}

// file is one file of an agent.
type file struct {
	path    string
	entries []entry
	// left is a file that the agent may have read before: undo alone looks there.
	left bool
}

// Agents returns every agent that is known, by name.
func Agents() []Agent {
	return []Agent{claude{}, codex{}, cursor{}, gemini{}, opencode{}}
}

// Find returns the agent of a name.
func Find(name string) (Agent, bool) {
	for _, a := range Agents() {
		if a.Name() == name {
			return a, true
		}
	}
	return nil, false
}

// Place says whose configuration is meant: that of the user, or of a project.
type Place struct {
	// Home is the home directory of the user.
	Home string
	// Project is the directory of a project; empty for the user's own.
	Project string
	// Getenv returns a variable of the environment, "" for none.
	Getenv func(name string) string
}

// home is a directory that a variable may name in place of one below the home
// directory.
func (p Place) home(variable string, below ...string) string {
	if dir := p.Getenv(variable); dir != "" {
		return dir
	}
	return filepath.Join(append([]string{p.Home}, below...)...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Run says how an agent starts fleetd.
type Run struct {
	// Command is the program: its name when PATH finds it, else its path.
	Command string
	// Dir is the data directory; empty for the default.
	Dir string
	// Budget is how many tokens the context may take.
	Budget int
}

func (r Run) server() []string {
	if r.Dir == "" {
		return []string{"mcp"}
	}
	return []string{"mcp", "--dir", r.Dir}
}

// hook is the shell command that prints the context in a form.
func (r Run) hook(form string) string {
	words := []string{r.Command, "context"}
	if r.Dir != "" {
		words = append(words, "--dir", r.Dir)
	}
	words = append(words, "--budget", strconv.Itoa(r.Budget), "--format", form)
	for i, word := range words {
		words[i] = quoteShell(word)
	}
	return strings.Join(words, " ")
}

var plainWord = regexp.MustCompile(`^[\pL\pN/._\-+=:,@%~]+$`)

func quoteShell(word string) string {
	switch {
	case plainWord.MatchString(word):
		return word
	case filepath.Separator == '\\':
		return `"` + word + `"`
	default:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
}

// isServer reports whether a decoded command and its arguments are those that
// setup writes, with whatever paths.
func isServer(command any, args any) bool {
	text, isText := command.(string)
	list, _ := args.([]any)
	if !isText || !namesFleetd.MatchString(text) {
		return false
	}
	return len(list) == 1 && list[0] == "mcp" ||
		len(list) == 3 && list[0] == "mcp" && list[1] == "--dir"
}

var (
	namesFleetd = regexp.MustCompile(`(?:^|[/\\])fleetd[\w.\-]*$`)
	// startsContext finds a command that runs fleetd context, however it was
	// changed, and writtenContext one that setup writes.
	startsContext  = regexp.MustCompile(`(?:^|[/\\ '"])fleetd[\w.\-]*['"]?\s(?:.*\s)?context(?:\s|$)`)
	writtenContext = regexp.MustCompile(`(?:^|[/\\])fleetd[\w.\-]*['"]? context (?:--dir .+ )?--budget [0-9]+ --format [a-z]+$`)
)

// hasKeys reports whether a decoded value is an object of just these members.
func hasKeys(decoded any, names ...string) (map[string]any, bool) {
	o, isObject := decoded.(map[string]any)
	if !isObject || len(o) != len(names) {
		return nil, false
	}
	for _, name := range names {
		if _, has := o[name]; !has {
			return nil, false
		}
	}
	return o, true
}

// commandsIn returns every member "command" that is text, however deep.
func commandsIn(decoded any) []string {
	var found []string
	switch v := decoded.(type) {
	case map[string]any:
		for name, value := range v {
			if text, isText := value.(string); isText && name == "command" {
				found = append(found, text)
			}
			found = append(found, commandsIn(value)...)
		}
	case []any:
		for _, value := range v {
			found = append(found, commandsIn(value)...)
		}
	}
	return found
}

// mcpServer is the entry that Claude Code, Cursor and Gemini CLI read.
func mcpServer(r Run, typed bool) jsonEntry {
	value := object{{"command", r.Command}, {"args", r.server()}}
	names := []string{"command", "args"}
	if typed {
		value = append(object{{"type", "stdio"}}, value...)
		names = append(names, "type")
	}
	return jsonEntry{path: []string{"mcpServers"}, name: Server, value: value, written: func(decoded any) bool {
		o, ok := hasKeys(decoded, names...)
		return ok && (!typed || o["type"] == "stdio") && isServer(o["command"], o["args"])
	}}
}

// sessionStart is the hook that Claude Code, Codex and Gemini CLI read.
func sessionStart(r Run, form string) jsonEntry {
	return jsonEntry{
		path:  []string{"hooks", "SessionStart"},
		value: object{{"hooks", []object{{{"type", "command"}, {"command", r.hook(form)}}}}},
		mine:  isContext,
		written: func(decoded any) bool {
			group, ok := hasKeys(decoded, "hooks")
			if !ok {
				return false
			}
			hooks, _ := group["hooks"].([]any)
			return len(hooks) == 1 && isWrittenHook(hooks[0], "type", "command")
		},
	}
}

func isContext(decoded any) bool {
	return slices.ContainsFunc(commandsIn(decoded), startsContext.MatchString)
}

func isWrittenHook(decoded any, names ...string) bool {
	hook, ok := hasKeys(decoded, names...)
	if !ok {
		return false
	}
	command, _ := hook["command"].(string)
	return writtenContext.MatchString(command)
}
