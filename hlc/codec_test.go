package hlc_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
)

// anyStamp draws valid stamps, many of them neighbours at a boundary.
func anyStamp() *rapid.Generator[hlc.Timestamp] {
	return rapid.Custom(func(t *rapid.T) hlc.Timestamp {
		wall := rapid.OneOf(
			rapid.SampledFrom([]int64{0, 1, 0xff, 0x100, 0xffff, 0x1_0000, p, p + 1, hlc.WallMax - 1, hlc.WallMax}),
			rapid.Int64Range(0, hlc.WallMax),
		).Draw(t, "wall")
		counter := rapid.OneOf(
			rapid.SampledFrom([]uint16{0, 1, 0xff, 0x100, math.MaxUint16}),
			rapid.Uint16(),
		).Draw(t, "counter")
		return stamp(wall, counter)
	})
}

// TestCodecOrder holds I4: every form round-trips, and the byte and integer
// forms order as Compare does.
func TestCodecOrder(t *testing.T) {
	t.Run("every form orders as Compare does", func(t *testing.T) { rapid.Check(t, codecOrder) })
	t.Run("every form gives the stamp back", func(t *testing.T) { rapid.Check(t, codecRoundTrip) })
}

func codecOrder(t *rapid.T) {
	a, b := anyStamp().Draw(t, "a"), anyStamp().Draw(t, "b")
	want := cmp.Or(cmp.Compare(a.Wall, b.Wall), cmp.Compare(a.Counter, b.Counter))
	if got := a.Compare(b); got != want {
		t.Errorf("Compare(%s, %s) = %d, want %d", a, b, got, want)
	}
	if a.Before(b) != (want < 0) || a.After(b) != (want > 0) || (a == b) != (want == 0) {
		t.Errorf("Before, After or == of %s and %s do not agree with Compare", a, b)
	}
	if got := bytes.Compare(a.AppendBinary(nil), b.AppendBinary(nil)); got != want {
		t.Errorf("byte order of %s and %s is %d, want %d", a, b, got, want)
	}
	if got := cmp.Compare(a.Pack(), b.Pack()); got != want {
		t.Errorf("packed order of %s and %s is %d, want %d", a, b, got, want)
	}
}

func codecRoundTrip(t *rapid.T) {
	want := anyStamp().Draw(t, "stamp")
	binary := want.AppendBinary([]byte("before"))
	if !bytes.HasPrefix(binary, []byte("before")) || len(binary) != len("before")+hlc.Size {
		t.Fatalf("AppendBinary gave % x", binary)
	}
	if got, err := hlc.DecodeBinary(binary[len("before"):]); err != nil || got != want {
		t.Errorf("binary form gave %s, %v; want %s", got, err, want)
	}
	if got, err := hlc.Unpack(want.Pack()); err != nil || got != want {
		t.Errorf("packed form gave %s, %v; want %s", got, err, want)
	}
	if got, err := hlc.Parse(want.String()); err != nil || got != want {
		t.Errorf("text form gave %s, %v; want %s", got, err, want)
	}
	encoded, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got hlc.Timestamp
	if err := json.Unmarshal(encoded, &got); err != nil || got != want {
		t.Errorf("JSON %s gave %s, %v; want %s", encoded, got, err, want)
	}
}

func TestFormsOfOneStamp(t *testing.T) {
	s := stamp(p, 258)
	if got, want := s.String(), "1790000000000.258"; got != want {
		t.Errorf("text form %q, want %q", got, want)
	}
	if got, want := s.AppendBinary(nil), []byte{0x01, 0xa0, 0xc4, 0x50, 0x6c, 0x00, 0x01, 0x02}; !bytes.Equal(got, want) {
		t.Errorf("binary form % x, want % x", got, want)
	}
	if got, want := s.Time(), time.Date(2026, 9, 21, 14, 13, 20, 0, time.UTC); !got.Equal(want) || got.Location() != time.UTC {
		t.Errorf("Time() = %s, want %s", got, want)
	}
	if !(hlc.Timestamp{}).IsZero() || s.IsZero() || stamp(0, 1).IsZero() {
		t.Error("IsZero holds for the zero stamp alone")
	}
}

func TestPackOfAnInvalidStampPanics(t *testing.T) {
	for _, wall := range []int64{-1, math.MinInt64, 1 << 47, math.MaxInt64} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Pack of wall %d gave a value", wall)
				}
			}()
			_ = stamp(wall, 0).Pack()
		}()
	}
}

// FuzzParse: what Parse accepts is exactly what String prints.
func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		s, err := hlc.Parse(text)
		if err != nil {
			if !errors.Is(err, hlc.ErrSyntax) || !s.IsZero() {
				t.Errorf("Parse(%q) = %s, %v; want zero and ErrSyntax", text, s, err)
			}
			return
		}
		if !s.Valid() || s.String() != text {
			t.Errorf("Parse(%q) = %s, which is another text", text, s)
		}
	})
}

// FuzzDecodeBinary: what DecodeBinary accepts is exactly what AppendBinary
// writes.
func FuzzDecodeBinary(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := hlc.DecodeBinary(b)
		if err != nil {
			if !errors.Is(err, hlc.ErrSyntax) || !s.IsZero() {
				t.Errorf("DecodeBinary(% x) = %s, %v; want zero and ErrSyntax", b, s, err)
			}
			return
		}
		if !s.Valid() || !bytes.Equal(s.AppendBinary(nil), b) {
			t.Errorf("DecodeBinary(% x) = %s, which has other bytes", b, s)
		}
	})
}
