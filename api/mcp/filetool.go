package mcp

import (
	"context"
	"errors"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// File is one file of the tool memory.
type File struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
	// Incomplete says that the text is not all on this machine yet.
	Incomplete bool `json:"incomplete"`
	Provenance
}

// FileResult is what the tool memory answers.
type FileResult struct {
	Command string `json:"command"`
	Path    string `json:"path"`
	// Text is the answer, as the text of the result has it.
	Text string `json:"text"`
	// Files are those that the answer is about: shown, written or deleted.
	Files []File `json:"files"`
}

// fileTool is the tool that some models are trained on. Its texts are those that
// they know.
func fileTool() *tool {
	return &tool{
		name: "memory", title: "Memory files", group: groupFile, destructive: true,
		about: "Read and write the memory directory " + fileRoot + ", files that persist between sessions and are the same on all machines of the fleet. " +
			"Commands: view (path; view_range for a part of a file), create (path, file_text; overwrites), str_replace (path, old_str, new_str), " +
			"insert (path, insert_line, insert_text), delete (path), rename (old_path, new_path). View " + fileRoot + " before a task.",
		args: []argument{
			{name: "command", required: true, about: "What to do.", options: []string{"view", "create", "str_replace", "insert", "delete", "rename"}},
			{name: "path", about: "The file or directory, such as " + fileRoot + "/notes.md."},
			{name: "view_range", form: formRange, about: "For view of a file: the first and the last line, from 1; -1 is the end."},
			{name: "file_text", about: "For create: the whole text."},
			{name: "old_str", about: "For str_replace: the text to replace. It has to occur exactly once."},
			{name: "new_str", about: "For str_replace: the text in its place; without it the text is removed."},
			{name: "insert_line", form: formNumber, about: "For insert: after which line, 0 for the beginning."},
			{name: "insert_text", about: "For insert: the text."},
			{name: "old_path", about: "For rename: what to rename."},
			{name: "new_path", about: "For rename: what to call it."},
		},
		output: schemaOf[FileResult], run: runFile,
	}
}

// fileCommand is one command of the tool memory: what it needs, what it takes
// besides, and what it does.
type fileCommand struct {
	needs, takes []string
	run          func(ctx context.Context, c *call, path filePath) (FileResult, error)
}

func fileCommands() map[string]fileCommand {
	return map[string]fileCommand{
		"view":        {[]string{"path"}, []string{"view_range"}, viewFile},
		"create":      {[]string{"path", "file_text"}, nil, createFile},
		"str_replace": {[]string{"path", "old_str"}, []string{"new_str"}, replaceInFile},
		"insert":      {[]string{"path", "insert_line", "insert_text"}, nil, insertInFile},
		"delete":      {[]string{"path"}, nil, deleteFile},
		"rename":      {[]string{"old_path", "new_path"}, nil, renameFile},
	}
}

func runFile(ctx context.Context, c *call) (result, error) {
	name := c.args.text("command")
	command := fileCommands()[name]
	given := 1
	for _, need := range command.needs {
		if !c.args.has(need) {
			return result{}, fileErrorf(wire.CodeBadRequest, "The command %s needs the argument %s", name, need)
		}
		given++
	}
	for _, extra := range command.takes {
		if c.args.has(extra) {
			given++
		}
	}
	if given < len(c.args) {
		return result{}, fileErrorf(wire.CodeBadRequest, "The command %s takes only: %s", name, listOf(append(command.needs, command.takes...)))
	}
	first := "path"
	if name == "rename" {
		first = "old_path"
	}
	path, err := parseFilePath(c.args.text(first))
	if err != nil {
		return result{}, err
	}
	out, err := command.run(ctx, c, path)
	if err != nil {
		return result{}, err
	}
	out.Command, out.Path = name, string(path)
	return result{out, shown(out.Text)}, nil
}

// file returns the item of a path. Errors: a *fileError when there is none, a
// problem when its text has not come yet.
func (s *Server) file(ctx context.Context, path filePath) (state.MemoryItem, error) {
	it, err := s.node.State().MemoryLibrary().GetIn(ctx, state.Scope{}, string(path))
	if errors.Is(err, state.ErrNotFound) || it.Kind != fileKind && (err == nil || errors.Is(err, state.ErrIncomplete)) {
		return it, noSuchFile(path)
	}
	return it, err
}

// filesBelow returns the files in a directory, at any depth, by path.
func (s *Server) filesBelow(ctx context.Context, dir filePath) ([]state.MemoryItem, error) {
	all, err := s.node.State().MemoryLibrary().List(ctx, state.Scope{}, fileKind)
	if err != nil {
		return nil, err
	}
	var found []state.MemoryItem
	for _, it := range all {
		if filePath(it.ID).below(dir) {
			found = append(found, it)
		}
	}
	sortFiles(found)
	return found, nil
}

// writeFile writes a file by a token. Errors: state.ErrConflict and others of
// state.MemoryStore, a problem for text that nobody can mean.
func (s *Server) writeFile(ctx context.Context, path filePath, text, source string, token state.Envelope) (state.MemoryItem, error) {
	if reason := (wire.MemoryWrite{ID: string(path), Content: text + "."}).Fault(); reason != "" {
		return state.MemoryItem{}, api.NewProblem(wire.CodeInvalid, reason)
	}
	return s.node.State().MemoryLibrary().Write(ctx, state.MemoryItem{
		ID: string(path), Kind: fileKind, Content: text, Source: source, Envelope: token,
	})
}

// described tells of files.
func (s *Server) described(ctx context.Context, items ...state.MemoryItem) ([]File, error) {
	in, err := s.conflicts(ctx, keysOf(items, keyOfMemory)...)
	if err != nil {
		return nil, err
	}
	files := make([]File, 0, len(items))
	for _, it := range items {
		files = append(files, File{it.ID, len(it.Content), it.Incomplete, s.provenance(it.Envelope, in[keyOfMemory(it)])})
	}
	return files, nil
}
