package simulation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const modulePath = "github.com/fleetsync/fleetd"

// testLibraries are what test support, a sub-package whose name ends in "test",
// may import besides what its folder may.
var testLibraries = []string{
	"github.com/google/go-cmp",
	"go.uber.org/goleak",
	"pgregory.net/rapid",
}

// reserved are the rules that hold whatever the table says: the library under
// prefix is imported by the folders in holders alone, except for the free paths.
var reserved = []struct {
	prefix  string
	holders []string
	free    []string
}{
	{prefix: "github.com/dgraph-io/badger", holders: []string{"store"}},
	{prefix: "github.com/modelcontextprotocol", holders: []string{"api/mcp"}},
	{prefix: "github.com/danielgtaylor/huma", holders: []string{"api"}},
	{
		prefix:  "github.com/libp2p",
		holders: []string{"node", "simulation"},
		free:    []string{libraries["libp2p core/peer"], libraries["libp2p core/crypto"]},
	},
}

// goPackage is the part of `go list -json` that the check reads. Imports are the
// direct imports of the files that are not tests.
type goPackage struct {
	ImportPath string
	Imports    []string
}

// TestPackagesImportOnlyWhatTheLayerTableAllows lists the packages as each
// system sees them, since a file behind a build tag may breach a layer too.
func TestPackagesImportOnlyWhatTheLayerTableAllows(t *testing.T) {
	document, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	table, err := parseLayers(string(document))
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			for _, violation := range checkLayers(table, listPackages(t, system)) {
				t.Error(violation)
			}
		})
	}
}

func listPackages(t *testing.T, system string) []goPackage {
	t.Helper()
	// -e: a package that does not compile is for its own tests to report.
	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports", "./...")
	list.Dir = ".."
	list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []goPackage
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, p)
	}
}

// checkLayers returns one sentence for each import that the table or a reserved
// rule forbids, in the order of packages.
func checkLayers(table layerTable, packages []goPackage) []string {
	var violations []string
	for _, p := range packages {
		folder := table.folder(p.ImportPath)
		allowed, known := table[folder]
		if !known {
			violations = append(violations, p.ImportPath+" has no row in the layer table")
			continue
		}
		for _, imported := range p.Imports {
			if reason := table.forbids(folder, allowed, p.ImportPath, imported); reason != "" {
				violations = append(violations, fmt.Sprintf("%s imports %s: %s", p.ImportPath, imported, reason))
			}
		}
	}
	return violations
}

// folder names the row that answers for a package of this module: the longest
// row that is the package's folder or one of its parents.
func (table layerTable) folder(importPath string) string {
	folder := strings.TrimPrefix(strings.TrimPrefix(importPath, modulePath), "/")
	for parent := folder; parent != "." && parent != ""; parent = path.Dir(parent) {
		if _, known := table[parent]; known {
			return parent
		}
	}
	return folder
}

func (table layerTable) forbids(folder string, allowed allowance, importer, imported string) string {
	host, _, _ := strings.Cut(imported, "/")
	switch {
	case imported == "C":
		return "fleetd is built without cgo"
	case within(imported, modulePath):
		return table.forbidsLayer(folder, allowed, importer, imported)
	case strings.Contains(host, "."):
		return forbidsLibrary(folder, allowed, importer, imported)
	default:
		return ""
	}
}

func (table layerTable) forbidsLayer(folder string, allowed allowance, importer, imported string) string {
	target := table.folder(imported)
	switch {
	case target == "simulation" && folder != "simulation" && folder != "cmd/fleetd":
		return "nothing but cmd/fleetd imports simulation"
	case testSupport(imported) && !testSupport(importer):
		return "test support is for tests"
	case target == folder || allowed.anyLayer || slices.Contains(allowed.layers, target):
		return ""
	default:
		return fmt.Sprintf("%s may not import %s", folder, target)
	}
}

func forbidsLibrary(folder string, allowed allowance, importer, imported string) string {
	for _, rule := range reserved {
		if within(imported, rule.prefix) && !slices.Contains(rule.holders, folder) && !withinAny(imported, rule.free) {
			return fmt.Sprintf("only %s may import %s", strings.Join(rule.holders, " and "), rule.prefix)
		}
	}
	switch {
	case withinAny(imported, testLibraries):
		if testSupport(importer) {
			return ""
		}
		return "a test library is for tests"
	case allowed.anyLibrary || withinAny(imported, allowed.libraries):
		return ""
	}
	return folder + " may not import this library"
}

// testSupport reports whether the package is a helper of tests, as
// merge/mergetest and store/storetest are.
func testSupport(importPath string) bool {
	return within(importPath, modulePath) && strings.HasSuffix(importPath, "test")
}

func within(importPath, prefix string) bool {
	return importPath == prefix || strings.HasPrefix(importPath, prefix+"/")
}

func withinAny(importPath string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return within(importPath, prefix) })
}

const plantedTable = `# Architecture
| not | a layer |
## Layers

| package | may import |
|---|---|
| hlc | nothing |
| ` + "`merge`" + ` | hlc, cbor |
| store | hlc, merge, badger |
| node | everything below |
| api | store and below |
| cmd/fleetd | everything |
| simulation | everything |

## Glossary
| word | meaning |
`

func TestAPlantedViolationIsReported(t *testing.T) {
	const (
		badger = "github.com/dgraph-io/badger/v4"
		rapid  = "pgregory.net/rapid"
	)
	tests := []struct {
		name, importer, imported string
		want                     string // empty: allowed
	}{
		{"the standard library is free", "hlc", "time", ""},
		{"a lower layer is free", "merge", modulePath + "/hlc", ""},
		{"a higher layer is not", "hlc", modulePath + "/merge", "hlc may not import merge"},
		{"a named library is free", "merge", "github.com/fxamacker/cbor/v2", ""},
		{"an unnamed library is not", "merge", "github.com/google/uuid", "merge may not import this library"},
		{"a like-named library is not", "merge", "github.com/fxamacker/cbor/v20", "merge may not import this library"},
		{"a sub-package counts under its folder", "hlc/codec", modulePath + "/merge", "hlc may not import merge"},
		{"a sub-package may import its folder", "merge/mergetest", modulePath + "/merge", ""},
		{"test support may import rapid", "merge/mergetest", rapid, ""},
		{"production may not", "merge", rapid, "a test library is for tests"},
		{"nor may the simulation, which the program links", "simulation", "github.com/google/go-cmp/cmp", "a test library is for tests"},
		{"production may not import test support", "store", modulePath + "/merge/mergetest", "test support is for tests"},
		{"the simulation, which the program links, may not either", "simulation", modulePath + "/merge/mergetest", "test support is for tests"},
		{"everything below frees lower layers", "node", modulePath + "/store", ""},
		{"everything below frees libraries", "node", "github.com/libp2p/go-libp2p-pubsub", ""},
		{"everything below stops at the row", "node", modulePath + "/api", "node may not import api"},
		{"a layer and below stops at the layer", "api", modulePath + "/node", "api may not import node"},
		{"a layer and below frees what lies under it", "api", modulePath + "/merge", ""},
		{"badger stays under store", "cmd/fleetd", badger, "only store may import github.com/dgraph-io/badger"},
		{"store may import badger", "store/disk", badger + "/options", ""},
		{"huma stays under api", "cmd/fleetd", "github.com/danielgtaylor/huma/v2", "only api may import github.com/danielgtaylor/huma"},
		{"libp2p stays under node", "cmd/fleetd", "github.com/libp2p/go-libp2p", "only node and simulation may import github.com/libp2p"},
		{"libp2p's ids are free for the program", "cmd/fleetd", "github.com/libp2p/go-libp2p/core/peer", ""},
		{"libp2p's ids are not free for a pure layer", "hlc", "github.com/libp2p/go-libp2p/core/peer", "hlc may not import this library"},
		{"the program may import the simulation", "cmd/fleetd", modulePath + "/simulation", ""},
		{"the program may import what stands on the simulation", "cmd/fleetd", modulePath + "/simulation/scenario", ""},
		{"what stands on the simulation may import it", "simulation/scenario", modulePath + "/simulation", ""},
		{"nothing else may import the simulation", "node", modulePath + "/simulation", "nothing but cmd/fleetd imports simulation"},
		{"nor what stands on it", "api", modulePath + "/simulation/scenario", "nothing but cmd/fleetd imports simulation"},
		{"cgo is refused", "node", "C", "fleetd is built without cgo"},
	}
	table, err := parseLayers(plantedTable)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			importer := modulePath + "/" + test.importer
			var want []string
			if test.want != "" {
				want = []string{importer + " imports " + test.imported + ": " + test.want}
			}
			got := checkLayers(table, []goPackage{{ImportPath: importer, Imports: []string{test.imported}}})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPackageWithoutARowIsReported(t *testing.T) {
	table, err := parseLayers(plantedTable)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{modulePath + "/util has no row in the layer table"}
	got := checkLayers(table, []goPackage{{ImportPath: modulePath + "/util"}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}
