package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

const (
	// editTriesMax is how often an edit is made anew when somebody else writes the
	// same file meanwhile.
	editTriesMax = 8
	// editContext is how many lines around an edit its answer shows.
	editContext = 4
)

func createFile(ctx context.Context, c *call, path filePath) (FileResult, error) {
	if err := c.placeFor(ctx, path); err != nil {
		return FileResult{}, err
	}
	written, err := c.writeFile(ctx, path, c.args.text("file_text"), c.client, state.Envelope{})
	if err != nil {
		return FileResult{}, err
	}
	files, err := c.described(ctx, written)
	return FileResult{Text: fmt.Sprintf("File created successfully at: %s", path) + gatedOf(written.Secrets).note(), Files: files}, err
}

// placeFor refuses a path where no file can be: a directory, and one below a
// file.
func (s *Server) placeFor(ctx context.Context, path filePath) error {
	inside, err := s.filesBelow(ctx, path)
	if err != nil {
		return err
	}
	if len(inside) > 0 || path == fileRoot {
		return fileErrorf(wire.CodeInvalid, "The path %s is a directory.", path)
	}
	if it, err := s.node.State().MemoryLibrary().GetIn(ctx, state.Scope{}, string(path)); (err == nil || errors.Is(err, state.ErrIncomplete)) && it.Kind != fileKind {
		return fileErrorf(wire.CodeConflict, "The path %s is the id of a memory item of another kind; memory_get reads it.", path)
	}
	for i, r := range path {
		if r != '/' || i <= len(fileRoot) {
			continue
		}
		if _, err := s.file(ctx, path[:i]); !isMissing(err) {
			return fileErrorf(wire.CodeInvalid, "The path %s is not possible: %s is a file.", path, path[:i])
		}
	}
	return nil
}

// isMissing reports whether an error of file says that there is none.
func isMissing(err error) bool {
	var missing *fileError
	return errors.As(err, &missing)
}

func replaceInFile(ctx context.Context, c *call, path filePath) (FileResult, error) {
	oldText, newText := c.args.text("old_str"), c.args.text("new_str")
	if oldText == "" {
		return FileResult{}, fileErrorf(wire.CodeInvalid, "No replacement was performed. old_str is empty.")
	}
	return c.edit(ctx, path, func(text string) (edited string, line int, err error) {
		switch places := placesOf(text, oldText); len(places) {
		case 0:
			return "", 0, fileErrorf(wire.CodeInvalid, "No replacement was performed, old_str `%s` did not appear verbatim in %s.", snippet(oldText), path)
		case 1:
			at := places[0]
			return text[:at] + newText + text[at+len(oldText):], strings.Count(text[:at], "\n") + 1, nil
		default:
			numbers := make([]string, len(places))
			for i, at := range places {
				numbers[i] = strconv.Itoa(strings.Count(text[:at], "\n") + 1)
			}
			return "", 0, fileErrorf(wire.CodeInvalid,
				"No replacement was performed. Multiple occurrences of old_str `%s` in lines: %s (%d occurrences). Please ensure it is unique",
				snippet(oldText), strings.Join(slices.Compact(numbers), ", "), len(places))
		}
	}, "The memory file has been edited.")
}

// placesOf returns where a text occurs in another, also where it overlaps itself.
func placesOf(text, part string) []int {
	var places []int
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return places
		}
		places = append(places, from+i)
		from += i + 1
	}
}

func insertInFile(ctx context.Context, c *call, path filePath) (FileResult, error) {
	line, insert := c.args.number("insert_line", 0), c.args.text("insert_text")
	return c.edit(ctx, path, func(text string) (string, int, error) {
		lines := strings.SplitAfter(text, "\n")
		if lines[len(lines)-1] == "" { // what follows the last line end is no line
			lines = lines[:len(lines)-1]
		}
		if line > len(lines) {
			return "", 0, fileErrorf(wire.CodeInvalid,
				"Invalid `insert_line` parameter: %d. It should be within the range of lines of the file: [0, %d]", line, len(lines))
		}
		before, after := strings.Join(lines[:line], ""), strings.Join(lines[line:], "")
		if before != "" && !strings.HasSuffix(before, "\n") {
			before += "\n"
		}
		if !strings.HasSuffix(insert, "\n") {
			insert += "\n"
		}
		return before + insert + after, line + 1, nil
	}, fmt.Sprintf("The file %s has been edited.", path))
}

// edit changes the text of a file, and shows the lines around the change. When
// somebody else writes meanwhile the change is made to the new text: so of two
// edits at once none is lost.
func (c *call) edit(ctx context.Context, path filePath, change func(text string) (edited string, line int, err error), done string) (FileResult, error) {
	for try := 1; ; try++ {
		it, err := c.file(ctx, path)
		if err != nil {
			return FileResult{}, err
		}
		edited, line, err := change(it.Content)
		if err != nil {
			return FileResult{}, err
		}
		written, err := c.writeFile(ctx, path, edited, it.Source, it.Envelope)
		if errors.Is(err, state.ErrConflict) && try < editTriesMax {
			continue
		}
		if err != nil {
			return FileResult{}, err
		}
		lines := strings.Split(edited, "\n")
		first, last := max(line-editContext, 1), min(line+editContext, len(lines))
		files, err := c.described(ctx, written)
		return FileResult{
			Text:  done + fmt.Sprintf(" Here's a snippet of %s with line numbers:\n%s", path, numbered(lines, min(first, last), last)) + gatedOf(written.Secrets).note(),
			Files: files,
		}, err
	}
}
