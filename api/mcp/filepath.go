package mcp

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/fleetsync/fleetd/api/wire"
)

const (
	// fileRoot is the directory that all files of the tool memory are in.
	fileRoot = "/memories"
	// fileKind is the kind of memory item that a file is.
	fileKind = "file"
	// filePathBytesMax bounds a path: it is the id of its item.
	filePathBytesMax = 256
)

// filePath is a path below fileRoot, or fileRoot: absolute, without a slash at
// its end, in Unicode form NFC. It is the id of the memory item that holds the
// file, so that two machines that create one path have one record: the later
// write wins, and the other is kept as a conflict. Directories are no records:
// there is one wherever a file is below it.
type filePath string

// parseFilePath reads a path. Nothing leads out of fileRoot: it stands for no
// place on a disk, but a model that tries should learn that it does not work.
// Errors: a *fileError.
func parseFilePath(text string) (filePath, error) {
	path := norm.NFC.String(strings.TrimRight(text, "/"))
	if path != fileRoot && !strings.HasPrefix(path, fileRoot+"/") {
		return "", fileErrorf(wire.CodeInvalid, "The path %.300s is not below %s. All paths begin with %s", text, fileRoot, fileRoot)
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			plain = segment
		}
		switch {
		case segment == "":
			return "", fileErrorf(wire.CodeInvalid, "The path %.300s has an empty part", text)
		case slices.Contains([]string{".", ".."}, strings.TrimSpace(plain)), strings.ContainsAny(plain, `/\`):
			return "", fileErrorf(wire.CodeInvalid, "The path %.300s is not below %s: parts such as .. are refused", text, fileRoot)
		case strings.IndexFunc(plain, unicode.IsControl) >= 0:
			return "", fileErrorf(wire.CodeInvalid, "The path %.300q has a control character", text)
		}
	}
	if len(path) > filePathBytesMax {
		return "", fileErrorf(wire.CodeInvalid, "The path has %d bytes; at most %d", len(path), filePathBytesMax)
	}
	return filePath(path), nil
}

// below reports whether a path lies in a directory, at any depth.
func (p filePath) below(dir filePath) bool { return strings.HasPrefix(string(p), string(dir)+"/") }

// under returns the part of a path below a directory.
func (p filePath) under(dir filePath) string { return strings.TrimPrefix(string(p), string(dir)+"/") }

// fileError is what the tool memory answers when something is wrong: a problem
// in the words that agents know from this tool.
type fileError struct{ problem *wire.Problem }

func (e *fileError) Error() string { return "Error: " + e.problem.Detail }

// Unwrap returns the problem.
func (e *fileError) Unwrap() error { return e.problem }

func fileErrorf(code wire.Code, format string, args ...any) error {
	return &fileError{&wire.Problem{Code: code, Detail: fmt.Sprintf(format, args...)}}
}

func noSuchFile(path filePath) error {
	return fileErrorf(wire.CodeNotFound, "The path %s does not exist. Please provide a valid path.", path)
}
