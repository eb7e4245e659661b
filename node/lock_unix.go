//go:build unix

package node

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile takes an exclusive lock that ends with the file's last descriptor.
// Errors: errLockHeld.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLockHeld
	}
	return err
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the user names the data directory
	if err != nil {
		return fmt.Errorf("node: sync directory: %w", err)
	}
	err = d.Sync()
	if closed := d.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("node: sync %s: %w", dir, err)
	}
	return nil
}

// isPrivate reports whether a file belongs to the user of this process and is
// closed to all others.
func isPrivate(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
