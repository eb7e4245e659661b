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

// update adds vectors for messages that have none, and writes transcripts anew.
// Existing vectors are never written: what went over the wire once stays
// readable.
var update = flag.Bool("update", false, "add golden vectors that are missing, write transcripts")

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
	withheld := &fleetsync.HelloAck{Hello: fleetsync.Hello{Fleet: make([]byte, 32), Store: make([]byte, 16), Incarnation: 1, Heads: fleetsync.Heads{
		Salt: salt, Sections: []fleetsync.SectionHead{}, WithheldSections: []string{"memory\x1f\x1fsecret\x1f"},
	}}}
	if payload, err = merge.Marshal(withheld); err != nil {
		t.Fatal(err)
	}
	addVector(t, "helloack-withheld-section", "an answer of one who does not share a section that it was told of", "ok", append([]byte{byte(fleetsync.TypeHelloAck), 0}, payload...))
	withheld.Heads.WithheldSections = []string{"memory"}
	if payload, err = merge.Marshal(withheld); err != nil {
		t.Fatal(err)
	}
	addVector(t, "helloack-withheld-family", "a family among the sections that are withheld", "malformed", append([]byte{byte(fleetsync.TypeHelloAck), 0}, payload...))
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
	addReconVectors(t)
}

// addReconVectors adds questions and answers that are malformed in one way each,
// and some that are legal at their bounds.
func addReconVectors(t *testing.T) {
	t.Helper()
	question := func(spans ...fleetsync.ReconSpan) fleetsync.Message {
		return &fleetsync.Recon{ID: 4, Section: "memory\x1f\x1f\x1f", Salt: salt, Spans: spans}
	}
	answer := func(writers []merge.InstanceID, item fleetsync.ReconItem, spans ...fleetsync.ReconSpan) fleetsync.Message {
		return &fleetsync.ReconAnswer{ID: 4, Writers: writers, Items: []fleetsync.ReconItem{item}, Spans: spans, Head: 1, Incarnation: 2}
	}
	tagged := func(salt []byte, bytes int, refs ...fleetsync.Ref) fleetsync.Message {
		return &fleetsync.Get{
			ID: 2, Section: "memory\x1f\x1f\x1f", Refs: append([]fleetsync.Ref{}, refs...), Salt: salt,
			After: []byte("memory\x00a"), UpTo: []byte("memory\x00b"), Tags: make([]byte, bytes),
		}
	}
	whole := fleetsync.ReconSpan{Mode: 0}
	item := fleetsync.ReconItem{Rest: []byte("memory\x00a"), Stamp: 1, Tag: make([]byte, 6)}
	local := []merge.InstanceID{"local"}
	for _, v := range []struct {
		name, comment, expect string
		m                     fleetsync.Message
	}{
		{"recon-nothing", "what a node that holds nothing asks of a whole section", "ok", question(fleetsync.ReconSpan{Mode: 1, Print: make([]byte, 8)})},
		{"recon-list-all", "a list of everything, without tags", "ok", question(fleetsync.ReconSpan{Mode: 2})},
		{"recon-mode-3", "a span of a later version's mode", "ok", question(fleetsync.ReconSpan{Mode: 3})},
		{"recon-no-spans", "a question about nothing", "malformed", question()},
		{"recon-print-short", "a print of seven bytes", "malformed", question(fleetsync.ReconSpan{Mode: 1, Print: make([]byte, 7)})},
		{"recon-tags-uneven", "tags of nine bytes in all", "malformed", question(fleetsync.ReconSpan{Mode: 2, Print: make([]byte, 9)})},
		{"recon-salt-short", "a salt of seven bytes", "malformed", &fleetsync.Recon{ID: 4, Section: "memory\x1f\x1f\x1f", Salt: salt[:7], Spans: []fleetsync.ReconSpan{whole}}},
		{"recon-bound-long", "an end of more bytes than a position may have", "malformed", question(fleetsync.ReconSpan{Rest: make([]byte, 4097), Mode: 0}, whole)},
		{"recon-spans-4097", "one span too many", "too-large", question(make([]fleetsync.ReconSpan, 4097)...)},
		{"get-tags", "records by their tags", "ok", tagged(salt, 12)},
		{"get-tags-uneven", "tags of seven bytes in all", "malformed", tagged(salt, 7)},
		{"get-tags-no-salt", "tags under no salt", "malformed", tagged(nil, 6)},
		{"get-tags-and-refs", "both tags and keys", "malformed", tagged(salt, 6, fleetsync.Ref{Order: []byte("memory\x00a"), Writer: "local"})},
		{"recon-answer-equal", "the answer that a section is equal", "ok", &fleetsync.ReconAnswer{ID: 4, Spans: []fleetsync.ReconSpan{whole}, Head: 1, Incarnation: 2}},
		{"recon-answer-tag-short", "an item with a tag of five bytes", "malformed", answer(local, fleetsync.ReconItem{Rest: item.Rest, Stamp: 1, Tag: make([]byte, 5)}, whole)},
		{"recon-answer-no-writer", "an item by a writer that is not listed", "malformed", answer(local, fleetsync.ReconItem{Rest: item.Rest, Writer: 1, Stamp: 1, Tag: item.Tag}, whole)},
		{"recon-answer-writers", "more writers than items", "too-large", answer([]merge.InstanceID{"local", "other"}, item, whole)},
	} {
		payload, err := merge.Marshal(v.m)
		if err != nil {
			t.Fatal(err)
		}
		addVector(t, v.name, v.comment, v.expect, append([]byte{byte(v.m.Type()), 0}, payload...))
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
