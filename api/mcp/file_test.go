package mcp_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api/mcp"
	"github.com/fleetsync/fleetd/state"
)

// TestFiles is one conversation with the tool memory. An answer is compared as a
// whole; one that begins with ! has to be an error.
func TestFiles(t *testing.T) {
	a := connect(t, mcp.New(newNode(t), mcp.Config{}), mcp.Options{})
	const listed = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:"
	view := func(path string) args { return args{"command": "view", "path": path} }
	create := func(path, text string) args { return args{"command": "create", "path": path, "file_text": text} }
	replace := func(path, from, to string) args {
		return args{"command": "str_replace", "path": path, "old_str": from, "new_str": to}
	}
	insert := func(path string, line int, text string) args {
		return args{"command": "insert", "path": path, "insert_line": line, "insert_text": text}
	}
	remove := func(path string) args { return args{"command": "delete", "path": path} }
	rename := func(from, to string) args { return args{"command": "rename", "old_path": from, "new_path": to} }
	snippet := func(path, lines string) string {
		return " Here's a snippet of " + path + " with line numbers:\n" + lines
	}
	const missing = "!Error: The path /memories/no.md does not exist. Please provide a valid path."
	steps := []struct {
		in   args
		want string
	}{
		{view("/memories"), listed + "\n0B\t/memories"},
		{view("/memories/no.md"), missing},
		{create("/memories/notes.md", "one\ntwo\nthree\n"), "File created successfully at: /memories/notes.md"},
		{view("/memories/notes.md"), "Here's the content of /memories/notes.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\t"},
		{args{"command": "view", "path": "/memories/notes.md", "view_range": []int{2, 3}}, "Here's the content of /memories/notes.md with line numbers:\n     2\ttwo\n     3\tthree"},
		{args{"command": "view", "path": "/memories/notes.md", "view_range": []int{3, -1}}, "Here's the content of /memories/notes.md with line numbers:\n     3\tthree\n     4\t"},
		{args{"command": "view", "path": "/memories/notes.md", "view_range": []int{9, 10}}, "!Error: Invalid `view_range` parameter: [9, 10]. It should be within the range of lines of the file: [1, 4]"},
		{args{"command": "view", "path": "/memories", "view_range": []int{1, 2}}, "!Error: The `view_range` parameter is not allowed when `path` points to a directory."},
		{create("/memories/notes.md", "a b a\nc"), "File created successfully at: /memories/notes.md"},
		{replace("/memories/notes.md", "x", "y"), "!Error: No replacement was performed, old_str `x` did not appear verbatim in /memories/notes.md."},
		{replace("/memories/notes.md", "a", "y"), "!Error: No replacement was performed. Multiple occurrences of old_str `a` in lines: 1 (2 occurrences). Please ensure it is unique"},
		{replace("/memories/notes.md", "", "y"), "!Error: No replacement was performed. old_str is empty."},
		{replace("/memories/notes.md", "b a\nc", "d"), "The memory file has been edited." + snippet("/memories/notes.md", "     1\ta d")},
		{args{"command": "str_replace", "path": "/memories/notes.md", "old_str": " d"}, "The memory file has been edited." + snippet("/memories/notes.md", "     1\ta")},
		{replace("/memories/no.md", "a", "b"), missing},
		{insert("/memories/notes.md", 1, "z"), "The file /memories/notes.md has been edited." + snippet("/memories/notes.md", "     1\ta\n     2\tz\n     3\t")},
		{insert("/memories/notes.md", 0, "0\n"), "The file /memories/notes.md has been edited." + snippet("/memories/notes.md", "     1\t0\n     2\ta\n     3\tz\n     4\t")},
		{insert("/memories/notes.md", 4, "x"), "!Error: Invalid `insert_line` parameter: 4. It should be within the range of lines of the file: [0, 3]"},
		{insert("/memories/no.md", 0, "x"), missing},
		{create("/memories/a/b/c.md", strings.Repeat("x", 1536)), "File created successfully at: /memories/a/b/c.md"},
		{create("/memories/.hidden/x", "x"), "File created successfully at: /memories/.hidden/x"},
		{view("/memories/"), listed + "\n1.5K\t/memories\n1.5K\t/memories/a\n1.5K\t/memories/a/b\n6B\t/memories/notes.md"},
		{create("/memories/a", "x"), "!Error: The path /memories/a is a directory."},
		{create("/memories", "x"), "!Error: The path /memories is a directory."},
		{create("/memories/notes.md/x", "x"), "!Error: The path /memories/notes.md/x is not possible: /memories/notes.md is a file."},
		{create("/memories/empty", ""), "File created successfully at: /memories/empty"},
		{view("/memories/empty"), "Here's the content of /memories/empty with line numbers:\n     1\t"},
		{rename("/memories/notes.md", "/memories/empty"), "!Error: The destination /memories/empty already exists"},
		{rename("/memories/notes.md", "/memories/a"), "!Error: The destination /memories/a already exists"},
		{rename("/memories/no.md", "/memories/x"), missing},
		{rename("/memories/a", "/memories/a/b/d"), "!Error: The destination /memories/a/b/d is inside of /memories/a."},
		{rename("/memories/a", "/memories/z"), "Successfully renamed /memories/a to /memories/z"},
		{view("/memories/a"), "!Error: The path /memories/a does not exist. Please provide a valid path."},
		{rename("/memories/notes.md", "/memories/z/notes.md"), "Successfully renamed /memories/notes.md to /memories/z/notes.md"},
		{view("/memories/z"), strings.Replace(listed, "/memories", "/memories/z", 1) + "\n1.5K\t/memories/z\n1.5K\t/memories/z/b\n1.5K\t/memories/z/b/c.md\n6B\t/memories/z/notes.md"},
		{remove("/memories/z"), "Successfully deleted /memories/z"},
		{remove("/memories/z"), "!Error: The path /memories/z does not exist. Please provide a valid path."},
		{remove("/memories/empty"), "Successfully deleted /memories/empty"},
		{remove("/memories"), "!Error: The directory /memories itself can be neither deleted nor renamed."},
		{view("/etc/passwd"), "!Error: The path /etc/passwd is not below /memories. All paths begin with /memories"},
		{view("/memories/../etc"), "!Error: The path /memories/../etc is not below /memories: parts such as .. are refused"},
		{view("/memories/%2e%2e/etc"), "!Error: The path /memories/%2e%2e/etc is not below /memories: parts such as .. are refused"},
		{view("/memories/..%2fetc"), "!Error: The path /memories/..%2fetc is not below /memories: parts such as .. are refused"},
		{create(`/memories/..\x`, "x"), `!Error: The path /memories/..\x is not below /memories: parts such as .. are refused`},
		{create("/memories//x", "x"), "!Error: The path /memories//x has an empty part"},
		{create("/memories/"+strings.Repeat("x", 250), "x"), "!Error: The path has 260 bytes; at most 256"},
		{rename("/memories/.hidden/x", "/memories/../x"), "!Error: The path /memories/../x is not below /memories: parts such as .. are refused"},
	}
	for i, step := range steps {
		want, isError := strings.CutPrefix(step.want, "!")
		if isError {
			if got := failing(t, a, "memory", step.in, want); got != want {
				t.Errorf("step %d %v: %q", i, step.in, got)
			}
			continue
		}
		out, text := call[mcp.FileResult](t, a, "memory", step.in)
		if diff := cmp.Diff(want, text); diff != "" || out.Text != text {
			t.Errorf("step %d %v (-want +got):\n%s", i, step.in, diff)
		}
	}
}

// TestAFileIsAMemoryItem holds the mapping: it is what two machines agree on.
func TestAFileIsAMemoryItem(t *testing.T) {
	n := newNode(t)
	a := connect(t, mcp.New(n, mcp.Config{}), mcp.Options{})
	call[mcp.FileResult](t, a, "memory", args{"command": "create", "path": "/memories/u\u0308.md", "file_text": "x"})
	it, err := n.replica.MemoryLibrary().GetIn(t.Context(), state.Scope{}, "/memories/\u00fc.md")
	if err != nil || it.Kind != "file" || it.Content != "x" || it.Source != "tester" {
		t.Errorf("%+v, %v", it, err)
	}
	// It is found like other memory, and an item of another kind is no file.
	if m, _ := call[mcp.Memory](t, a, "memory_get", args{"id": it.ID}); m.Content != "x" {
		t.Errorf("memory_get: %+v", m)
	}
	call[mcp.MemoryEntry](t, a, "memory_write", args{"id": "/memories/fact", "content": "x"})
	failing(t, a, "memory", args{"command": "view", "path": "/memories/fact"}, "does not exist")
	failing(t, a, "memory", args{"command": "create", "path": "/memories/fact", "file_text": "y"}, "memory item of another kind")
	if m, _ := call[mcp.Memory](t, a, "memory_get", args{"id": "/memories/fact"}); m.Content != "x" {
		t.Errorf("the item of another kind now holds %q", m.Content)
	}
}

// TestADirectoryMovesWholeOrNotAtAll holds that a name that is too long is found
// before anything has moved.
func TestADirectoryMovesWholeOrNotAtAll(t *testing.T) {
	a := connect(t, mcp.New(newNode(t), mcp.Config{}), mcp.Options{})
	for _, name := range []string{"a", "b" + strings.Repeat("b", 200), "c"} {
		call[mcp.FileResult](t, a, "memory", args{"command": "create", "path": "/memories/d/" + name, "file_text": "x"})
	}
	failing(t, a, "memory", args{"command": "rename", "old_path": "/memories/d", "new_path": "/memories/" + strings.Repeat("z", 60)}, "at most 256")
	if out, _ := call[mcp.FileResult](t, a, "memory", args{"command": "view", "path": "/memories"}); strings.Contains(out.Text, "zzz") || !strings.Contains(out.Text, "/memories/d/a") {
		t.Errorf("then there is\n%s", out.Text)
	}
}

// TestEditsAtOnce lets agents edit one file at once: none of the edits is lost.
func TestEditsAtOnce(t *testing.T) {
	s := mcp.New(newNode(t), mcp.Config{})
	const agents, edits = 3, 5
	first := connect(t, s, mcp.Options{})
	call[mcp.FileResult](t, first, "memory", args{"command": "create", "path": "/memories/log", "file_text": ""})
	var wait sync.WaitGroup
	for i := range agents {
		a := connect(t, s, mcp.Options{})
		wait.Go(func() {
			for j := range edits {
				in := args{"command": "insert", "path": "/memories/log", "insert_line": 0, "insert_text": fmt.Sprintf("agent %d edit %d", i, j)}
				for { // so many at once may outdo the tries of one call
					res, err := a.CallTool(t.Context(), callParams("memory", in))
					if err != nil {
						t.Errorf("insert: %v", err)
						return
					}
					if !res.IsError {
						break
					}
				}
			}
		})
	}
	wait.Wait()
	out, _ := call[mcp.FileResult](t, first, "memory", args{"command": "view", "path": "/memories/log"})
	for i := range agents {
		for j := range edits {
			if want := fmt.Sprintf("\tagent %d edit %d\n", i, j); strings.Count(out.Text, want) != 1 {
				t.Errorf("%q is there %d times", want, strings.Count(out.Text, want))
			}
		}
	}
}
