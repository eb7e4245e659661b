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
	"strings"

	"github.com/fleetsync/fleetd/fleet"
)

const (
	// stagingSuffix names the directory beside a data directory in which it is
	// made, where there was none.
	stagingSuffix = ".new"
	// stagedKey names the key of an instance that is made in a directory that was
	// there: it gets its own name last, and with it the directory an instance.
	stagedKey = "identity.key.new"
)

// staging is a data directory in the making. One that is new stands beside its
// place until all of it is there. One that was there is filled: it may be a
// mount point, or a link, or stand where nothing else can. Either way a failure
// leaves nothing half-made.
type staging struct {
	layout
	target  string
	within  bool // target was there
	mode    fs.FileMode
	parents []string // made for it, outermost first
	hadLock bool
	lock    *dirLock
	key     fleet.Identity
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
	s := &staging{target: target}
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		err = s.enter(info)
	case err == nil:
		err = fmt.Errorf("node: %s is no directory: choose another --dir", target)
	case !errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("node: %w", err)
	default:
		err = s.beside()
	}
	if err != nil {
		return nil, err
	}
	if err := s.begin(rand); err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

// enter takes a directory that is there and empty.
func (s *staging) enter(info fs.FileInfo) error {
	if err := checkFree(s.target); err != nil {
		return err
	}
	s.layout, s.within, s.mode = layout(s.target), true, info.Mode().Perm()
	_, err := os.Lstat(s.lockPath())
	s.hadLock = err == nil
	if s.lock, err = lockDir(s.target); err != nil {
		return err
	}
	// Somebody may have been faster than the lock.
	if err = checkEntries(s.target); err == nil && s.mode&0o077 != 0 && runtime.GOOS != "windows" {
		if err = os.Chmod(s.target, 0o700); err != nil { //nolint:gosec // a directory
			err = fmt.Errorf("%w: %s must be closed to others, and this user cannot close it: %w", ErrOpenDir, s.target, err)
		}
	}
	if err != nil {
		s.leave()
	}
	return err
}

// beside makes the directory in which one that is not there is staged.
func (s *staging) beside() error {
	if _, err := os.Lstat(s.target); err == nil {
		return fmt.Errorf("node: %s is a link to nothing: make what it names, or choose another --dir", s.target)
	}
	s.layout = layout(s.target + stagingSuffix)
	err := s.makeParents(filepath.Dir(s.target))
	if err == nil {
		err = os.Mkdir(string(s.layout), 0o700)
	}
	made := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		s.removeParents()
		return fmt.Errorf("node: make %s: %w", s.target, err)
	}
	if s.lock, err = lockDir(string(s.layout)); err != nil && made {
		_ = os.RemoveAll(string(s.layout))
		s.removeParents()
	}
	return err
}

// makeParents is os.MkdirAll that notes what it made.
func (s *staging) makeParents(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.makeParents(filepath.Dir(dir)); err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if err == nil {
		s.parents = append(s.parents, dir)
	}
	if info, failed := os.Stat(dir); failed == nil && info.IsDir() {
		return nil // whoever made it
	}
	return err
}

func (s *staging) removeParents() {
	for _, dir := range slices.Backward(s.parents) {
		_ = os.Remove(dir) // unless somebody put something there
	}
}

// keyFile is where the key is until the directory is an instance.
func (s *staging) keyFile() string {
	if s.within {
		return filepath.Join(s.target, stagedKey)
	}
	return s.identityFile()
}

func (s *staging) begin(rand io.Reader) error {
	if err := s.clear(); err != nil {
		return fmt.Errorf("node: clear an earlier attempt: %w", err)
	}
	var err error
	if s.key, err = readKey(s.keyFile()); err == nil {
		return nil
	}
	if s.key, err = fleet.NewIdentity(rand); err != nil {
		return fmt.Errorf("node: make a key: %w", err)
	}
	return writeFile(s.keyFile(), s.key.Bytes())
}

// clear removes all but key and lock.
func (s *staging) clear() error {
	leftovers := []string{s.rootFile(), s.configFile(), s.storeDir()}
	entries, err := os.ReadDir(string(s.layout))
	for _, e := range entries {
		if isUnfinished(e.Name()) {
			leftovers = append(leftovers, filepath.Join(string(s.layout), e.Name()))
		}
	}
	for _, leftover := range leftovers {
		err = errors.Join(err, os.RemoveAll(leftover))
	}
	return err
}

// commit makes the directory an instance and gives it up.
func (s *staging) commit() error {
	if err := syncDir(string(s.layout)); err != nil {
		return err
	}
	if s.within {
		if err := os.Rename(s.keyFile(), s.identityFile()); err != nil {
			return fmt.Errorf("node: %w", err)
		}
		s.lock.release()
		return syncDir(s.target)
	}
	if runtime.GOOS == "windows" {
		s.lock.release() // it does not move directories with open files
	}
	switch err := os.Rename(string(s.layout), s.target); {
	case err == nil:
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: %w", ErrAlreadyInitialised, err)
	default:
		return fmt.Errorf("node: %w", err)
	}
	s.lock.release()
	return syncDir(filepath.Dir(s.target))
}

// discard removes what was made, when commit did not happen.
func (s *staging) discard() {
	if !s.within {
		s.lock.release()
		_ = os.RemoveAll(string(s.layout))
		s.removeParents()
		return
	}
	if IsInitialised(s.target) {
		s.lock.release()
		return // it did
	}
	_ = s.clear()
	_ = os.Remove(s.keyFile())
	s.leave()
}

// leave gives a directory back as it was.
func (s *staging) leave() {
	_ = os.Chmod(s.target, s.mode)
	if !s.hadLock {
		_ = os.Remove(s.lockPath()) // while it is held: see lockDir
	}
	s.lock.release()
}

// checkFree makes sure that nothing is lost by making a data directory there,
// and nobody is about to.
func checkFree(target string) error {
	if _, err := os.Lstat(layout(target).lockPath()); err == nil {
		lock, err := lockDir(target)
		if err != nil {
			return err
		}
		defer lock.release()
	}
	return checkEntries(target)
}

// checkEntries makes sure that a directory holds nothing but a lock, what file
// systems put at their root, and what an attempt that died has left.
func checkEntries(target string) error {
	entries, err := os.ReadDir(target)
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	if IsInitialised(target) {
		return fmt.Errorf("%w: %s holds an instance: run it, or choose another --dir", ErrAlreadyInitialised, target)
	}
	if layout(target).lostKey() {
		return fmt.Errorf("%w: %s holds an instance whose identity.key is gone: put it back from a backup, or choose another --dir", ErrAlreadyInitialised, target)
	}
	at := layout(target)
	known := []string{at.lockPath(), filepath.Join(target, "lost+found")}
	if at.isStaged() {
		known = append(known, filepath.Join(target, stagedKey), at.rootFile(), at.configFile(), at.storeDir())
	}
	for _, e := range entries {
		if !slices.Contains(known, filepath.Join(target, e.Name())) && !isUnfinished(e.Name()) {
			return fmt.Errorf("%w: %s has %s in it: choose another --dir", ErrNotEmpty, target, e.Name())
		}
	}
	return nil
}

// isUnfinished reports whether a file is one of writeFile's that never got its
// name.
func isUnfinished(name string) bool {
	for _, whole := range []string{stagedKey, "identity.key", "root.key", "config.yaml"} {
		if strings.HasPrefix(name, "."+whole+"-") {
			return true
		}
	}
	return false
}
