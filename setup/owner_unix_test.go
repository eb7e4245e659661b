//go:build unix

package setup_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ownerOf returns the owner, the group and the mode of a file.
func ownerOf(t *testing.T, path string) (uid, gid uint32, mode fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatalf("the system says %T of a file", info.Sys())
	}
	return stat.Uid, stat.Gid, info.Mode().Perm()
}

// A file of a user stays that of the user when root runs setup, as with sudo: the
// agent could not read it any more.
func TestAFileKeepsItsOwnerAndMode(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const uid, gid = 12345, 23456
	home := t.TempDir()
	place, path := placeIn(home, nil), filepath.Join(home, ".gemini", "settings.json")
	store(t, path, "{}\n")
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	set(t, "gemini", place, plain, false)
	if !strings.Contains(load(t, path), "mcpServers") {
		t.Fatalf("nothing was written: %s", load(t, path))
	}
	if u, g, mode := ownerOf(t, path); u != uid || g != gid || mode != 0o400 {
		t.Errorf("after setup it belongs to %d:%d with mode %v, want %d:%d with -r--------", u, g, mode, uid, gid)
	}
	undo(t, "gemini", place, false)
	if u, g, mode := ownerOf(t, path); u != uid || g != gid || mode != 0o400 {
		t.Errorf("after undo it belongs to %d:%d with mode %v, want %d:%d with -r--------", u, g, mode, uid, gid)
	}
}
