package node_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/store"
)

func initAt(t *testing.T, dir string) node.Instance {
	t.Helper()
	made, err := node.Init(t.Context(), node.InitConfig{Dir: dir, Name: "a", Listen: loopback()})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// open opens the instance of a directory and closes it again.
func open(t *testing.T, dir string, tweak func(*node.Config)) error {
	t.Helper()
	cfg, err := node.ReadConfig(dir)
	if err != nil {
		return err
	}
	if tweak != nil {
		tweak(&cfg)
	}
	n, err := node.New(t.Context(), cfg)
	if err != nil {
		return err
	}
	return n.Close()
}

func TestInitMakesAWholeDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "fleet")
	made := initAt(t, dir)
	if !node.IsInitialised(dir) || made.Dir != dir {
		t.Errorf("init made %+v", made)
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the directory there is %v, %v", entries, err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && filepath.Dir(path) == dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := open(t, dir, nil); err != nil {
		t.Errorf("the new instance does not open: %v", err)
	}
}

func TestInitChoosesOnePortAndKeepsIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fleet")
	made, err := node.Init(t.Context(), node.InitConfig{Dir: dir, Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := node.ReadConfig(dir)
	if err != nil || !slices.Equal(cfg.Listen, made.Listen) || len(cfg.Listen) != 2 {
		t.Fatalf("config.yaml listens on %v, init said %v: %v", cfg.Listen, made.Listen, err)
	}
	port := strings.Split(cfg.Listen[0], "/")[4]
	if n, _ := strconv.Atoi(port); n == 0 || cfg.Listen[0] != "/ip4/0.0.0.0/tcp/"+port || cfg.Listen[1] != "/ip4/0.0.0.0/udp/"+port+"/quic-v1" {
		t.Errorf("it listens on %v", cfg.Listen)
	}
}

func TestInitLeavesNothing(t *testing.T) {
	tests := map[string]struct {
		prepare func(t *testing.T, dir string)
		name    string
		listen  []string
		want    error
	}{
		"an unusable name": {name: "a\tb", want: fleet.ErrName},
		"no name":          {name: "", want: fleet.ErrName},
		"an address that is none": {
			name: "a", listen: []string{"localhost:80"}, want: node.ErrConfig,
		},
		"a directory with an instance": {
			name: "a", want: node.ErrAlreadyInitialised,
			prepare: func(t *testing.T, dir string) { t.Helper(); initAt(t, dir) },
		},
		"a directory with an instance without its key": {
			name: "a", want: node.ErrAlreadyInitialised,
			prepare: func(t *testing.T, dir string) { t.Helper(); initAt(t, dir); remove(t, dir, "identity.key") },
		},
		"a directory with something else": {
			name: "a", want: node.ErrNotEmpty,
			prepare: func(t *testing.T, dir string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Join(dir, "photos"), 0o700); err != nil {
					t.Fatal(err)
				}
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "fleet")
			if tt.prepare != nil {
				tt.prepare(t, dir)
			}
			before := list(t, filepath.Dir(dir))
			if _, err := node.Init(t.Context(), node.InitConfig{Dir: dir, Name: tt.name, Listen: tt.listen}); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if after := list(t, filepath.Dir(dir)); !slices.Equal(before, after) {
				t.Errorf("before there was %v, after %v", before, after)
			}
		})
	}
}

func list(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestInitTakesAnEmptyDirectory(t *testing.T) {
	dir := t.TempDir()
	initAt(t, dir)
	if err := open(t, dir, nil); err != nil {
		t.Error(err)
	}
}

func TestOneProcessADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fleet")
	initAt(t, dir)
	cfg, err := node.ReadConfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close() //nolint:errcheck // the test is about others
	for what, err := range map[string]error{
		"a second node": open(t, dir, nil),
		"init":          initError(t, dir),
	} {
		if !errors.Is(err, node.ErrInUse) || !strings.Contains(err.Error(), "pid "+strconv.Itoa(os.Getpid())) {
			t.Errorf("%s beside a running node: %v", what, err)
		}
	}
}

func initError(t *testing.T, dir string) error {
	t.Helper()
	_, err := node.Init(t.Context(), node.InitConfig{Dir: dir, Name: "a", Listen: loopback()})
	return err
}

func TestStoreAndKeyBelongTogether(t *testing.T) {
	swap := func(t *testing.T, dir, part string) {
		t.Helper()
		other := filepath.Join(t.TempDir(), "other")
		initAt(t, other)
		if err := os.RemoveAll(filepath.Join(dir, part)); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(other, part), filepath.Join(dir, part)); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		damage func(t *testing.T, dir string)
		tweak  func(*node.Config)
		want   error
	}{
		"no directory":        {func(t *testing.T, dir string) { t.Helper(); remove(t, dir) }, nil, node.ErrNotInitialised},
		"no key":              {func(t *testing.T, dir string) { t.Helper(); remove(t, dir, "identity.key") }, nil, node.ErrKeyFile},
		"an open directory":   {func(t *testing.T, dir string) { t.Helper(); chmod(t, dir, 0o750) }, nil, node.ErrOpenDir},
		"a directory to pass": {func(t *testing.T, dir string) { t.Helper(); chmod(t, dir, 0o701) }, nil, node.ErrOpenDir},
		"another key":         {func(t *testing.T, dir string) { t.Helper(); swap(t, dir, "identity.key") }, nil, node.ErrForeignStore},
		"another store":       {func(t *testing.T, dir string) { t.Helper(); swap(t, dir, "store") }, nil, node.ErrForeignStore},
		"another root key":    {func(t *testing.T, dir string) { t.Helper(); swap(t, dir, "root.key") }, nil, node.ErrKeyFile},
		"no store":            {func(t *testing.T, dir string) { t.Helper(); remove(t, dir, "store") }, nil, node.ErrForeignStore},
		"no root key":         {func(t *testing.T, dir string) { t.Helper(); remove(t, dir, "root.key") }, nil, nil},
		"an open key":         {func(t *testing.T, dir string) { t.Helper(); chmod(t, filepath.Join(dir, "identity.key"), 0o644) }, nil, node.ErrKeyFile},
		"an open root key":    {func(t *testing.T, dir string) { t.Helper(); chmod(t, filepath.Join(dir, "root.key"), 0o644) }, nil, node.ErrKeyFile},
		"a key of rubbish":    {func(t *testing.T, dir string) { t.Helper(); scribble(t, filepath.Join(dir, "identity.key")) }, nil, node.ErrKeyFile},
		"memory for badger":   {nil, func(c *node.Config) { c.StoreKind = node.StoreMemory }, node.ErrForeignStore},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "fleet")
			initAt(t, dir)
			if tt.damage != nil {
				tt.damage(t, dir)
			}
			if err := open(t, dir, tt.tweak); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			// The lock is free again.
			if err := open(t, dir, tt.tweak); !errors.Is(err, tt.want) {
				t.Errorf("the second time: got %v, want %v", err, tt.want)
			}
		})
	}
}

// What is wrong with a directory is said with what to do.
func TestDirectoryErrorsSayWhatToDo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fleet")
	initAt(t, dir)
	chmod(t, dir, 0o755)
	if err := open(t, dir, nil); err == nil || !strings.Contains(err.Error(), "chmod 700 "+dir) {
		t.Errorf("an open directory: %v", err)
	}
	chmod(t, dir, 0o700)
	remove(t, dir, "identity.key")
	if err := open(t, dir, nil); err == nil || !strings.Contains(err.Error(), "identity.key is gone") {
		t.Errorf("a lost key: %v", err)
	}
}

func remove(t *testing.T, path ...string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(path...)); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func scribble(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("not a key"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAStoreInMemoryServesOneRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fleet")
	if _, err := node.Init(t.Context(), node.InitConfig{Dir: dir, Name: "a", Listen: loopback(), StoreKind: node.StoreMemory}); err != nil {
		t.Fatal(err)
	}
	badger := func(c *node.Config) { c.StoreKind = node.StoreBadger }
	if err := open(t, dir, badger); !errors.Is(err, node.ErrForeignStore) {
		t.Errorf("as badger: %v", err)
	}
	if err := open(t, dir, nil); err != nil {
		t.Errorf("the first run: %v", err)
	}
	if err := open(t, dir, nil); !errors.Is(err, node.ErrMemoryUsed) {
		t.Errorf("the second run: %v", err)
	}
	if err := open(t, dir, badger); !errors.Is(err, node.ErrForeignStore) {
		t.Errorf("as badger after that: %v", err)
	}
}

func TestAGivenEngineLivesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fleet")
	if _, err := node.Init(t.Context(), node.InitConfig{Dir: dir, Name: "a", Listen: loopback(), StoreKind: node.StoreMemory}); err != nil {
		t.Fatal(err)
	}
	disk := store.NewMemory()
	for range 3 {
		if err := open(t, dir, func(c *node.Config) { c.Engine = disk }); err != nil {
			t.Fatal(err)
		}
		disk = disk.Clone() // open again
	}
}

func TestSocketPaths(t *testing.T) {
	short := t.TempDir()
	path, err := node.PrepareSocket(short, "")
	found, findErr := node.FindSocket(short)
	if err != nil || findErr != nil || path != filepath.Join(short, "fleetd.sock") || found != path {
		t.Errorf("short: %q, %v; found %q, %v", path, err, found, findErr)
	}

	deep := filepath.Join(t.TempDir(), strings.Repeat("d", node.SocketPathMax))
	if err := os.Mkdir(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	runtimeDir, err := os.MkdirTemp("", "run") //nolint:usetesting // the test's own directory is too deep
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(runtimeDir) //nolint:errcheck // a temporary directory
	path, err = node.PrepareSocket(deep, runtimeDir)
	found, findErr = node.FindSocket(deep)
	if err != nil || findErr != nil || filepath.Dir(path) != runtimeDir || found != path || len(path) > node.SocketPathMax {
		t.Errorf("deep: %q, %v; found %q, %v", path, err, found, findErr)
	}
	if _, err := node.PrepareSocket(deep, deep); !errors.Is(err, node.ErrConfig) {
		t.Errorf("deep in a deep runtime directory: %v", err)
	}
}
