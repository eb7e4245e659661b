package hlc

import (
	"cmp"
	"time"
)

// WallMax is the largest physical part, in milliseconds since 1970 (the year
// 6429). The bound keeps the packed form below 2^63.
const WallMax = 1<<47 - 1

// Timestamp is one reading of a hybrid logical clock. It is comparable; the
// zero value precedes every stamp that a clock issues.
type Timestamp struct {
	// Wall is the physical part in milliseconds since 1970, 0 to WallMax.
	Wall int64
	// Counter orders stamps within one millisecond.
	Counter uint16
}

// Compare returns -1, 0 or +1 as t is before, equal to or after u: by Wall,
// then by Counter.
func (t Timestamp) Compare(u Timestamp) int {
	if c := cmp.Compare(t.Wall, u.Wall); c != 0 {
		return c
	}
	return cmp.Compare(t.Counter, u.Counter)
}

// Before reports whether t precedes u.
func (t Timestamp) Before(u Timestamp) bool { return t.Compare(u) < 0 }

// After reports whether t follows u.
func (t Timestamp) After(u Timestamp) bool { return t.Compare(u) > 0 }

// IsZero reports whether t is the zero stamp, which no clock issues.
func (t Timestamp) IsZero() bool { return t == Timestamp{} }

// Valid reports whether the physical part lies in its range. Only valid stamps
// have a packed form.
func (t Timestamp) Valid() bool { return t.Wall >= 0 && t.Wall <= WallMax }

// Time returns the physical part as a UTC time, to the millisecond.
func (t Timestamp) Time() time.Time { return time.UnixMilli(t.Wall).UTC() }

// next returns the smallest stamp after t; ok is false at the end of the range.
func (t Timestamp) next() (n Timestamp, ok bool) {
	if t.Counter < 1<<16-1 {
		return Timestamp{t.Wall, t.Counter + 1}, true
	}
	if t.Wall >= WallMax {
		return t, false
	}
	return Timestamp{t.Wall + 1, 0}, true
}
