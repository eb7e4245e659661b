package node

import (
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// ErrNoRoot is returned where the root key of the fleet does not lie.
var ErrNoRoot = errors.New("node: no root key on this machine")

// The text form of a root key: one PEM block, whose header names the fleet.
const (
	rootBlock       = "FLEETD ROOT KEY"
	rootFleetHeader = "Fleet"
	// rootTextMax bounds a text before it is parsed.
	rootTextMax = 16 << 10
)

// ExportRoot returns the fleet's root key in a data directory as text, to be kept
// apart from it: whoever has it decides who belongs. A daemon may run beside.
// Errors: ErrNoRoot, ErrKeyFile.
func ExportRoot(dir string) (text []byte, id merge.FleetID, err error) {
	root, err := readKey(layout(dir).rootFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, id, fmt.Errorf("%w: there is no %s", ErrNoRoot, layout(dir).rootFile())
	}
	if err != nil {
		return nil, id, err
	}
	id = fleet.FleetIDOf(root.Public())
	return pem.EncodeToMemory(&pem.Block{
		Type: rootBlock, Headers: map[string]string{rootFleetHeader: hex.EncodeToString(id[:])}, Bytes: root.Bytes(),
	}), id, nil
}

// RemoveRoot takes the root key out of a data directory. Signing that is under
// way may still use it. Errors: ErrNoRoot.
func RemoveRoot(dir string) error {
	path := layout(dir).rootFile()
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no %s", ErrNoRoot, path)
	}
	if err != nil {
		return fmt.Errorf("node: remove the root key: %w", err)
	}
	return syncDir(dir)
}

// ImportRoot puts the root key of a fleet into the data directory of one of its
// instances. A key that is there stays as it is. Errors: ErrKeyFile for a text
// that is no root key, one of another fleet, and one that is there already.
func ImportRoot(dir string, text []byte, id merge.FleetID) error {
	root, err := parseRoot(text)
	if err != nil {
		return err
	}
	if got := fleet.FleetIDOf(root.Public()); got != id {
		return fmt.Errorf("%w: it is the root key of fleet %x, this machine belongs to %x", ErrKeyFile, got[:8], id[:8])
	}
	path := layout(dir).rootFile()
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%w %s is there already", ErrKeyFile, path)
	}
	return writeFile(path, root.Bytes())
}

// parseRoot is the inverse of what ExportRoot returns, with white space around it
// or not.
func parseRoot(text []byte) (root fleet.Identity, err error) {
	if len(text) > rootTextMax {
		return root, fmt.Errorf("%w: a text of %d bytes is no root key", ErrKeyFile, len(text))
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != rootBlock {
		return root, fmt.Errorf("%w: it is not what fleetd root export wrote: no block %q", ErrKeyFile, rootBlock)
	}
	if root, err = fleet.IdentityFromBytes(block.Bytes); err != nil {
		return root, fmt.Errorf("%w: %w", ErrKeyFile, err)
	}
	id := fleet.FleetIDOf(root.Public())
	if told := block.Headers[rootFleetHeader]; told != hex.EncodeToString(id[:]) {
		return root, fmt.Errorf("%w: its header names fleet %.16q, its key is of %x: it was put together of two", ErrKeyFile, told, id[:8])
	}
	return root, nil
}
