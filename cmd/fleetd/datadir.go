package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/node"
)

// getenv returns a variable of the environment that the program was given.
func (a *app) getenv(name string) string {
	for _, pair := range a.env {
		if value, found := strings.CutPrefix(pair, name+"="); found {
			return value
		}
	}
	return ""
}

// dir returns the data directory: the flag, FLEETD_DIR, or the user's own.
func (a *app) dir() (string, error) {
	for _, dir := range []string{a.dirFlag, a.getenv("FLEETD_DIR")} {
		if dir != "" {
			return dir, checkDir(dir)
		}
	}
	base, err := dataHome(a.getenv)
	if err != nil {
		return "", failed(exitUsage, "name one with --dir or FLEETD_DIR", "there is no default data directory: %w", err)
	}
	dir := filepath.Join(base, "fleetd")
	return dir, checkDir(dir)
}

// checkDir refuses a data directory that can be none. One that is not there is
// fine.
func checkDir(dir string) error {
	const next = "name a directory with --dir or FLEETD_DIR"
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return failed(exitUsage, next, "%s cannot be a data directory: a part of the path is a file", dir)
	case err == nil && !info.IsDir():
		return failed(exitUsage, next, "%s is a file, not a directory", dir)
	}
	return nil
}

// explainDir explains a data directory that is not what a command needs.
func (a *app) explainDir(err error) *failure {
	f := &failure{text: plain(err), code: exitError}
	dir, errDir := a.dir()
	if errDir != nil {
		return a.explain(errDir)
	}
	entries, _ := os.ReadDir(dir) // one that cannot be read is as good as empty here
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	switch {
	case node.IsInitialised(dir):
		f.next = "fleetd run starts what is there; another --dir holds another instance"
	case (has("config.yaml") || has("store")) && !has("identity.key.new"):
		f.kind = kindKeyGone
		f.text = "the key of the instance is gone: there is no identity.key in " + dir
		f.next = "put identity.key back from a copy, or begin or join again with another --dir"
	case len(entries) > 0:
		f.text = dir + " is not empty, and holds no instance"
		f.next = "use another --dir"
	default:
		f.next = "fleetd init --name N begins a fleet, fleetd join TICKET --name N enters one"
	}
	return f
}

// quoted writes a path as a shell takes it back.
func quoted(path string) string {
	isPlain := func(r rune) bool {
		return r > unicode.MaxASCII || r == filepath.Separator || strings.ContainsRune("/._-+=:,@%~", r) || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	if strings.IndexFunc(path, func(r rune) bool { return !isPlain(r) || unicode.IsSpace(r) }) < 0 && path != "" {
		return path
	}
	if runtime.GOOS == "windows" {
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// dataHome is where each system keeps what programs of a user remember.
func dataHome(getenv func(string) string) (string, error) {
	switch runtime.GOOS {
	case "windows":
		if dir := getenv("LocalAppData"); dir != "" {
			return dir, nil
		}
		return os.UserCacheDir()
	case "darwin":
		return os.UserConfigDir() // ~/Library/Application Support, which is for data too
	}
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "share"), err
}

// defaultDirText names the default for the help, without this user's home.
func defaultDirText() string {
	switch runtime.GOOS {
	case "windows":
		return `%LocalAppData%\fleetd`
	case "darwin":
		return "~/Library/Application Support/fleetd"
	default:
		return "~/.local/share/fleetd"
	}
}

// connect returns a client of the daemon of the data directory.
func (a *app) connect() (*client.Client, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	socket, err := node.FindSocket(dir)
	if err != nil {
		return nil, err
	}
	return client.New(socket), nil
}

// hasInstance reports whether the data directory holds an instance, as far as can
// be told.
func (a *app) hasInstance() bool {
	dir, err := a.dir()
	return err != nil || node.IsInitialised(dir)
}

// notRunning explains that no daemon answers: there may be none to start yet.
func (a *app) notRunning() *failure {
	dir, err := a.dir()
	if err != nil {
		return a.explain(err)
	}
	if !node.IsInitialised(dir) {
		if f := a.explainDir(node.ErrNotInitialised); f.kind == kindKeyGone {
			return &failure{text: "daemon not running: " + f.text, code: exitNotRunning, next: f.next}
		}
		return &failure{
			text: "daemon not running, and no instance in " + dir, code: exitNotRunning,
			next: "fleetd init --name N begins a fleet, fleetd join TICKET --name N enters one; then fleetd run",
		}
	}
	return &failure{text: "daemon not running for " + dir, code: exitNotRunning, next: "fleetd run --dir " + quoted(dir) + " starts it"}
}
