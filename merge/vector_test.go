package merge_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/merge"
)

var addVectors = flag.Bool("add-vectors", false, "write the vector files that are missing; never change one")

const vectorFolder = "testdata/vectors"

// vector is one file of testdata/vectors: `name: value` lines, of which those
// between expect and hex are the view of a record, and the bytes in hex.
type vector struct {
	comment string
	expect  string // ok, malformed, too-large or unsupported
	view    string
	encoded []byte
}

var vectorErrors = map[string]error{
	"malformed":   merge.ErrMalformed,
	"too-large":   merge.ErrTooLarge,
	"unsupported": merge.ErrUnsupported,
}

// expectOf returns the word for what Decode says.
func expectOf(err error) string {
	for word, sentinel := range vectorErrors {
		if errors.Is(err, sentinel) {
			return word
		}
	}
	if err == nil {
		return "ok"
	}
	return "an unknown error: " + err.Error()
}

// String returns the content of the file.
func (v vector) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "comment: %s\nexpect: %s\n%shex:\n", v.comment, v.expect, v.view)
	const bytesPerLine = 32
	for text := hex.EncodeToString(v.encoded); text != ""; {
		n := min(len(text), 2*bytesPerLine)
		s.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	return s.String()
}

func parseVector(text string) (v vector, err error) {
	head, digits, found := strings.Cut(text, "\nhex:\n")
	lines := strings.SplitN(head+"\n", "\n", 3)
	if !found || len(lines) < 3 {
		return vector{}, errors.New("want comment, expect, view and hex")
	}
	var okComment, okExpect bool
	v.comment, okComment = strings.CutPrefix(lines[0], "comment: ")
	v.expect, okExpect = strings.CutPrefix(lines[1], "expect: ")
	if !okComment || !okExpect {
		return vector{}, errors.New("want comment and expect first")
	}
	v.view = lines[2]
	v.encoded, err = hex.DecodeString(strings.ReplaceAll(digits, "\n", ""))
	return v, err
}

// viewOf returns what a vector says of a record: its fields in the order of
// their numbers, then the hashes. Texts are quoted.
func viewOf(r *merge.Record) string {
	var s strings.Builder
	line := func(name, format string, args ...any) { fmt.Fprintf(&s, name+": "+format+"\n", args...) }
	instance := func(id merge.InstanceID) string {
		if key, ok := id.PublicKey(); ok {
			return fmt.Sprintf("key %x", []byte(key))
		}
		return "text " + strconv.QuoteToASCII(string(id))
	}
	line("fleet", "%x", r.Fleet[:])
	line("kind", "%+q", r.Key.Kind)
	scope := r.Key.Scope
	line("scope", "%+q %+q %+q", scope.Instance, scope.Project, scope.Workspace)
	for _, c := range r.Key.ID.Components() {
		line("id", "%+q", c)
	}
	line("sync_version", "%d", r.Envelope.SyncVersion)
	line("origin", "%s", instance(r.Envelope.OriginInstanceID))
	line("stamp", "%s", r.Envelope.UpdatedHLC)
	line("writer", "%s", instance(r.Envelope.LastWriterID))
	line("deleted", "%t", r.Envelope.Deleted)
	for _, e := range r.Basis {
		line("basis", "%s at %s", instance(e.Writer), e.Stamp)
	}
	line("body", "%x", r.Body)
	for _, b := range r.Blobs {
		line("blob", "%x of %d bytes, manifest %t", b.Hash, b.Size, b.Manifest)
	}
	line("purge", "%t", r.Purge)
	line("algorithm", "%d", r.Algorithm)
	line("signature", "%x", r.Signature)
	hash, section := r.Hash(), r.Key.Section()
	line("section", "%+q", section.ID())
	line("order", "%+q", r.Key.Order())
	line("item_hash", "%x", hash[:])
	line("signed_bytes_sha256", "%x", sha256.Sum256(r.SignedBytes()))
	return s.String()
}

// TestVectors holds I5: every file of testdata/vectors decodes as it says, and
// what decodes gives back its bytes. Files are only ever added.
func TestVectors(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(vectorFolder, "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			v, err := parseVector(string(text))
			if err != nil {
				t.Fatal(err)
			}
			checkVector(t, v)
		})
	}
}

func checkVector(t *testing.T, v vector) {
	t.Helper()
	r, err := merge.Decode(v.encoded)
	if got := expectOf(err); got != v.expect {
		t.Fatalf("Decode() is %s (%v), want %s", got, err, v.expect)
	}
	if err != nil {
		return
	}
	if diff := gocmp.Diff(v.view, viewOf(&r)); diff != "" {
		t.Errorf("view (-want +got):\n%s", diff)
	}
	if !bytes.Equal(r.Encode(), v.encoded) {
		t.Errorf("Encode() = %x, want %x", r.Encode(), v.encoded)
	}
	if r.Algorithm == merge.Ed25519 && !ed25519.Verify(keyOf(r.Envelope.LastWriterID), r.SignedBytes(), r.Signature) {
		t.Error("the signature does not verify")
	}
}

// TestVectorFilesHoldTheirCases: each case has its file, and none changed. With
// -add-vectors, files of new cases are written.
func TestVectorFilesHoldTheirCases(t *testing.T) {
	for _, c := range vectorCases(t) {
		t.Run(c.name, func(t *testing.T) {
			want := vector{comment: c.comment, encoded: c.encoded}
			r, err := merge.Decode(c.encoded)
			want.expect = expectOf(err)
			if err == nil {
				want.view = viewOf(&r)
			}
			switch {
			case c.reason == "" && err != nil:
				t.Fatalf("Decode() = %v, want the record", err)
			case c.reason != "" && (err == nil || !strings.Contains(err.Error(), c.reason)):
				t.Fatalf("Decode() = %v, want it refused because of %q", err, c.reason)
			}
			name := filepath.Join(vectorFolder, c.name+".txt")
			if *addVectors {
				addVector(t, name, want)
			}
			got, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(string(got), want.String()); diff != "" {
				t.Errorf("the format or the case changed: write a new vector, keep this one (-file +case):\n%.2000s", diff)
			}
		})
	}
}

// addVector writes a file unless there is one.
func addVector(t *testing.T, name string, v vector) {
	t.Helper()
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	_, errWrite := file.WriteString(v.String())
	if err := errors.Join(errWrite, file.Close()); err != nil {
		t.Fatal(err)
	}
}
