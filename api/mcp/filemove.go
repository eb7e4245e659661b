package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// filesAt returns the file of a path, or those of a directory. Errors: a
// *fileError when there is neither.
func (s *Server) filesAt(ctx context.Context, path filePath) ([]state.MemoryItem, error) {
	if path == fileRoot {
		return nil, fileErrorf(wire.CodeInvalid, "The directory %s itself can be neither deleted nor renamed.", fileRoot)
	}
	it, err := s.file(ctx, path)
	switch {
	case err == nil, errors.Is(err, state.ErrIncomplete):
		return []state.MemoryItem{it}, nil
	case !isMissing(err):
		return nil, err
	}
	inside, err := s.filesBelow(ctx, path)
	if err == nil && len(inside) == 0 {
		err = noSuchFile(path)
	}
	return inside, err
}

func deleteFile(ctx context.Context, c *call, path filePath) (FileResult, error) {
	found, err := c.filesAt(ctx, path)
	if err != nil {
		return FileResult{}, err
	}
	files, err := c.described(ctx, found...)
	if err != nil {
		return FileResult{}, err
	}
	for _, it := range found {
		// One that is gone already is as it should be.
		if err := c.node.State().MemoryLibrary().DeleteIn(ctx, it.Scope, it.ID); err != nil && !errors.Is(err, state.ErrNotFound) {
			return FileResult{}, err
		}
	}
	return FileResult{Text: fmt.Sprintf("Successfully deleted %s", path), Files: files}, nil
}

// renameFile writes each file anew under its new path and then deletes the old
// one, so that a crash in between leaves both and loses none.
func renameFile(ctx context.Context, c *call, from filePath) (FileResult, error) {
	to, err := parseFilePath(c.args.text("new_path"))
	if err != nil {
		return FileResult{}, err
	}
	found, err := c.filesAt(ctx, from)
	if err != nil {
		return FileResult{}, err
	}
	if to.below(from) {
		return FileResult{}, fileErrorf(wire.CodeInvalid, "The destination %s is inside of %s.", to, from)
	}
	if _, err := c.filesAt(ctx, to); err == nil {
		return FileResult{}, destinationExists(to)
	} else if !isMissing(err) {
		return FileResult{}, err
	}
	if err := c.placeFor(ctx, to); err != nil {
		return FileResult{}, err
	}
	targets := make([]filePath, len(found)) // all of them, before anything moves
	for i, it := range found {
		targets[i] = to
		if filePath(it.ID) != from {
			targets[i] += filePath("/" + filePath(it.ID).under(from))
		}
		if targets[i], err = parseFilePath(string(targets[i])); err != nil {
			return FileResult{}, err
		}
	}
	var moved []state.MemoryItem
	for i, it := range found {
		written, err := c.moveFile(ctx, filePath(it.ID), targets[i])
		if err != nil {
			return FileResult{}, err
		}
		moved = append(moved, written)
	}
	files, err := c.described(ctx, moved...)
	return FileResult{Text: fmt.Sprintf("Successfully renamed %s to %s", from, to), Files: files}, err
}

func destinationExists(path filePath) error {
	return fileErrorf(wire.CodeConflict, "The destination %s already exists", path)
}

// moveFile moves one file. When somebody writes the old one meanwhile, what was
// written moves too.
func (c *call) moveFile(ctx context.Context, from, to filePath) (state.MemoryItem, error) {
	token := state.Envelope{SyncVersion: state.MustNotExist}
	for try := 1; ; try++ {
		it, err := c.file(ctx, from)
		if err != nil {
			return it, err
		}
		written, err := c.writeFile(ctx, to, it.Content, it.Source, token)
		if errors.Is(err, state.ErrConflict) {
			return written, destinationExists(to)
		}
		if err != nil {
			return written, err
		}
		err = c.node.State().MemoryLibrary().DeleteIf(ctx, it.Scope, it.ID, it.Envelope)
		if !errors.Is(err, state.ErrConflict) || try == editTriesMax {
			return written, err
		}
		token = written.Envelope
	}
}
