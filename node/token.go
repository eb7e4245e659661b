package node

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

// tokenBytes are random, and more than anybody can try.
const tokenBytes = 32

// ErrToken is returned for a token file that cannot be trusted.
var ErrToken = errors.New("node: token of the API")

// TokenFile returns where the token of the local API of a data directory stands.
func TokenFile(dir string) string { return layout(dir).tokenFile() }

// APIToken returns what requests to the API of a data directory over loopback
// carry. It makes a token, in a file of its owner alone, where there is none: to
// have another, remove the file and start the daemon again. Errors: ErrToken,
// those of the system.
func APIToken(dir string) (string, error) {
	path := TokenFile(dir)
	text, err := os.ReadFile(path) //nolint:gosec // the user names the data directory
	if errors.Is(err, fs.ErrNotExist) {
		random := make([]byte, tokenBytes)
		_, _ = rand.Read(random) // it does not fail
		token := base64.RawURLEncoding.EncodeToString(random)
		return token, writeFile(path, []byte(token+"\n"))
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrToken, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrToken, err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return "", fmt.Errorf("%w: %s has mode %#o, so others may know it: remove it, and a new one is made", ErrToken, path, mode)
	}
	token := strings.TrimSpace(string(text))
	if raw, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(raw) < tokenBytes {
		return "", fmt.Errorf("%w: %s holds no token of %d random bytes: remove it, and a new one is made", ErrToken, path, tokenBytes)
	}
	return token, nil
}
