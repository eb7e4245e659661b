package node

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// socketPathMax is the longest path of the socket in bytes: systems have room
// for 104 or 108 with the terminator.
const socketPathMax = 100

// PrepareSocket returns where the local API of a data directory listens: in
// the directory, or, where that path would be too long, below runtimeDir, the
// user's directory for such files (the system's temporary one when empty),
// with a pointer file in the data directory. The caller holds the directory,
// that is, has a Node of it.
func PrepareSocket(dir, runtimeDir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("node: socket: %w", err)
	}
	at := layout(absolute)
	if len(at.socketFile()) <= socketPathMax {
		if err := os.Remove(at.socketPointer()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("node: socket: %w", err)
		}
		return at.socketFile(), nil
	}
	if runtimeDir == "" {
		runtimeDir = filepath.Join(os.TempDir(), fmt.Sprintf("fleetd-%d", os.Getuid()))
		if err := ownDir(runtimeDir); err != nil {
			return "", err
		}
	}
	name := sha256.Sum256([]byte(absolute))
	path := filepath.Join(runtimeDir, "fleetd-"+hex.EncodeToString(name[:8])+".sock")
	if len(path) > socketPathMax {
		return "", fmt.Errorf("%w: dir: %s is too long for a socket, and so is %s: use a shorter --dir", ErrConfig, dir, path)
	}
	return path, writeFile(at.socketPointer(), []byte(path+"\n"))
}

// ownDir makes sure that a directory is this user's alone: the temporary
// directory is open to everybody, who may have made one of this name.
func ownDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("node: socket: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("node: socket: %w", err)
	}
	if !info.IsDir() || !isPrivate(info) {
		return fmt.Errorf("node: socket: %s is not a directory of this user alone: remove it, or set XDG_RUNTIME_DIR", dir)
	}
	return nil
}

// FindSocket returns where the local API of a data directory would listen.
// Whether anybody does is for the caller to try.
func FindSocket(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("node: socket: %w", err)
	}
	place, err := os.ReadFile(layout(absolute).socketPointer())
	if errors.Is(err, fs.ErrNotExist) {
		return layout(absolute).socketFile(), nil
	}
	if err != nil {
		return "", fmt.Errorf("node: socket: %w", err)
	}
	return strings.TrimSuffix(string(place), "\n"), nil
}
