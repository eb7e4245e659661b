package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/fleetsync/fleetd/fleet"
)

var (
	// ErrNotInitialised is returned for a data directory without an instance.
	ErrNotInitialised = errors.New("node: no instance in this data directory: run fleetd init or fleetd join first")
	// ErrAlreadyInitialised is returned by Init and Join for a directory that
	// holds something; ErrNotEmpty tells when that is no instance.
	ErrAlreadyInitialised = errors.New("node: data directory is in use already")
	// ErrInUse is returned while another process has the data directory.
	ErrInUse = errors.New("node: data directory is in use by a running fleetd")
	// ErrOpenDir is returned for a data directory that others can look into.
	ErrOpenDir = errors.New("node: data directory is open to others")
	// ErrNotEmpty is ErrAlreadyInitialised for a directory that holds something
	// and no instance.
	ErrNotEmpty = fmt.Errorf("%w: it is not empty, and holds no instance", ErrAlreadyInitialised)
	// ErrKeyFile is returned for a key file that cannot be trusted or read.
	ErrKeyFile = errors.New("node: key file")
)

// layout is where things are in a data directory, mode 0700:
//
//	identity.key   the instance's private key, 0600
//	root.key       the fleet's root key, 0600, only where the fleet began
//	config.yaml    settings
//	store/         the store
//	api.token      what requests over loopback carry, 0600, once there were any
//	fleetd.sock    the local API, or fleetd.sock.path, which names its place
//	daemon.log     what a daemon had to say that fleetd mcp started
//	lock           held by the process that uses the directory, with its pid
type layout string

func (l layout) identityFile() string  { return filepath.Join(string(l), "identity.key") }
func (l layout) rootFile() string      { return filepath.Join(string(l), "root.key") }
func (l layout) configFile() string    { return filepath.Join(string(l), "config.yaml") }
func (l layout) storeDir() string      { return filepath.Join(string(l), "store") }
func (l layout) seedFile() string      { return filepath.Join(string(l), "store", "seed") }
func (l layout) tokenFile() string     { return filepath.Join(string(l), "api.token") }
func (l layout) socketFile() string    { return filepath.Join(string(l), "fleetd.sock") }
func (l layout) socketPointer() string { return filepath.Join(string(l), "fleetd.sock.path") }
func (l layout) lockPath() string      { return filepath.Join(string(l), "lock") }

// IsInitialised reports whether dir holds an instance.
func IsInitialised(dir string) bool {
	_, err := os.Stat(layout(dir).identityFile())
	return err == nil
}

// checkInstance makes sure that a directory holds an instance and is closed to
// others. Errors: ErrNotInitialised, which is ErrKeyFile too when only the key
// is gone; ErrOpenDir.
func (l layout) checkInstance() error {
	switch {
	case IsInitialised(string(l)):
	case l.lostKey():
		return lostKeyError{path: l.identityFile()}
	default:
		return fmt.Errorf("%w (%s)", ErrNotInitialised, string(l))
	}
	info, err := os.Stat(string(l))
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	// The modes of Windows mean nothing.
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("%w: %s has mode %#o: run chmod 700 %s", ErrOpenDir, string(l), mode, string(l))
	}
	return nil
}

// lostKeyError is both ErrKeyFile and ErrNotInitialised.
type lostKeyError struct{ path string }

func (e lostKeyError) Error() string {
	return fmt.Sprintf("%s %s is gone: without it nothing can be signed as this instance, and nothing replaces it: put it back from a backup, or join again in another --dir",
		ErrKeyFile, e.path)
}

func (e lostKeyError) Is(target error) bool {
	return target == ErrKeyFile || target == ErrNotInitialised
}

// lostKey reports whether a directory holds an instance but for its key.
func (l layout) lostKey() bool {
	_, noConfig := os.Stat(l.configFile())
	_, noStore := os.Stat(l.storeDir())
	return !IsInitialised(string(l)) && noConfig == nil && noStore == nil && !l.isStaged()
}

// isStaged reports whether an instance was being made in a directory.
func (l layout) isStaged() bool {
	_, err := os.Lstat(filepath.Join(string(l), stagedKey))
	return err == nil
}

// readKey reads a private key. A file that others can read is refused: the key
// may be known to them. Errors: ErrKeyFile, and fs.ErrNotExist.
func readKey(path string) (fleet.Identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fleet.Identity{}, fmt.Errorf("node: read key: %w", err)
	}
	if !isPrivate(info) {
		return fleet.Identity{}, fmt.Errorf("%w %s (mode %#o) must belong to you and be closed to others: chmod 600 it, or make a new instance if somebody may have read it",
			ErrKeyFile, path, info.Mode().Perm())
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the user names the data directory
	if err != nil {
		return fleet.Identity{}, fmt.Errorf("node: read key: %w", err)
	}
	id, err := fleet.IdentityFromBytes(raw)
	if err != nil {
		return fleet.Identity{}, fmt.Errorf("%w %s: %w", ErrKeyFile, path, err)
	}
	return id, nil
}

// writeFile writes a file, mode 0600, so that it is there whole or not at all,
// also after a crash.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return fmt.Errorf("node: write %s: %w", path, err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is renamed, or of no use
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o600)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("node: write %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}
