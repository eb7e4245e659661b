package state_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// vector is one file of testdata/vectors: lines "name: value" after comments.
type vector map[string]string

func readVectors(t *testing.T) map[string]vector {
	t.Helper()
	dir := os.DirFS("testdata/vectors")
	paths, err := fs.Glob(dir, "*.txt")
	if err != nil {
		t.Fatal(err)
	}
	vectors := map[string]vector{}
	for _, path := range paths {
		text, err := fs.ReadFile(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		v := vector{}
		for line := range strings.Lines(string(text)) {
			name, value, found := strings.Cut(strings.TrimSpace(line), ": ")
			if found && !strings.HasPrefix(line, "#") {
				v[name] = value
			}
		}
		vectors[strings.TrimSuffix(path, ".txt")] = v
	}
	return vectors
}

// record is the record that carries the vector's body, its key as written.
func (v vector) record(t *testing.T) merge.Record {
	t.Helper()
	body, err := hex.DecodeString(strings.ReplaceAll(v["body"], " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	var scope merge.Scope
	var id string
	for _, field := range []struct {
		name string
		into any
	}{{"scope", &scope}, {"id", &id}} {
		if err := json.Unmarshal([]byte(v[field.name]), field.into); err != nil {
			t.Fatalf("%s: %v", field.name, err)
		}
	}
	stamp := hlc.Timestamp{Wall: 1_790_000_000_000, Counter: 3}
	rec, err := merge.Seal(merge.Record{
		Key: merge.Key{Kind: v["kind"], Scope: scope, ID: merge.NewID(strings.Split(id, "|")...)},
		Envelope: merge.Envelope{
			SyncVersion: 4, OriginInstanceID: "first", UpdatedHLC: stamp, LastWriterID: "local", Deleted: v["deleted"] == "true",
		},
		Basis: merge.Basis{}.With("local", stamp),
		Body:  body,
	}, merge.Unsigned, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestVectors holds the bytes of bodies. Files are added to testdata/vectors,
// never changed: a body that was once written must be read for ever.
func TestVectors(t *testing.T) {
	vectors := readVectors(t)
	if len(vectors) < 12 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for name, v := range vectors {
		t.Run(name, func(t *testing.T) {
			rec := v.record(t)
			got, err := state.DecodeRecord(&rec)
			if v["expect"] == "invalid" {
				if !errors.Is(err, state.ErrInvalid) {
					t.Fatalf("got %+v, %v, want ErrInvalid", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			value, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(v["value"], string(value)); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			encoded, err := state.EncodeBody(got)
			if err != nil {
				t.Fatal(err)
			}
			if same := bytes.Equal(encoded, rec.Body); same != (v["expect"] == "ok") {
				t.Errorf("%s: encoded again\n%x, was\n%x", v["expect"], encoded, rec.Body)
			}
		})
	}
}

func TestABodyOnTheLimitIsWrittenAndOneBeyondIsNot(t *testing.T) {
	it := state.MemoryItem{ID: "x"}
	fit := func(n int) ([]byte, error) {
		it.Content = strings.Repeat("a", n)
		return state.EncodeBody(it)
	}
	short, err := fit(60_000)
	if err != nil {
		t.Fatal(err)
	}
	room := merge.BodyBytesMax - len(short) + 60_000
	if full, err := fit(room); err != nil || len(full) != merge.BodyBytesMax {
		t.Errorf("%d bytes of content: body of %d, %v", room, len(full), err)
	}
	if _, err := fit(room + 1); !errors.Is(err, state.ErrTooLarge) || !strings.Contains(err.Error(), "at most 65536") {
		t.Errorf("%d bytes of content: %v, want ErrTooLarge that names the limit", room+1, err)
	}
}
