package node

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// errLockHeld is what lockFile returns while another process has the lock.
var errLockHeld = errors.New("node: lock is held")

// dirLock is the lock on a data directory. It ends with the process.
type dirLock struct{ file *os.File }

// lockDir takes the lock of an existing data directory. Errors: ErrInUse,
// naming the process when it is known.
func lockDir(dir string) (*dirLock, error) {
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
	if err := l.sign(); err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

// sign leaves the process id for the message that others get.
func (l *dirLock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return fmt.Errorf("node: lock: %w", err)
	}
	if _, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("node: lock: %w", err)
	}
	return nil
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

// release gives the lock back. The file stays: removing it would let two
// processes lock two files of one name.
func (l *dirLock) release() { _ = l.file.Close() }
