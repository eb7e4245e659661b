package node

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// lockTries is how often a lock is taken whose file has gone meanwhile.
const lockTries = 100

// errLockHeld is what lockFile returns while another process has the lock.
var errLockHeld = errors.New("node: lock is held")

// dirLock is the lock on a data directory. It ends with the process.
type dirLock struct{ file *os.File }

// lockDir takes the lock of an existing data directory. Errors: ErrInUse,
// naming the process when it is known.
//
// Whoever gives up making an instance may remove the file while holding it: a
// lock on a file that has gone is none, so it is taken again.
func lockDir(dir string) (*dirLock, error) {
	for range lockTries {
		l, err := tryLock(dir)
		if err != nil || l.isThere(dir) {
			return l, err
		}
		l.release()
	}
	return nil, fmt.Errorf("node: lock: %s is removed again and again", layout(dir).lockPath())
}

func tryLock(dir string) (*dirLock, error) {
	f, err := os.OpenFile(layout(dir).lockPath(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("node: lock: %w", err)
	}
	if err := lockFile(f); err != nil {
		defer f.Close() //nolint:errcheck // nothing was written
		if errors.Is(err, errLockHeld) {
			return nil, fmt.Errorf("%w%s: stop it first, or use another --dir (%s)", ErrInUse, holder(f), dir)
		}
		return nil, fmt.Errorf("node: lock %s: %w", f.Name(), err)
	}
	l := &dirLock{file: f}
	l.sign()
	return l, nil
}

// isThere reports whether the lock is on the file that others find.
func (l *dirLock) isThere(dir string) bool {
	mine, err := l.file.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(layout(dir).lockPath())
	return err == nil && os.SameFile(mine, found)
}

// sign leaves the process id for the message that others get. On a full disk
// there is none, and the lock holds all the same.
func (l *dirLock) sign() {
	_ = l.file.Truncate(0)
	_, _ = l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
}

// holder returns " (pid N)" when the holder left its number.
func holder(f *os.File) string {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (pid %d)", pid)
}

// release gives the lock back. The file stays.
func (l *dirLock) release() { _ = l.file.Close() }
