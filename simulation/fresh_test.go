package simulation_test

import (
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/simulation/campaign"
)

// layers are the folders whose code takes part in a run.
var layers = []string{"hlc", "merge", "store", "sync", "state", "fleet", "simulation"}

// freshSeeds returns seeds that follow from the code, unless -base says which: a
// change of the code is tried with seeds that nobody has run before, and the
// same code gives the same verdict each time, here as elsewhere.
func freshSeeds(t *testing.T, count int) []uint64 {
	t.Helper()
	base := *baseFlag
	if base == 0 {
		base = seedOfCode(t)
	}
	t.Logf("%d fresh seeds after -base %d", count, base)
	return campaign.Fresh(base, count)
}

// seedOfCode hashes the sources of the layers, but for tests, into 12 digits.
func seedOfCode(t *testing.T) uint64 {
	t.Helper()
	sum := sha256.New()
	module := os.DirFS("..")
	for _, layer := range layers {
		err := fs.WalkDir(module, layer, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(module, path)
			if err != nil {
				return err
			}
			sum.Write([]byte(path + "\n"))
			sum.Write([]byte(strings.ReplaceAll(string(text), "\r\n", "\n")))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return binary.BigEndian.Uint64(sum.Sum(nil)) % 1_000_000_000_000
}

func TestTheSameCodeHasTheSameSeeds(t *testing.T) {
	first, second := seedOfCode(t), seedOfCode(t)
	if first != second || first == 0 {
		t.Errorf("the code gives the seeds after %d, and then after %d", first, second)
	}
}
