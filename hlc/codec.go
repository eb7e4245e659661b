package hlc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Size is the length in bytes of the binary form: 48 bits of Wall, 16 of
// Counter, big-endian, so that byte order is time order.
const Size = 8

// ErrSyntax is returned for a text or binary form that is not a timestamp.
var ErrSyntax = errors.New("hlc: not a timestamp")

// Pack returns t as one integer whose order is that of Compare. It panics when
// t is not Valid: values from outside are checked where they are decoded.
func (t Timestamp) Pack() uint64 {
	if !t.Valid() {
		panic(fmt.Sprintf("hlc: pack of %d.%d, outside the range", t.Wall, t.Counter))
	}
	return uint64(t.Wall)<<16 | uint64(t.Counter)
}

// Unpack is the inverse of Pack. It returns ErrSyntax for a value of 2^63 or
// more, which no stamp has.
func Unpack(v uint64) (Timestamp, error) {
	if v >= 1<<63 {
		return Timestamp{}, fmt.Errorf("%w: %#x is beyond the last millisecond", ErrSyntax, v)
	}
	return Timestamp{Wall: int64(v >> 16), Counter: uint16(v)}, nil
}

// AppendBinary appends the Size bytes of t to dst. It panics when t is not
// Valid.
func (t Timestamp) AppendBinary(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(dst, t.Pack())
}

// DecodeBinary reads a stamp from exactly Size bytes. Errors: ErrSyntax.
func DecodeBinary(b []byte) (Timestamp, error) {
	if len(b) != Size {
		return Timestamp{}, fmt.Errorf("%w: %d bytes, want %d", ErrSyntax, len(b), Size)
	}
	return Unpack(binary.BigEndian.Uint64(b))
}

// String returns the text form wall.counter in decimal, such as
// "1790000000000.3".
func (t Timestamp) String() string {
	return strconv.FormatInt(t.Wall, 10) + "." + strconv.FormatUint(uint64(t.Counter), 10)
}

// Parse reads the text form and accepts exactly what String prints for a valid
// stamp: no sign, no leading zero, no space. Errors: ErrSyntax.
func Parse(s string) (Timestamp, error) {
	wallText, counterText, found := strings.Cut(s, ".")
	wall, errWall := strconv.ParseInt(wallText, 10, 64)
	counter, errCounter := strconv.ParseUint(counterText, 10, 16)
	t := Timestamp{Wall: wall, Counter: uint16(counter)}
	if !found || errWall != nil || errCounter != nil || !t.Valid() || t.String() != s {
		return Timestamp{}, fmt.Errorf("%w: %.60q, want wall.counter such as 1790000000000.0", ErrSyntax, s)
	}
	return t, nil
}

// MarshalText makes a stamp travel as its text form in JSON.
func (t Timestamp) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText is the inverse of MarshalText. Errors: ErrSyntax.
func (t *Timestamp) UnmarshalText(b []byte) error {
	parsed, err := Parse(string(b))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}
