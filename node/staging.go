package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/fleetsync/fleetd/fleet"
)

// stagingSuffix names the directory beside a data directory in which it is
// made.
const stagingSuffix = ".new"

// staging is a data directory in the making. It stands beside its place until
// all of it is there, so that a failure leaves nothing half-made.
type staging struct {
	layout
	target string
	lock   *dirLock
	key    fleet.Identity
}

// stage begins a data directory for a target that is free: it makes the
// instance's key. When an earlier attempt died, its key is used again, so that
// an inviter that has accepted it already knows it. Errors:
// ErrAlreadyInitialised, ErrNotEmpty, ErrInUse.
func stage(dir string, rand io.Reader) (*staging, error) {
	target, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	if err := checkFree(target); err != nil {
		return nil, err
	}
	s := &staging{layout: layout(target + stagingSuffix), target: target}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	if err := os.Mkdir(string(s.layout), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("node: %w", err)
	}
	if s.lock, err = lockDir(string(s.layout)); err != nil {
		return nil, err
	}
	if err := s.begin(rand); err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

func (s *staging) begin(rand io.Reader) error {
	for _, leftover := range []string{s.rootFile(), s.configFile(), s.storeDir()} {
		if err := os.RemoveAll(leftover); err != nil {
			return fmt.Errorf("node: clear an earlier attempt: %w", err)
		}
	}
	var err error
	if s.key, err = readKey(s.identityFile()); err == nil {
		return nil
	}
	if s.key, err = fleet.NewIdentity(rand); err != nil {
		return fmt.Errorf("node: make a key: %w", err)
	}
	return writeFile(s.identityFile(), s.key.Bytes())
}

// commit moves the directory to its place and gives it up.
func (s *staging) commit() error {
	if err := syncDir(string(s.layout)); err != nil {
		return err
	}
	// A directory that is there and empty is fine; what else a process held
	// there is only the lock, which checkFree has seen to be free.
	_ = os.Remove(layout(s.target).lockPath())
	if err := os.Remove(s.target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrAlreadyInitialised, err)
	}
	if runtime.GOOS == "windows" {
		s.lock.release() // it does not move directories with open files
	}
	if err := os.Rename(string(s.layout), s.target); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	s.lock.release()
	return syncDir(filepath.Dir(s.target))
}

// discard removes what was made, when commit did not happen.
func (s *staging) discard() {
	s.lock.release()
	_ = os.RemoveAll(string(s.layout))
}

// checkFree makes sure that nothing is lost by making a data directory there.
func checkFree(target string) error {
	entries, err := os.ReadDir(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("node: %w", err)
	}
	isLock := func(e fs.DirEntry) bool { return layout(target).lockPath() == filepath.Join(target, e.Name()) }
	if slices.ContainsFunc(entries, isLock) {
		lock, err := lockDir(target)
		if err != nil {
			return err
		}
		defer lock.release()
	}
	if IsInitialised(target) {
		return fmt.Errorf("%w: %s holds an instance: run it, or choose another --dir", ErrAlreadyInitialised, target)
	}
	if layout(target).lostKey() {
		return fmt.Errorf("%w: %s holds an instance whose identity.key is gone: put it back from a backup, or choose another --dir", ErrAlreadyInitialised, target)
	}
	for _, e := range entries {
		if !isLock(e) {
			return fmt.Errorf("%w: %s has %s in it: choose another --dir", ErrNotEmpty, target, e.Name())
		}
	}
	return nil
}
