package sync_test

import (
	"bufio"
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

func newCodec(tb testing.TB) *fleetsync.Codec {
	tb.Helper()
	c, err := fleetsync.NewCodec()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// salt is any 8 bytes.
var salt = []byte("saltsalt")

// messages holds one of each message, with every field set.
func messages() []fleetsync.Message {
	heads := fleetsync.Heads{
		Salt: salt, Clock: 7 << 16,
		Sections: []fleetsync.SectionHead{{Section: "skill\x1f\x1fweb\x1f", Head: 9, Count: 4, Root: bytes.Repeat([]byte{1}, 16)}},
		Withheld: []string{"session"}, Time: 1_790_000_000_000,
	}
	hello := fleetsync.Hello{Fleet: bytes.Repeat([]byte{2}, 32), Store: bytes.Repeat([]byte{3}, 16), Incarnation: 5, Heads: heads}
	return []fleetsync.Message{
		&hello,
		&fleetsync.HelloAck{Hello: hello},
		&fleetsync.Heartbeat{Heads: heads, Echo: salt, Incarnation: 5},
		&fleetsync.Changes{ID: 1, Section: "skill\x1f\x1f\x1f", Incarnation: 5, After: 6, Inline: true},
		&fleetsync.ChangesPage{
			ID: 1, Entries: []fleetsync.Entry{{Order: []byte("skill\x00deploy"), Writer: "local", Stamp: 7 << 16, Hash: bytes.Repeat([]byte{4}, 32)}},
			Records: [][]byte{{0xa0}}, Next: 9, Done: true, Incarnation: 5,
		},
		&fleetsync.CursorInvalid{ID: 1, Reason: "unknown incarnation", End: 3},
		&fleetsync.Get{ID: 2, Section: "skill\x1f\x1f\x1f", Refs: []fleetsync.Ref{{Order: []byte("skill\x00deploy"), Writer: "local"}}},
		&fleetsync.Records{ID: 2, Answered: 1, Records: [][]byte{{0xa0}}},
		&fleetsync.PageReq{ID: 3, Section: "memory\x1f\x1f\x1f", After: []byte("memory\x00a")},
		&fleetsync.Page{ID: 3, Records: [][]byte{{0xa0}}, Last: []byte("memory\x00b"), Done: true, Sum: make([]byte, 32), Head: 9, Incarnation: 5},
		&fleetsync.BlobGet{ID: 4, Section: "memory\x1f\x1f\x1f", Hash: bytes.Repeat([]byte{6}, 32), Offset: 262_144, Bytes: 131_072},
		&fleetsync.Blob{ID: 4, Bytes: []byte("content"), Size: 262_151},
		&fleetsync.Busy{ID: 3, Retry: 500},
		&fleetsync.Error{ID: 3, Code: fleetsync.CodeNotShared, Text: "not shared"},
		&fleetsync.Bye{Reason: "stopping"},
		&fleetsync.Get{
			ID: 2, Section: "skill\x1f\x1f\x1f", Refs: []fleetsync.Ref{}, Salt: salt, After: []byte("skill\x00a"), UpTo: []byte("skill\x00b"),
			Tags: bytes.Repeat([]byte{9}, 12),
		},
		&fleetsync.Recon{
			ID: 4, Section: "memory\x1f\x1f\x1f", Salt: salt, After: []byte("memory\x00a"), Exact: true,
			Spans: []fleetsync.ReconSpan{
				{Shared: 7, Rest: []byte("b"), Mode: 0},
				{Shared: 8, Rest: []byte("c"), Mode: 1, Count: 3, Print: bytes.Repeat([]byte{5}, 8)},
				{Mode: 2, Print: bytes.Repeat([]byte{6}, 12)},
			},
		},
		&fleetsync.ReconAnswer{
			ID: 4, Spans: []fleetsync.ReconSpan{{Rest: []byte("memory\x00b"), Mode: 0}, {Mode: 1, Count: 4, Print: bytes.Repeat([]byte{7}, 8)}},
			Writers: []merge.InstanceID{"local"}, Head: 9, Incarnation: 5,
			Items: []fleetsync.ReconItem{{Rest: []byte("memory\x00a"), Writer: 0, Stamp: 7 << 16, Tag: bytes.Repeat([]byte{8}, 6)}},
		},
	}
}

func TestEveryMessageSurvivesTheWire(t *testing.T) {
	codec := newCodec(t)
	for _, m := range messages() {
		frame, err := codec.Encode(m)
		if err != nil {
			t.Fatalf("encode %T: %v", m, err)
		}
		body, err := fleetsync.ReadFrame(bufio.NewReader(bytes.NewReader(frame)))
		if err != nil {
			t.Fatalf("read %T: %v", m, err)
		}
		got, err := codec.Decode(body)
		if err != nil {
			t.Fatalf("decode %T: %v", m, err)
		}
		if diff := cmp.Diff(m, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(
			fleetsync.SectionHead{}, fleetsync.Entry{}, fleetsync.Ref{}, fleetsync.ReconSpan{}, fleetsync.ReconItem{})); diff != "" {
			t.Errorf("%T changed on the wire (-sent +received):\n%s", m, diff)
		}
	}
}

func TestLargeFramesAreCompressedAndBounded(t *testing.T) {
	codec := newCodec(t)
	text := bytes.Repeat([]byte("a skill is a text that repeats itself, "), 20_000)
	frame, err := codec.Encode(&fleetsync.Page{ID: 1, Records: [][]byte{text}, Done: true, Sum: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	if len(frame) > len(text)/10 {
		t.Errorf("frame of %d bytes for %d bytes of text", len(frame), len(text))
	}
	bomb := bytes.Repeat(text, 6) // inflates to more than a frame may
	if _, err := codec.Encode(&fleetsync.Page{ID: 1, Records: [][]byte{bomb}, Done: true, Sum: make([]byte, 32)}); !errors.Is(err, fleetsync.ErrTooLarge) {
		t.Errorf("encoding beyond the inflated limit: got %v, want ErrTooLarge", err)
	}
}

func TestFramesThatAreRefused(t *testing.T) {
	codec := newCodec(t)
	good, err := codec.Encode(&fleetsync.Busy{ID: 1, Retry: 2})
	if err != nil {
		t.Fatal(err)
	}
	good = good[1:] // without the length
	for name, c := range map[string]struct {
		frame []byte
		want  error
	}{
		"an empty frame":              {nil, fleetsync.ErrMalformed},
		"a type of a later version":   {[]byte{200, 0, 0xa0}, fleetsync.ErrUnknownMessage},
		"unknown flags":               {append([]byte{good[0], 0x80}, good[2:]...), fleetsync.ErrMalformed},
		"a byte after the payload":    {append(bytes.Clone(good), 0), fleetsync.ErrMalformed},
		"a payload that is no zstd":   {append([]byte{good[0], 1}, good[2:]...), fleetsync.ErrMalformed},
		"a payload that is cut short": {good[:len(good)-1], fleetsync.ErrMalformed},
	} {
		if _, err := codec.Decode(c.frame); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	for name, c := range map[string]struct {
		stream []byte
		want   error
	}{
		"a length beyond the limit": {[]byte{0xff, 0xff, 0xff, 0x7f}, fleetsync.ErrTooLarge},
		"a length of one":           {[]byte{1, 0}, fleetsync.ErrMalformed},
	} {
		if _, err := fleetsync.ReadFrame(bufio.NewReader(bytes.NewReader(c.stream))); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	codec := newCodec(f)
	for _, m := range messages() {
		frame, err := codec.Encode(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame[1:])
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := codec.Decode(frame)
		if err != nil {
			return
		}
		again, err := codec.Encode(m)
		if err != nil {
			t.Fatalf("decoded %T does not encode: %v", m, err)
		}
		body, err := fleetsync.ReadFrame(bufio.NewReader(bytes.NewReader(again)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := codec.Decode(body); err != nil {
			t.Fatalf("encoded %T does not decode: %v", m, err)
		}
	})
}
