package main

import (
	"fmt"
	"io"
	"os"

	"github.com/fleetsync/fleetd/api/wire"
)

// textArgument returns an argument, or standard input when it is "-". what is
// the text of, such as "a memory", and more what else to write than a long one.
func (a *app) textArgument(arg, what, more string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	return readText(a.in, "standard input", what, more)
}

// readText reads all of a text that may be as long as a record.
func readText(r io.Reader, from, what, more string) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(r, wire.TextBytesMax+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", from, err)
	case len(raw) == 0:
		return "", usage(from+" is empty", "put the text into it, or pass the text itself")
	case len(raw) > wire.TextBytesMax:
		return "", failed(exitUsage, "shorten it, or "+more, "%s has more than 8 MB; %s may have 8 MB", from, what)
	}
	return string(raw), nil
}

// readTextFile is readText for a file.
func readTextFile(path, what, more string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // the caller's own user names it
	if err != nil {
		return "", failed(exitError, "name a file that can be read", "%w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	return readText(file, path, what, more)
}
