package relay_test

import (
	"bytes"
	"errors"
	"io"
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
					if len(line) > 4<<10 || len(line) == 0 {
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
