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

// A directory that is there is filled, not replaced: it may be a mount point,
// or stand where nothing else can be made.
func TestInitFillsAnEmptyDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fleet")
	mkdir(t, filepath.Join(dir, "lost+found"))
	chmod(t, dir, 0o755)
	before, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := initError(t, dir, "nowhere:1"); !errors.Is(err, node.ErrConfig) {
		t.Errorf("an address that is none: %v", err)
	}
	if got := list(t, dir); len(got) != 2 {
		t.Errorf("a failed init leaves %v", got)
	}
	if after, err := os.Stat(dir); err != nil || after.Mode() != before.Mode() {
		t.Errorf("a failed init leaves the mode %v, %v", after.Mode(), err)
	}
	initAt(t, dir)
	if err := open(t, dir, nil); err != nil {
		t.Error(err)
	}
	if after, err := os.Stat(dir); err != nil || !os.SameFile(before, after) {
		t.Errorf("the directory was replaced: %v", err)
	}
	if beside := list(t, filepath.Dir(dir)); slices.ContainsFunc(beside, func(path string) bool { return strings.HasSuffix(path, ".new") }) {
		t.Errorf("there is something left: %v", beside)
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestInitFollowsALink(t *testing.T) {
	base := t.TempDir()
	place, link := filepath.Join(base, "big disk"), filepath.Join(base, "fleet")
	if err := os.Symlink(place, link); err != nil {
		t.Skip(err)
	}
	if err := initError(t, link); err == nil || !strings.Contains(err.Error(), "link to nothing") {
		t.Errorf("a link to nothing: %v", err)
	}
	if got := list(t, base); len(got) != 2 {
		t.Errorf("a failed init leaves %v", got)
	}
	mkdir(t, place)
	initAt(t, link)
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced by %v, %v", info.Mode(), err)
	}
	for _, dir := range []string{link, place} {
		if err := open(t, dir, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestInitNeedsNothingOfTheParent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "parent", "fleet")
	mkdir(t, dir)
	chmod(t, filepath.Dir(dir), 0o500)
	t.Cleanup(func() { chmod(t, filepath.Dir(dir), 0o700) })
	initAt(t, dir)
	if err := open(t, dir, nil); err != nil {
		t.Error(err)
	}
	if os.Getuid() == 0 {
		return // modes do not stop root
	}
	other := filepath.Join(filepath.Dir(dir), "other")
	if err := initError(t, other); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), other) {
		t.Errorf("where nothing can be made: %v", err)
	}
}

func TestAFailedInitMakesNoParents(t *testing.T) {
	base := t.TempDir()
	if err := initError(t, filepath.Join(base, "deep", "down", "fleet"), "nowhere:1"); !errors.Is(err, node.ErrConfig) {
		t.Errorf("got %v", err)
	}
	if got := list(t, base); len(got) != 1 {
		t.Errorf("it leaves %v", got)
	}
}

// A process that died while it filled a directory has left no instance, and the
// next goes on with its key.
func TestInitAfterOneThatDied(t *testing.T) {
	dir := t.TempDir()
	initAt(t, dir)
	key, err := os.ReadFile(filepath.Join(dir, "identity.key"))
	if err == nil {
		err = os.Rename(filepath.Join(dir, "identity.key"), filepath.Join(dir, "identity.key.new"))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ".config.yaml-123"), nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir, nil); !errors.Is(err, node.ErrNotInitialised) || errors.Is(err, node.ErrKeyFile) {
		t.Errorf("half an instance: %v", err)
	}
	initAt(t, dir)
	if again, err := os.ReadFile(filepath.Join(dir, "identity.key")); err != nil || string(again) != string(key) {
		t.Errorf("the key is another one: %v", err)
	}
	if err := open(t, dir, nil); err != nil {
		t.Error(err)
	}
	for _, path := range list(t, dir) {
		if strings.Contains(path, ".new") || strings.Contains(path, "-123") {
			t.Errorf("%s is left", path)
		}
	}
}

// Of several that fill one directory at once, one does.
func TestInitRaced(t *testing.T) {
	dir := t.TempDir()
	results := make(chan error)
	for range 8 {
		go func() {
			_, err := node.Init(t.Context(), node.InitConfig{Dir: dir, Name: "a", Listen: loopback()})
			results <- err
		}()
	}
	made := 0
	for range 8 {
		err := <-results
		switch {
		case err == nil:
			made++
		case !errors.Is(err, node.ErrInUse) && !errors.Is(err, node.ErrAlreadyInitialised):
			t.Error(err)
		}
	}
	if err := open(t, dir, nil); err != nil || made != 1 {
		t.Errorf("%d were made; the last opens with %v", made, err)
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

func initError(t *testing.T, dir string, listen ...string) error {
	t.Helper()
	if listen == nil {
		listen = loopback()
	}
	_, err := node.Init(t.Context(), node.InitConfig{Dir: dir, Name: "a", Listen: listen})
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
