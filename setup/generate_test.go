package setup_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// writer writes documents as people do: with white space and, in some, comments
// and trailing commas wherever they may be.
type writer struct {
	t         *rapid.T
	b         strings.Builder
	eol       string
	commented bool
	tight     bool
}

func (w *writer) chance(percent int) bool {
	return rapid.IntRange(1, 100).Draw(w.t, "chance") <= percent
}

func (w *writer) space() {
	if w.tight {
		return
	}
	for range rapid.IntRange(0, 2).Draw(w.t, "spaces") {
		switch n := rapid.IntRange(0, 9).Draw(w.t, "space"); {
		case n == 0 && w.commented:
			w.b.WriteString("// a, \"note\": {} " + strings.Repeat(" ", n%3) + w.eol)
		case n == 1 && w.commented:
			w.b.WriteString("/* b */")
		case n < 5:
			w.b.WriteString(w.eol + strings.Repeat(" ", rapid.IntRange(0, 4).Draw(w.t, "indent")))
		case n == 5:
			w.b.WriteString("\t")
		default:
			w.b.WriteString(" ")
		}
	}
}

func (w *writer) list(open, closing string, count int, each func(i int)) {
	w.b.WriteString(open)
	for i := range count {
		w.space()
		each(i)
		w.space()
		if i < count-1 || w.commented && w.chance(30) {
			w.b.WriteString(",")
		}
	}
	w.space()
	w.b.WriteString(closing)
}

func (w *writer) name(text string) {
	w.b.WriteString(`"` + text + `"`)
	w.space()
	w.b.WriteString(":")
	w.space()
}

func (w *writer) object(known map[string]func(), depth int) {
	var names []string
	for _, name := range []string{"mcpServers", "mcp", "hooks", "SessionStart", "sessionStart", "version"} {
		if known[name] != nil && w.chance(60) {
			names = append(names, name)
		}
	}
	for i := range rapid.IntRange(0, 3).Draw(w.t, "others") {
		names = append(names, fmt.Sprintf("k%d", i))
	}
	if len(names) > 0 {
		names = rapid.Permutation(names).Draw(w.t, "order")
	}
	w.list("{", "}", len(names), func(i int) {
		w.name(names[i])
		if write := known[names[i]]; write != nil {
			write()
			return
		}
		w.value(depth)
	})
}

func (w *writer) value(depth int) {
	switch n := rapid.IntRange(0, 7).Draw(w.t, "kind"); {
	case n == 0 && depth > 0:
		w.object(nil, depth-1)
	case n == 1 && depth > 0:
		w.list("[", "]", rapid.IntRange(0, 3).Draw(w.t, "elements"), func(int) { w.value(depth - 1) })
	case n < 4:
		w.b.WriteString(rapid.SampledFrom([]string{`""`, `"a\"b//c"`, `"ü\u00fc,"`, `"/* no */"`}).Draw(w.t, "string"))
	default:
		w.b.WriteString(rapid.SampledFrom([]string{"1", "-2.5e3", "true", "null"}).Draw(w.t, "scalar"))
	}
}

// jsonText writes a document that may have what the agents' files have.
func jsonText(t *rapid.T) []byte {
	w := &writer{t: t, eol: "\n"}
	w.commented, w.tight = w.chance(50), w.chance(10)
	if w.chance(20) {
		w.eol = "\r\n"
	}
	if w.chance(10) {
		w.b.WriteString("\ufeff")
	}
	list := func() {
		w.list("[", "]", rapid.IntRange(0, 2).Draw(t, "hooks"), func(int) { w.value(2) })
	}
	w.space()
	w.object(map[string]func(){
		"mcpServers": func() { w.object(nil, 2) },
		"mcp":        func() { w.object(nil, 2) },
		"hooks":      func() { w.object(map[string]func(){"SessionStart": list, "sessionStart": list}, 2) },
		"version":    func() { w.b.WriteString("1") },
	}, 2)
	w.space()
	if w.chance(50) {
		w.b.WriteString(w.eol)
	}
	return []byte(w.b.String())
}

// tomlText writes a document of lines that Codex's file has.
func tomlText(t *rapid.T) []byte {
	eol := rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "eol")
	blocks := rapid.SampledFrom([]string{
		"# a comment", "", "", "  # indented", "[mcp_servers.other]\ncommand = \"x\"\n# about it", "[[items]]\nname = \"\"\"\n[mcp_servers.fleetd]\n# no\n\"\"\"",
		"[a.b]\nlist = [\n  1, # one\n  2,\n]", "[mcp_servers.other.env]\nA = 'b'", "[d]\nwhen = 2026-11-30T12:00:00Z",
	})
	var lines []string
	if rapid.Bool().Draw(t, "top") {
		lines = append(lines, "model = \"m\" # which", "[features]", "hooks = true")
	}
	seen := map[string]bool{}
	for range rapid.IntRange(0, 6).Draw(t, "blocks") {
		if block := blocks.Draw(t, "block"); !seen[block] || !strings.Contains(block, "[") || strings.HasPrefix(block, "[[") {
			seen[block] = true
			lines = append(lines, strings.Split(block, "\n")...)
		}
	}
	text := strings.Join(lines, eol)
	if rapid.Bool().Draw(t, "end") && text != "" {
		text += eol
	}
	return []byte(text)
}

// guideText writes a text of lines.
func guideText(t *rapid.T) []byte {
	line := rapid.SampledFrom([]string{"# Title", "", "text", "<!-- fleetd setup", "- a list  "})
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
	text := strings.Join(rapid.SliceOfN(line, 0, 6).Draw(t, "lines"), eol)
	return []byte(text)
}
