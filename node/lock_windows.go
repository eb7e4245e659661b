//go:build windows

package node

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockOffset is far behind the content, so that others can read the process id
// while the lock is held: locks of this system keep readers away.
const lockOffset = 1 << 20

// lockFile takes an exclusive lock that ends with the file's handle. Errors:
// errLockHeld.
func lockFile(f *os.File) error {
	at := &windows.Overlapped{Offset: lockOffset}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLockHeld
	}
	return err
}

// syncDir does nothing: this system makes renames durable by itself and cannot
// open a directory to sync it.
func syncDir(string) error { return nil }

// isPrivate does not tell users apart here: the mode bits of this system mean
// nothing, and its directories for data and temporary files are the user's own.
func isPrivate(os.FileInfo) bool { return true }
