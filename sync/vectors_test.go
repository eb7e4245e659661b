package sync_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// update adds vectors for messages that have none. Existing files are never
// written: what went over the wire once stays readable.
var update = flag.Bool("update", false, "add golden vectors that are missing")

// vector is one file of testdata/vectors.
type vector struct {
	comment, expect string
	frame           []byte // without the length prefix
}

func readVector(t *testing.T, path string) vector {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v vector
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "comment":
			v.comment = value
		case "expect":
			v.expect = value
		case "hex":
			if v.frame, err = hex.DecodeString(strings.ReplaceAll(value, " ", "")); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
	}
	return v
}

// verdict is the word that vectors use for the outcome of decoding.
func verdict(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, fleetsync.ErrTooLarge):
		return "too-large"
	case errors.Is(err, fleetsync.ErrUnknownMessage):
		return "unsupported"
	case errors.Is(err, fleetsync.ErrMalformed):
		return "malformed"
	}
	return "unexpected: " + err.Error()
}

func TestVectors(t *testing.T) {
	codec := newCodec(t)
	if *update {
		addVectors(t, codec)
	}
	paths, err := filepath.Glob("testdata/vectors/*.txt")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d vectors, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			v := readVector(t, path)
			m, err := codec.Decode(v.frame)
			if got := verdict(err); got != v.expect {
				t.Fatalf("%s: got %s (%v), want %s", v.comment, got, err, v.expect)
			}
			if err != nil || v.frame[1] != 0 {
				return // another build may compress differently
			}
			payload, err := merge.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(payload, v.frame[2:]) {
				t.Errorf("%s: encodes to\n%x, want\n%x", v.comment, payload, v.frame[2:])
			}
		})
	}
}

func addVectors(t *testing.T, codec *fleetsync.Codec) {
	t.Helper()
	for _, m := range messages() {
		payload, err := merge.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", m), "*sync."))
		addVector(t, name, "one "+name+" with every field set", "ok", append([]byte{byte(m.Type()), 0}, payload...))
	}
	for name, m := range map[string]fleetsync.Message{
		"changespage-incarnation": messages()[4], "page-incarnation": messages()[9],
	} {
		payload, err := merge.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		addVector(t, name, "a page that tells of which opening of the store its position is", "ok", append([]byte{byte(m.Type()), 0}, payload...))
	}
	payload, err := merge.Marshal(messages()[2])
	if err != nil {
		t.Fatal(err)
	}
	addVector(t, "heartbeat-time", "a heartbeat that tells what its sender's clock says", "ok", append([]byte{byte(fleetsync.TypeHeartbeat), 0}, payload...))
	long, err := codec.Encode(&fleetsync.Page{ID: 1, Records: [][]byte{bytes.Repeat([]byte("skill "), 300)}, Done: true, Sum: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	long, err = fleetsync.ReadFrame(bytes.NewReader(long))
	if err != nil {
		t.Fatal(err)
	}
	addVector(t, "compressed", "a page of repeated text as one zstd frame", "ok", long)
	addVector(t, "blob-absent", "content that is not there", "ok", []byte{byte(fleetsync.TypeBlob), 0, 0xa1, 0x01, 0x04})
	good := []byte{byte(fleetsync.TypeBusy), 0, 0xa2, 0x01, 0x03, 0x02, 0x19, 0x01, 0xf4}
	addVector(t, "busy-plain", "busy 3, retry after 500 ms", "ok", good)
	for _, bad := range []struct {
		name, comment, expect string
		frame                 []byte
	}{
		{"unknown-type", "a type of a later version", "unsupported", append([]byte{200}, good[1:]...)},
		{"unknown-flag", "a flag of a later version", "malformed", append([]byte{good[0], 2}, good[2:]...)},
		{"not-minimal", "an id that is not in its shortest form", "malformed", []byte{18, 0, 0xa2, 0x01, 0x18, 0x03, 0x02, 0x05}},
		{"keys-unsorted", "keys in descending order", "malformed", []byte{18, 0, 0xa2, 0x02, 0x05, 0x01, 0x03}},
		{"key-twice", "one key twice", "malformed", []byte{18, 0, 0xa2, 0x01, 0x03, 0x01, 0x03}},
		{"indefinite", "a map of indefinite length", "malformed", []byte{18, 0, 0xbf, 0x01, 0x03, 0xff}},
		{"trailing", "a byte after the payload", "malformed", append(bytes.Clone(good), 0)},
		{"float", "a retry that is a float", "malformed", []byte{18, 0, 0xa2, 0x01, 0x03, 0x02, 0xf9, 0x3c, 0x00}},
		{"no-zstd", "a payload that claims to be zstd", "malformed", append([]byte{good[0], 1}, good[2:]...)},
		{"hello-short-ids", "a hello whose ids are too short", "malformed", []byte{1, 0, 0xa4, 0x01, 0x41, 0, 0x02, 0x41, 0, 0x03, 0x01, 0x04, 0xa3, 0x01, 0x48, 1, 2, 3, 4, 5, 6, 7, 8, 0x02, 0, 0x03, 0x80}},
		{"blobget-short-hash", "content asked for by a hash of one byte", "malformed", append([]byte{14, 0, 0xa3, 0x01, 0x04, 0x02, 0x69}, "memory\x1f\x1f\x1f\x03\x41\x06"...)},
		{"blob-too-large", "a part of content of more than 8 MiB", "too-large", []byte{15, 0, 0xa3, 0x01, 0x04, 0x02, 0x41, 0x07, 0x03, 0x1a, 0x00, 0x80, 0x00, 0x01}},
		{"blob-beyond-its-size", "two bytes of content of one", "malformed", []byte{15, 0, 0xa3, 0x01, 0x04, 0x02, 0x42, 0x07, 0x07, 0x03, 0x01}},
	} {
		addVector(t, bad.name, bad.comment, bad.expect, bad.frame)
	}
}

func addVector(t *testing.T, name, comment, expect string, frame []byte) {
	t.Helper()
	path := filepath.Join("testdata", "vectors", name+".txt")
	if _, err := os.Stat(path); err == nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("comment: %s\nexpect: %s\nhex: %x\n", comment, expect, frame)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
