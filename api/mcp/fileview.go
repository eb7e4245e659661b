package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

const (
	// fileLinesMax is how many lines the numbers of a view have room for.
	fileLinesMax = 999_999
	// viewDepth is how deep the view of a directory goes.
	viewDepth = 2
)

func viewFile(ctx context.Context, c *call, path filePath) (FileResult, error) {
	it, err := c.file(ctx, path)
	var missing *fileError
	if errors.As(err, &missing) {
		return viewDirectory(ctx, c, path)
	}
	if err != nil {
		return FileResult{}, err
	}
	lines := strings.Split(it.Content, "\n")
	if len(lines) > fileLinesMax {
		return FileResult{}, fileErrorf(wire.CodeTooLarge, "File %s exceeds maximum line limit of 999,999 lines.", path)
	}
	first, last := 1, len(lines)
	if c.args.has("view_range") {
		wanted, _ := c.args["view_range"].([2]int)
		if first, last = wanted[0], wanted[1]; last == -1 {
			last = len(lines)
		}
		if first < 1 || first > len(lines) || last < first {
			return FileResult{}, fileErrorf(wire.CodeInvalid,
				"Invalid `view_range` parameter: [%d, %d]. It should be within the range of lines of the file: [1, %d]", wanted[0], wanted[1], len(lines))
		}
		last = min(last, len(lines))
	}
	files, err := c.described(ctx, it)
	return FileResult{Text: fmt.Sprintf("Here's the content of %s with line numbers:\n%s", path, numbered(lines, first, last)), Files: files}, err
}

// numbered shows lines with their numbers, the first being 1.
func numbered(lines []string, first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, "%6d\t%s", i, lines[i-1])
		if i < last {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func viewDirectory(ctx context.Context, c *call, dir filePath) (FileResult, error) {
	found, err := c.filesBelow(ctx, dir)
	if err != nil {
		return FileResult{}, err
	}
	if len(found) == 0 && dir != fileRoot {
		return FileResult{}, noSuchFile(dir)
	}
	if c.args.has("view_range") {
		return FileResult{}, fileErrorf(wire.CodeInvalid, "The `view_range` parameter is not allowed when `path` points to a directory.")
	}
	sizes := map[filePath]int{dir: 0}
	var shownFiles []state.MemoryItem
	for _, it := range found {
		parts := strings.Split(filePath(it.ID).under(dir), "/")
		if slices.ContainsFunc(parts, isHidden) {
			continue
		}
		sizes[dir] += len(it.Content)
		at := dir
		for _, part := range parts[:min(len(parts), viewDepth)] {
			at += filePath("/" + part)
			sizes[at] += len(it.Content)
		}
		if len(parts) <= viewDepth {
			shownFiles = append(shownFiles, it)
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:", dir)
	for _, path := range slices.Sorted(maps.Keys(sizes)) {
		fmt.Fprintf(&text, "\n%s\t%s", sizeText(sizes[path]), path)
	}
	files, err := c.described(ctx, shownFiles...)
	return FileResult{Text: text.String(), Files: files}, err
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }

// sizeText writes a size as du -h does.
func sizeText(n int) string {
	size := float64(n)
	for _, unit := range []string{"B", "K", "M"} {
		if size < 1024 {
			if unit == "B" {
				return strconv.Itoa(n) + unit
			}
			return fmt.Sprintf("%.1f%s", size, unit)
		}
		size /= 1024
	}
	return fmt.Sprintf("%.1fG", size)
}

func sortFiles(items []state.MemoryItem) {
	slices.SortFunc(items, func(a, b state.MemoryItem) int { return cmp.Compare(a.ID, b.ID) })
}

func listOf(names []string) string { return strings.Join(names, ", ") }
