package setup_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/setup"
)

var plain = setup.Run{Command: "fleetd", Budget: 2000}

func placeIn(home string, env map[string]string) setup.Place {
	return setup.Place{Home: home, Getenv: func(name string) string { return env[name] }}
}

func agent(t *testing.T, name string) setup.Agent {
	t.Helper()
	a, known := setup.Find(name)
	if !known {
		t.Fatalf("no agent %s", name)
	}
	return a
}

func store(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// set plans and applies setup, and returns the plan.
func set(t *testing.T, name string, p setup.Place, r setup.Run, force bool) *setup.Plan {
	t.Helper()
	plan, err := setup.Set(agent(t, name), p, r, force)
	return applied(t, plan, err)
}

func undo(t *testing.T, name string, p setup.Place, force bool) *setup.Plan {
	t.Helper()
	plan, err := setup.Undo(agent(t, name), p, plain, force)
	return applied(t, plan, err)
}

func applied(t *testing.T, plan *setup.Plan, err error) *setup.Plan {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Apply(); err != nil {
		t.Fatal(err)
	}
	return plan
}

// files returns what every file below a directory holds, by its path in it.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = load(t, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const newServer = `{
  "mcpServers": {
    "fleetd": {
      "command": "fleetd",
      "args": ["mcp"]
    }
  }
}
`

func TestWhatEachAgentGets(t *testing.T) {
	hooks := func(form string) string {
		return `{
  "hooks": {
    "SessionStart": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "fleetd context --budget 2000 --format ` + form + `"
          }
        ]
      }
    ]
  }
}
`
	}
	block := "<!-- fleetd setup opencode: begin -->\nWhen a session begins, "
	want := map[string]map[string]string{
		"claude": {
			".claude.json":          strings.Replace(newServer, `"command"`, "\"type\": \"stdio\",\n      \"command\"", 1),
			".claude/settings.json": hooks("claude"),
		},
		"codex": {
			".codex/config.toml": "[mcp_servers.fleetd]\ncommand = \"fleetd\"\nargs = [\"mcp\"]\n",
			".codex/hooks.json":  hooks("claude"),
		},
		"cursor": {
			".cursor/mcp.json": newServer,
			".cursor/hooks.json": `{
  "hooks": {
    "sessionStart": [
      {
        "command": "fleetd context --budget 2000 --format cursor"
      }
    ]
  },
  "version": 1
}
`,
		},
		"gemini": {".gemini/settings.json": strings.TrimSuffix(newServer, "\n}\n") + "," + strings.TrimPrefix(hooks("gemini"), "{")},
		"opencode": {
			".config/opencode/opencode.json": `{
  "mcp": {
    "fleetd": {
      "type": "local",
      "command": ["fleetd", "mcp"],
      "enabled": true
    }
  }
}
`,
			".config/opencode/AGENTS.md": block,
		},
	}
	for name, want := range want {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			set(t, name, placeIn(home, nil), plain, false)
			got := files(t, home)
			for path := range got {
				if strings.HasPrefix(got[path], block) {
					got[path] = block
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if plan := set(t, name, placeIn(home, nil), plain, false); !plan.Empty() || len(plan.Kept()) > 0 {
				t.Errorf("the second time: %+v", plan)
			}
			undo(t, name, placeIn(home, nil), false)
			if got := files(t, home); len(got) > 0 {
				t.Errorf("undo leaves %v", got)
			}
		})
	}
}

func TestVariablesMoveTheHomesOfAgents(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	env := map[string]string{"CLAUDE_CONFIG_DIR": dir + "/c", "CODEX_HOME": dir + "/x", "GEMINI_CLI_HOME": dir + "/g", "XDG_CONFIG_HOME": dir + "/o"}
	for _, name := range []string{"claude", "codex", "gemini", "opencode"} {
		set(t, name, placeIn(home, env), plain, false)
	}
	var got []string
	for _, path := range []string{
		"c/.claude.json", "c/settings.json", "x/config.toml", "x/hooks.json", "g/.gemini/settings.json", "o/opencode/opencode.json", "o/opencode/AGENTS.md",
	} {
		if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
			got = append(got, path)
		}
	}
	if len(got) > 0 || len(files(t, home)) > 0 {
		t.Errorf("not there: %v; in the home: %v", got, files(t, home))
	}
}

func TestAProjectHasFilesOfItsOwn(t *testing.T) {
	want := map[string][]string{
		"claude": {".claude/settings.json", ".mcp.json"}, "codex": {".codex/config.toml", ".codex/hooks.json"},
		"cursor": {".cursor/hooks.json", ".cursor/mcp.json"}, "gemini": {".gemini/settings.json"}, "opencode": {"AGENTS.md", "opencode.json"},
	}
	for name, want := range want {
		place := placeIn(t.TempDir(), nil)
		place.Project = t.TempDir()
		set(t, name, place, plain, false)
		got := files(t, place.Project)
		for _, path := range want {
			if _, has := got[path]; !has {
				t.Errorf("%s: no %s", name, path)
			}
		}
		if len(got) != len(want) || len(files(t, place.Home)) > 0 {
			t.Errorf("%s: got %v and in the home %v", name, got, files(t, place.Home))
		}
	}
}

func TestEdits(t *testing.T) {
	const server = "{ \"command\": \"fleetd\", \"args\": [\"mcp\"] }"
	tests := map[string]struct{ before, want string }{
		"an empty object":            {"{}", `{"mcpServers": { "fleetd": ` + server + ` }}`},
		"an empty list of servers":   {"{\n  \"mcpServers\": {}\n}\n", "{\n  \"mcpServers\": {\"fleetd\": " + server + "}\n}\n"},
		"tight":                      {`{"a":1}`, `{"a":1,"mcpServers": { "fleetd": ` + server + ` }}`},
		"a trailing comma":           {"{\n\t\"a\": 1,\n}", "{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t\"fleetd\": {\n\t\t\t\"command\": \"fleetd\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t},\n}"},
		"a comment after the last":   {"{\n    \"a\": 1 // one\n}\n", "{\n    \"a\": 1, // one\n    \"mcpServers\": {\n        \"fleetd\": {\n            \"command\": \"fleetd\",\n            \"args\": [\"mcp\"]\n        }\n    }\n}\n"},
		"line ends of Windows":       {"{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"fleetd\": {\r\n      \"command\": \"fleetd\",\r\n      \"args\": [\"mcp\"]\r\n    }\r\n  }\r\n}\r\n"},
		"a byte order mark":          {"\ufeff{}", "\ufeff" + `{"mcpServers": { "fleetd": ` + server + ` }}`},
		"another server":             {"{\"mcpServers\": {\"x\": {}}}", "{\"mcpServers\": {\"x\": {}, \"fleetd\": " + server + "}}"},
		"a file with nothing in it":  {"", strings.TrimSuffix(newServer, "\n")},
		"a comment that ends it all": {"{} // end", `{"mcpServers": { "fleetd": ` + server + ` }} // end`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, ".cursor", "mcp.json")
			store(t, path, test.before)
			set(t, "cursor", placeIn(home, nil), plain, false)
			if diff := cmp.Diff(test.want, load(t, path)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			undo(t, "cursor", placeIn(home, nil), false)
			if diff := cmp.Diff(test.before, load(t, path)); diff != "" {
				t.Errorf("undo (-want +got)\n%s", diff)
			}
		})
	}
}

// TestUndoAfterEdits undoes what has been edited since.
func TestUndoAfterEdits(t *testing.T) {
	tests := map[string]struct{ edited, want string }{
		"another server after it":  {"{\n  \"mcpServers\": {\n    \"fleetd\": {\"command\": \"fleetd\", \"args\": [\"mcp\"]},\n    // mine\n    \"x\": {}\n  }\n}\n", "{\n  \"mcpServers\": {\n    // mine\n    \"x\": {}\n  }\n}\n"},
		"another server before it": {"{\"mcpServers\": {\"x\": {}, /* y */ \"fleetd\": {\"command\": \"fleetd\", \"args\": [\"mcp\"]}}}", "{\"mcpServers\": {\"x\": {} /* y */}}"},
		"a comment and no more":    {"{\n  \"mcpServers\": {\n    // none\n    \"fleetd\": {\"command\": \"fleetd\", \"args\": [\"mcp\"]}\n  }\n}\n", "{\n  \"mcpServers\": {\n    // none\n    \n  }\n}\n"},
		"a line comment before it": {"{\"a\": 1, // one\n\"mcpServers\": { \"fleetd\": {\"command\": \"fleetd\", \"args\": [\"mcp\"]} }}", "{\"a\": 1 // one\n}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, ".cursor", "mcp.json")
			store(t, path, test.edited)
			undo(t, "cursor", placeIn(home, nil), false)
			if diff := cmp.Diff(test.want, load(t, path)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWhatTheUserChangedIsKept(t *testing.T) {
	tests := map[string]struct {
		agent, path, text string
		undone            bool // it is what setup writes, with other values
	}{
		"another argument":    {"cursor", ".cursor/mcp.json", `{"mcpServers": {"fleetd": {"command": "fleetd", "args": ["mcp", "--read-only"]}}}`, false},
		"another key":         {"cursor", ".cursor/mcp.json", `{"mcpServers": {"fleetd": {"command": "fleetd", "args": ["mcp"], "env": {}}}}`, false},
		"another program":     {"cursor", ".cursor/mcp.json", `{"mcpServers": {"fleetd": {"command": "npx", "args": ["mcp"]}}}`, false},
		"a comment inside":    {"opencode", ".config/opencode/opencode.json", `{"mcp": {"fleetd": {"type": "local", /* no */ "command": ["/old/fleetd", "mcp"], "enabled": true}}}`, false},
		"a server turned off": {"opencode", ".config/opencode/opencode.json", `{"mcp": {"fleetd": {"type": "local", "command": ["fleetd", "mcp"], "enabled": false}}}`, false},
		"another path":        {"cursor", ".cursor/mcp.json", `{"mcpServers": {"fleetd": {"command": "/old/fleetd", "args": ["mcp", "--dir", "/d"]}}}`, true},
		"a table with more":   {"codex", ".codex/config.toml", "a = 1\n\n[mcp_servers.fleetd]\ncommand = \"fleetd\"\nargs = [\"mcp\"]\n[mcp_servers.fleetd.env]\nA = \"b\"\n", false},
		"a comment in TOML":   {"codex", ".codex/config.toml", "a = 1\n\n[mcp_servers.fleetd]\ncommand = \"/old/fleetd\" # mine\nargs = [\"mcp\"]\n", false},
		"a hook with others": {
			"claude", ".claude/settings.json",
			`{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "fleetd context --budget 9 --format claude"}, {"type": "command", "command": "x"}]}]}}`, false,
		},
		"a hook with a matcher": {
			"claude", ".claude/settings.json",
			`{"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "fleetd context --budget 9 --format claude"}]}]}}`, false,
		},
		"another budget": {
			"claude", ".claude/settings.json",
			`{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "'/a b/fleetd' context --dir '/d e' --budget 9 --format claude"}]}]}}`, true,
		},
		"another block": {"opencode", ".config/opencode/AGENTS.md", "# mine\n<!-- fleetd setup opencode: begin -->\nno\n<!-- fleetd setup opencode: end -->\n", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			place, path := placeIn(home, nil), filepath.Join(home, filepath.FromSlash(test.path))
			store(t, path, test.text)
			if plan := set(t, test.agent, place, plain, false); len(plan.Kept()) != 1 || load(t, path) != test.text {
				t.Errorf("setup keeps %v, and leaves %s", plan.Kept(), load(t, path))
			}
			if plan := undo(t, test.agent, place, false); (len(plan.Kept()) == 0) != test.undone || (load(t, path) != test.text) != test.undone {
				t.Errorf("undo keeps %v, and leaves %s", plan.Kept(), load(t, path))
			}
			store(t, path, test.text)
			set(t, test.agent, place, plain, true)
			if plan := set(t, test.agent, place, plain, false); !plan.Empty() || len(plan.Kept()) > 0 {
				t.Errorf("after force: %+v in %s", plan, load(t, path))
			}
			store(t, path, test.text)
			undo(t, test.agent, place, true)
			if plan := undo(t, test.agent, place, false); len(plan.Kept()) > 0 || strings.Contains(strings.ReplaceAll(load(t, path), "# mine", ""), "fleetd") {
				t.Errorf("undo with force leaves %s", load(t, path))
			}
		})
	}
}

func TestWhatCannotBeEditedIsAnErrorAndNothingIsWritten(t *testing.T) {
	tests := map[string]struct{ agent, path, text, want string }{
		"broken JSON":           {"gemini", ".gemini/settings.json", "{\n  \"a\": 1,,\n}", "line 2, column 10: "},
		"a comment without end": {"gemini", ".gemini/settings.json", "{} /* x", "parsing comment"},
		"two documents":         {"gemini", ".gemini/settings.json", "{}\n{}", "line 2, column 1: "},
		"a list":                {"gemini", ".gemini/settings.json", "[]", "line 1: the whole is not an object"},
		"servers that are none": {"gemini", ".gemini/settings.json", "{\n\"mcpServers\": null}", "line 2: mcpServers is not an object"},
		"hooks that are none":   {"claude", ".claude/settings.json", `{"hooks": {"SessionStart": {}}}`, "line 1: hooks.SessionStart is not a list"},
		"broken TOML":           {"codex", ".codex/config.toml", "a = 1\nb = \n", "line 2, column "},
		"an inline table":       {"codex", ".codex/config.toml", "mcp_servers = {}\n", "mcp_servers.fleetd is no table with one header"},
		"a block without end":   {"opencode", ".config/opencode/AGENTS.md", "a\n<!-- fleetd setup opencode: begin -->\n", "line 2: the block has no end"},
		"no text":               {"gemini", ".gemini/settings.json", "{\"a\": \"\xff\"}", "not UTF-8"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, filepath.FromSlash(test.path))
			store(t, path, test.text)
			_, err := setup.Set(agent(t, test.agent), placeIn(home, nil), plain, false)
			var in *setup.FileError
			if !errors.As(err, &in) || in.Path != path || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if got := files(t, home); len(got) != 1 || got[test.path] != test.text {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestFilesAreReplacedWithCare(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and symbolic links of Unix")
	}
	home := t.TempDir()
	place, path := placeIn(home, nil), filepath.Join(home, ".gemini", "settings.json")
	behind := filepath.Join(home, "dotfiles", "gemini.json")
	store(t, behind, "{}\n")
	if err := os.Chmod(behind, 0o400); err != nil {
		t.Fatal(err)
	}
	store(t, filepath.Join(filepath.Dir(path), "x"), "")
	if err := os.Symlink(filepath.Join("..", "dotfiles", "gemini.json"), path); err != nil {
		t.Fatal(err)
	}
	set(t, "gemini", place, plain, false)
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link became %v, %v", info, err)
	}
	if info, err := os.Stat(behind); err != nil || info.Mode().Perm() != 0o400 || !strings.Contains(load(t, behind), "mcpServers") {
		t.Errorf("behind the link is %v, %v: %s", info, err, load(t, behind))
	}
	undo(t, "gemini", place, false)
	if load(t, behind) != "{}\n" {
		t.Errorf("undo leaves %q", load(t, behind))
	}
}

func TestALinkThatLeadsNowhereIsFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and symbolic links of Unix")
	}
	home := t.TempDir()
	place, path := placeIn(home, nil), filepath.Join(home, ".gemini", "settings.json")
	behind := filepath.Join(home, "dotfiles", "gemini.json")
	store(t, filepath.Join(filepath.Dir(path), "x"), "")
	if err := os.Symlink(filepath.Join("..", "dotfiles", "gemini.json"), path); err != nil {
		t.Fatal(err)
	}
	set(t, "gemini", place, plain, false)
	if info, err := os.Stat(behind); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("behind the link is %v, %v", info, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(behind)); err != nil || len(entries) != 1 {
		t.Errorf("beside it are %v, %v", entries, err)
	}
}

func TestAFileThatChangesAfterThePlanIsLeft(t *testing.T) {
	home := t.TempDir()
	place, path := placeIn(home, nil), filepath.Join(home, ".gemini", "settings.json")
	set(t, "gemini", place, plain, false)
	plan, err := setup.Undo(agent(t, "gemini"), place, plain, false)
	if err != nil {
		t.Fatal(err)
	}
	store(t, path, "{\"other\": 1}")
	if _, err := plan.Apply(); !errors.Is(err, setup.ErrChanged) || load(t, path) != "{\"other\": 1}" {
		t.Errorf("got %v, and %q", err, load(t, path))
	}
}

// What changes between the look of Apply at all files and the renaming of one is
// left too, and no half-made file stays beside it.
func TestAFileThatChangesWhileItIsWrittenIsLeft(t *testing.T) {
	for name, c := range map[string]struct{ was, will []byte }{
		"another text":              {[]byte("{}"), []byte("{1}")},
		"one that was not there":    {nil, []byte("{1}")},
		"one that would be removed": {[]byte("{}"), nil},
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		store(t, path, "theirs")
		if err := setup.Write(path, c.was, c.will); !errors.Is(err, setup.ErrChanged) || load(t, path) != "theirs" {
			t.Errorf("%s: got %v, and %q", name, err, load(t, path))
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
			t.Errorf("%s: beside it are %v, %v", name, entries, err)
		}
	}
}

// A plan that cannot be carried out whole is not begun.
func TestNothingIsWrittenWhenALaterFileHasChanged(t *testing.T) {
	home := t.TempDir()
	place := placeIn(home, nil)
	plan, err := setup.Set(agent(t, "codex"), place, plain, false)
	if err != nil || len(plan.Changes) < 2 {
		t.Fatalf("a plan of several files is wanted: %+v, %v", plan, err)
	}
	first, last := plan.Changes[0].Path, plan.Changes[len(plan.Changes)-1].Path
	store(t, last, "theirs")
	if done, err := plan.Apply(); !errors.Is(err, setup.ErrChanged) || len(done) != 0 {
		t.Errorf("got %v, %v", done, err)
	}
	if _, err := os.Stat(first); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s was written all the same: %v", first, err)
	}
}

func TestFilesThatCannotBeReadAreAnError(t *testing.T) {
	home := t.TempDir()
	place, path := placeIn(home, nil), filepath.Join(home, ".gemini", "settings.json")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := setup.Set(agent(t, "gemini"), place, plain, false); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		return // nothing is unreadable
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	store(t, path, "{}")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := setup.Set(agent(t, "gemini"), place, plain, false); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("an unreadable file: %v", err)
	}
}

// opencode reads CLAUDE.md where there is no AGENTS.md: a new AGENTS.md would
// hide it.
func TestTheGuideThatOpencodeReadsGetsTheBlock(t *testing.T) {
	place := placeIn(t.TempDir(), nil)
	place.Project = t.TempDir()
	guide := filepath.Join(place.Project, "CLAUDE.md")
	store(t, guide, "# Rules\n")
	set(t, "opencode", place, plain, false)
	if _, err := os.Stat(filepath.Join(place.Project, "AGENTS.md")); err == nil || !strings.Contains(load(t, guide), "memory_recall") {
		t.Errorf("got %v", files(t, place.Project))
	}
	// The user moves on to AGENTS.md.
	store(t, filepath.Join(place.Project, "AGENTS.md"), "# Rules\n")
	undo(t, "opencode", place, false)
	if load(t, guide) != "# Rules\n" || load(t, filepath.Join(place.Project, "AGENTS.md")) != "# Rules\n" {
		t.Errorf("undo leaves %q", load(t, guide))
	}
}

func TestTheFormOfOpencode2(t *testing.T) {
	place := placeIn(t.TempDir(), nil)
	path := filepath.Join(place.Home, ".config", "opencode", "opencode.jsonc")
	before := "{\n  // servers\n  \"mcp\": {\n    \"servers\": {\n      \"x\": { \"type\": \"local\", \"command\": [\"x\"] },\n    },\n  },\n}\n"
	store(t, path, before)
	set(t, "opencode", place, plain, false)
	want := strings.Replace(before, "[\"x\"] },\n", "[\"x\"] },\n      \"fleetd\": {\n        \"type\": \"local\",\n        \"command\": [\"fleetd\", \"mcp\"]\n      },\n", 1)
	if diff := cmp.Diff(want, load(t, path)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	undo(t, "opencode", place, false)
	if diff := cmp.Diff(before, load(t, path)); diff != "" {
		t.Errorf("undo (-want +got)\n%s", diff)
	}
}
