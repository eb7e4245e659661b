package relay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api/mcp/relay"
)

// FuzzLineReader compares the reader with a division of the whole text.
func FuzzLineReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n  \nc"), uint16(10))
	f.Add([]byte("0123456789\n0123456789a\nx\n"), uint16(10))
	f.Add(bytes.Repeat([]byte("x"), 200_000), uint16(100))
	f.Add([]byte("\n"), uint16(1))
	f.Fuzz(func(t *testing.T, text []byte, limit uint16) {
		bytesMax := int(limit) + 1
		var want []string
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			switch trimmed := bytes.TrimSpace(line); {
			case len(bytes.TrimRight(line, "\r")) > bytesMax:
				want = append(want, "too long")
			case len(trimmed) > 0:
				want = append(want, string(trimmed))
			}
		}
		for _, reader := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text))} {
			next := relay.Lines(reader, bytesMax)
			var got []string
			for {
				line, err := next()
				if errors.Is(err, relay.ErrLineTooLong) {
					if len(line) > 1<<10 {
						t.Fatalf("%d bytes are kept of a line that is too long", len(line))
					}
					got = append(got, "too long")
					continue
				}
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(line))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("limit %d (-want +got):\n%s", bytesMax, diff)
			}
		}
	})
}

// FuzzTheIDOfALongLine compares what is found in parts of a line with what a decoder
// of the whole finds.
func FuzzTheIDOfALongLine(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"x"}`,
		`{"method":"x","params":{"id":1,"a":["id",{"id":2}],"b":"\\\"id\":3"},"jsonrpc":"2.0","id":"last \"one\" \u0041"}`,
		`{"id":1,"id":-2.5e3}`, `{"\u0069d" : 4 }`, `{"id":{"id":1}}`, `{"id":[1]}`, `{"id":null}`, `{}`, `[{"id":1}]`, `{"id":1`, `{"x":"{","id":true}`,
		`{"id":"` + strings.Repeat("x", 2000) + `"}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.TrimSpace(line)
		if bytes.ContainsAny(line, "\n") || len(line) < 2 {
			t.Skip("not one line that is too long")
		}
		var whole []byte
		for _, reader := range []io.Reader{bytes.NewReader(line), iotest.OneByteReader(bytes.NewReader(line))} {
			id, err := relay.Lines(reader, 1)()
			if !errors.Is(err, relay.ErrLineTooLong) {
				t.Fatalf("%q: %v", line, err)
			}
			if whole == nil {
				whole = id
			}
			if !bytes.Equal(id, whole) {
				t.Fatalf("%q has the id %q in parts, and %q in one", line, id, whole)
			}
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(line, &fields) != nil || fields == nil {
			return // it is held to nothing but its bounds
		}
		want := fields["id"]
		if bytes.HasPrefix(want, []byte("{")) || bytes.HasPrefix(want, []byte("[")) || len(want) > 1<<10 {
			want = nil
		}
		if !bytes.Equal(want, whole) {
			t.Fatalf("%q has the id %q, want %q", line, whole, want)
		}
	})
}
