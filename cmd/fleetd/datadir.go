package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

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
			return dir, nil
		}
	}
	base, err := dataHome(a.getenv)
	if err != nil {
		return "", failed(exitUsage, "name one with --dir or FLEETD_DIR", "there is no default data directory: %w", err)
	}
	return filepath.Join(base, "fleetd"), nil
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

// notRunning explains that no daemon answers: there may be none to start yet.
func (a *app) notRunning() *failure {
	dir, err := a.dir()
	if err != nil {
		return a.explain(err)
	}
	if !node.IsInitialised(dir) {
		return &failure{
			"daemon not running, and no instance in " + dir, exitNotRunning,
			"fleetd init --name N begins a fleet, fleetd join TICKET --name N enters one; then fleetd run",
		}
	}
	return &failure{"daemon not running for " + dir, exitNotRunning, "fleetd run --dir " + dir + " starts it"}
}
