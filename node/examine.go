package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/fleetsync/fleetd/store"
)

// Finding is the outcome of one check of a data directory.
type Finding struct {
	// Check names what was looked at: directory, keys, files, configuration, disk,
	// network, identity, clock or store.
	Check string
	// Level says how bad it is.
	Level FindingLevel
	// What says what was found, and Do what to do about it; Do is empty when
	// nothing is.
	What, Do string
	// Fixed says that Examine has put it right.
	Fixed bool
}

// FindingLevel grades findings.
type FindingLevel uint8

// The levels.
const (
	// FindingOK is that all is well.
	FindingOK FindingLevel = iota
	// FindingWarning is what works and should be looked at.
	FindingWarning
	// FindingFault is what keeps the instance from working, or from being safe.
	FindingFault
)

// ExamineConfig says what Examine may do.
type ExamineConfig struct {
	// Fix lets it put right what is safe to: modes of files and directories that are
	// open to others, and remains of files that were never finished.
	Fix bool
	// Store has it open the store and prove all of it, which reads every record and
	// leaves one opening more in it. It cannot while a daemon has the directory.
	Store bool
}

// Examine looks at a data directory without a daemon, and beside one: what lies
// in it, who can read it, and whether an instance could start on it. It writes
// nothing but what Fix allows. The findings are in the order of its checks, at
// least one for each that could be made; after a fault that hides what comes next it
// ends.
func Examine(ctx context.Context, dir string, cfg ExamineConfig) []Finding {
	x := &examination{at: layout(dir), cfg: cfg}
	if !x.directory() {
		return x.found
	}
	x.keys()
	x.files()
	settings, ok := x.configuration()
	if !ok {
		return x.found
	}
	x.disk()
	lock, err := lockDir(dir)
	if errors.Is(err, ErrInUse) {
		return x.found // the daemon tells of the rest
	}
	if err != nil {
		x.fault("directory", err.Error(), "look at who owns "+dir)
		return x.found
	}
	lock.release()
	x.network(ctx, settings)
	if cfg.Store {
		x.store(ctx, settings)
	}
	return x.found
}

type examination struct {
	at    layout
	cfg   ExamineConfig
	found []Finding
}

func (x *examination) ok(check, what string) { x.add(Finding{Check: check, What: what}) }

func (x *examination) warn(check, what, do string) {
	x.add(Finding{Check: check, Level: FindingWarning, What: what, Do: do})
}

func (x *examination) fault(check, what, do string) {
	x.add(Finding{Check: check, Level: FindingFault, What: what, Do: do})
}

func (x *examination) add(f Finding) { x.found = append(x.found, f) }

// directory reports whether there is an instance to look at.
func (x *examination) directory() bool {
	dir := string(x.at)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.fault("directory", dir+" is not there", "fleetd init --name N begins a fleet, fleetd join TICKET --name N enters one")
		return false
	case err != nil:
		x.fault("directory", err.Error(), "look at who owns "+dir)
		return false
	case !IsInitialised(dir) && x.at.lostKey():
		x.fault("keys", x.at.identityFile()+" is gone", "put it back from a copy, or join again with another --dir")
		return false
	case !IsInitialised(dir):
		x.fault("directory", dir+" holds no instance", "fleetd init --name N begins a fleet, fleetd join TICKET --name N enters one")
		return false
	}
	if x.closed("directory", dir, info, 0o700) {
		x.ok("directory", dir+" holds an instance, and is closed to others")
	}
	return true
}

// closed makes sure that a file is closed to others, and reports whether it was.
func (x *examination) closed(check, path string, info fs.FileInfo, want fs.FileMode) bool {
	mode := info.Mode().Perm()
	if mode&0o077 == 0 || runtime.GOOS == "windows" {
		return true
	}
	f := Finding{
		Check: check, Level: FindingFault, What: fmt.Sprintf("%s is open to others (mode %#o)", path, mode),
		Do: fmt.Sprintf("chmod %o %s, or fleetd doctor --fix; whoever has read a key can act as this instance", want, path),
	}
	if x.cfg.Fix {
		if err := os.Chmod(path, want); err == nil {
			f.Fixed, f.Level = true, FindingWarning
			f.Do = "it is closed now; if others may have read a key meanwhile, join anew and have this instance revoked"
		}
	}
	x.add(f)
	return false
}

// keys reads both keys.
func (x *examination) keys() {
	for _, key := range []struct{ path, do string }{
		{x.at.identityFile(), "put it back from a copy, or join again with another --dir"},
		{x.at.rootFile(), "put it back from a copy; without it this machine grants and bans no admins"},
	} {
		info, err := os.Stat(key.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // root.key lies where the fleet began
		}
		if err != nil {
			x.fault("keys", err.Error(), key.do)
			continue
		}
		closed := x.closed("keys", key.path, info, 0o600)
		switch _, err := readKey(key.path); {
		case err != nil && closed:
			x.fault("keys", err.Error(), key.do)
		case err == nil && key.path == x.at.rootFile():
			x.warn("keys", "the root key of the fleet lies in "+key.path+": whoever has it decides who belongs",
				"fleetd root export FILE keeps it apart from this machine, fleetd root remove takes it off")
		case err == nil && closed:
			x.ok("keys", "identity.key is whole, and nobody else can read it")
		}
	}
}

// files looks at what else lies there.
func (x *examination) files() {
	if info, err := os.Stat(x.at.tokenFile()); err == nil {
		x.closed("files", x.at.tokenFile(), info, 0o600)
	}
	entries, err := os.ReadDir(string(x.at))
	if err != nil {
		x.fault("files", err.Error(), "look at who owns "+string(x.at))
		return
	}
	for _, e := range entries {
		if !isUnfinished(e.Name()) {
			continue
		}
		path := filepath.Join(string(x.at), e.Name())
		f := Finding{
			Check: "files", Level: FindingWarning, What: path + " is what remains of a file that was never finished",
			Do: "remove it, or fleetd doctor --fix",
		}
		if x.cfg.Fix && os.Remove(path) == nil {
			f.Fixed, f.Do = true, ""
		}
		x.add(f)
	}
}

func (x *examination) configuration() (Config, bool) {
	cfg, err := ReadConfig(string(x.at))
	if err == nil {
		err = cfg.Validate()
	}
	if err != nil {
		x.fault("configuration", err.Error(), "mend "+x.at.configFile())
		return cfg, false
	}
	if len(cfg.Listen) == 0 {
		x.warn("configuration", "this node only dials: no other can reach it, and it cannot invite", "set listen in "+x.at.configFile())
		return cfg, true
	}
	x.ok("configuration", "config.yaml is valid")
	return cfg, true
}

// disk says how much the directory takes, and what is free.
func (x *examination) disk() {
	used, unread := int64(0), error(nil)
	_ = filepath.WalkDir(string(x.at), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			info, errInfo := e.Info()
			if err = errInfo; err == nil {
				used += diskUse(info)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			unread = err
		}
		return nil
	})
	if unread != nil {
		x.fault("disk", unread.Error(), "look at who owns "+string(x.at))
		return
	}
	free, known := store.FreeBytes(string(x.at))
	switch {
	case !known:
		x.ok("disk", "the directory takes "+sizeText(uint64(used)))
	case free < store.FreeBytesMin:
		x.fault("disk", fmt.Sprintf("%s free, less than the %s that a write needs: nothing is written", sizeText(free), sizeText(store.FreeBytesMin)),
			"free some space on this disk; a running daemon goes on by itself")
	case free < 4*store.FreeBytesMin:
		x.warn("disk", fmt.Sprintf("%s free; the directory takes %s", sizeText(free), sizeText(uint64(used))), "free some space before it is full")
	default:
		x.ok("disk", fmt.Sprintf("the directory takes %s, %s are free", sizeText(uint64(used)), sizeText(free)))
	}
}

// sizeText is a number of bytes for people.
func sizeText(bytes uint64) string {
	switch {
	case bytes < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	case bytes < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

// network looks whether the addresses are free for a daemon.
func (x *examination) network(ctx context.Context, cfg Config) {
	if len(cfg.Listen) == 0 {
		return
	}
	key, err := readKey(x.at.identityFile())
	if err != nil {
		return // keys has told
	}
	h, err := newHost(HostParams{Key: key.PrivKey(), Listen: cfg.Listen}) //nolint:contextcheck // a host is made without one
	if err != nil {
		x.fault("network", err.Error(), "end what uses the port, or set another in "+x.at.configFile())
		return
	}
	if err := h.Close(); err != nil && ctx.Err() == nil {
		x.warn("network", err.Error(), "")
		return
	}
	x.ok("network", "it can listen on "+strings.Join(cfg.Listen, ", "))
}

// store opens the instance as a daemon does, and proves its store.
func (x *examination) store(ctx context.Context, cfg Config) {
	if cfg.StoreKind == StoreMemory {
		x.ok("store", "it is in memory, and gone with its daemon")
		return
	}
	n, err := New(ctx, cfg)
	if err != nil {
		x.fault("store", err.Error(), "put the directory back from a copy, or join again with another --dir and let this instance be revoked")
		return
	}
	defer n.Close() //nolint:errcheck // it was only read
	x.ok("identity", fmt.Sprintf("this is %s of fleet %x", n.ID(), n.Fleet()))
	if _, err := n.store.Clock().Now(); err != nil {
		x.fault("clock", err.Error(), "set the clock of this machine; if it is right, it was ahead before, and writes go on when time has caught up")
	} else {
		x.ok("clock", "it is not behind what was stamped here")
	}
	v, err := n.Verify(ctx)
	switch {
	case err != nil:
		x.fault("store", err.Error(), "")
	case len(v.Faults) > 0:
		x.fault("store", fmt.Sprintf("%d faults, such as: %s", len(v.Faults), v.Faults[0]),
			"let it run with others of the fleet: what is lacking is fetched from them; fleetd verify lists all")
	default:
		x.ok("store", fmt.Sprintf("all of it agrees; versions held: %d", v.Records))
	}
}
