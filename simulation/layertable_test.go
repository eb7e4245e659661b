package simulation_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// libraries spells out the short names of the layer table. A full import path
// may stand in the table as well and needs no entry here.
var libraries = map[string]string{
	"badger":             "github.com/dgraph-io/badger/v4",
	"base58":             "github.com/mr-tron/base58",
	"btree":              "github.com/tidwall/btree",
	"cbor":               "github.com/fxamacker/cbor/v2",
	"curve25519-voi":     "github.com/oasisprotocol/curve25519-voi",
	"huma":               "github.com/danielgtaylor/huma/v2",
	"goccy/go-yaml":      "github.com/goccy/go-yaml",
	"go-toml":            "github.com/pelletier/go-toml/v2",
	"hujson":             "github.com/tailscale/hujson",
	"libp2p core/crypto": "github.com/libp2p/go-libp2p/core/crypto",
	"libp2p core/peer":   "github.com/libp2p/go-libp2p/core/peer",
	"uuid":               "github.com/google/uuid",
	"x/text":             "golang.org/x/text",
	"zstd":               "github.com/klauspost/compress/zstd",
}

// allowance is one row of the layer table. A row that says everything, or a
// layer and below, frees libraries too: only the reserved rules bind it.
type allowance struct {
	layers     []string
	libraries  []string
	anyLayer   bool
	anyLibrary bool
}

// layerTable maps a folder to what it may import.
type layerTable map[string]allowance

// parseLayers reads the table under the heading "Layers". A cell holds, between
// commas: a folder, a library, "nothing", "everything", "everything below" (all
// rows above this one) or "FOLDER and below" (that row and all above it).
func parseLayers(document string) (layerTable, error) {
	rows, err := layerRows(document)
	if err != nil {
		return nil, err
	}
	var above []string
	table := layerTable{}
	for _, row := range rows {
		allowed, err := parseAllowance(row.cell, above)
		if err != nil {
			return nil, fmt.Errorf("layer %s: %w", row.name, err)
		}
		if _, twice := table[row.name]; twice {
			return nil, fmt.Errorf("layer %s has two rows", row.name)
		}
		table[row.name] = allowed
		above = append(above, row.name)
	}
	return table, nil
}

type layerRow struct{ name, cell string }

func layerRows(document string) ([]layerRow, error) {
	var rows []layerRow
	inside := false
	for line := range strings.Lines(document) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			inside = strings.TrimSpace(strings.TrimLeft(line, "#")) == "Layers"
		}
		if !inside || !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) < 2 {
			return nil, fmt.Errorf("layer table: no second column in %q", line)
		}
		name := strings.Trim(cells[0], " `/")
		if name == "package" || strings.Trim(name, "-:") == "" {
			continue
		}
		rows = append(rows, layerRow{name: name, cell: cells[1]})
	}
	if len(rows) == 0 {
		return nil, errors.New("no layer table under a heading \"Layers\"")
	}
	return rows, nil
}

func parseAllowance(cell string, above []string) (allowance, error) {
	var a allowance
	for term := range strings.SplitSeq(cell, ",") {
		term = strings.Trim(term, " `")
		head, below := strings.CutSuffix(term, " and below")
		host, _, _ := strings.Cut(term, "/")
		library, named := libraries[term]
		switch {
		case term == "nothing":
		case term == "everything":
			a.anyLayer, a.anyLibrary = true, true
		case term == "everything below":
			a.layers, a.anyLibrary = append(a.layers, above...), true
		case below && slices.Contains(above, head):
			a.layers = append(a.layers, above[:slices.Index(above, head)+1]...)
			a.anyLibrary = true
		case slices.Contains(above, term):
			a.layers = append(a.layers, term)
		case named:
			a.libraries = append(a.libraries, library)
		case strings.Contains(host, "."):
			a.libraries = append(a.libraries, term)
		default:
			return a, fmt.Errorf("%q is neither a layer above it in the table nor a known library", term)
		}
	}
	return a, nil
}

func TestAnUnreadableTableIsAnError(t *testing.T) {
	tests := map[string]string{
		"no heading":         "| hlc | nothing |\n",
		"no rows":            "## Layers\n\n| package | may import |\n|---|---|\n",
		"an unknown term":    "## Layers\n| merge | hcl |\n",
		"a layer not above":  "## Layers\n| merge | store |\n| store | merge |\n",
		"below an unknown":   "## Layers\n| hlc | nothing |\n| api | nod and below |\n",
		"a row twice":        "## Layers\n| hlc | nothing |\n| hlc | nothing |\n",
		"a missing column":   "## Layers\n| hlc |\n",
		"an empty allowance": "## Layers\n| hlc | |\n",
	}
	for name, document := range tests {
		t.Run(name, func(t *testing.T) {
			if table, err := parseLayers(document); err == nil {
				t.Errorf("parseLayers accepted it: %v", table)
			}
		})
	}
}
