package setup_test

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/fleetsync/fleetd/setup"
)

// FuzzPut holds for any text that an entry is put into it and comes out again
// without a trace, or is refused.
func FuzzPut(f *testing.F) {
	for _, text := range []string{
		"{}", "{\n  // a\n  \"mcpServers\": {},\n}\n", "\ufeff{\"hooks\":{\"SessionStart\":[]}}\r\n", `{"hooks": {"sessionStart": [{"command": "fleetd context"}]}, "version": 1}`,
		"[mcp_servers.fleetd]\ncommand = \"x\" # y\n", "a = \"\"\"\n[mcp_servers.fleetd]\n\"\"\"\n[b]", "mcp_servers = {}", "# Title\n<!-- fleetd setup opencode: begin -->\n",
		`{"mcp": {"servers": {}}}`, "\f", `{"mcpServers": {"fleetd": {"command": "fleetd", "args": ["mcp"]}}}`,
	} {
		f.Add([]byte(text))
	}
	all := kinds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) {
			return // no file of another kind is read
		}
		for _, k := range all {
			for _, e := range k.entries {
				state, err := e.State(text)
				after, errPut := e.Put(text)
				if (err != nil) != (errPut != nil) && k.isJSON {
					t.Fatalf("%s: found with %v and put with %v: %q", k.name, err, errPut, text)
				}
				if errPut != nil {
					continue
				}
				if now, err := e.State(after); err != nil || now != setup.Wanted {
					t.Fatalf("%s: %q became %q, which has it as %v, %v", k.name, text, after, now, err)
				}
				back, err := e.Remove(after)
				if err != nil || state == setup.Absent && !bytes.Equal(back, text) {
					t.Fatalf("%s: %q became %q and then %q, %v", k.name, text, after, back, err)
				}
			}
		}
	})
}
