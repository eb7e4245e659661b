package node_test

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/fleetsync/fleetd/node"
)

func TestTheTokenOfTheAPIStays(t *testing.T) {
	dir := t.TempDir()
	token, err := node.APIToken(dir)
	if err != nil || len(token) < 43 {
		t.Fatalf("%q, %v", token, err)
	}
	again, err := node.APIToken(dir)
	if err != nil || again != token {
		t.Errorf("then %q, %v", again, err)
	}
	info, err := os.Stat(node.TokenFile(dir))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.Remove(node.TokenFile(dir)); err != nil {
		t.Fatal(err)
	}
	if other, err := node.APIToken(dir); err != nil || other == token {
		t.Errorf("a new one is %q, %v", other, err)
	}
}

func TestATokenThatCannotBeTrustedIsRefused(t *testing.T) {
	dir := t.TempDir()
	token, err := node.APIToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := node.TokenFile(dir)
	if runtime.GOOS != "windows" {
		if err := os.Chmod(path, 0o640); err != nil { //nolint:gosec // this is what is refused
			t.Fatal(err)
		}
		if _, err := node.APIToken(dir); !errors.Is(err, node.ErrToken) {
			t.Errorf("one that others may read: %v", err)
		}
	}
	for _, text := range []string{"", "short", token[:20], "not base64 !" + token} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := node.APIToken(dir); !errors.Is(err, node.ErrToken) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
