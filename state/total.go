package state

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// total is a sum of counts: 65,536 stores, forged for nothing, may count more
// than 64 bits hold, and a sum that wrapped would read as little.
type total struct{ high, low uint64 }

// totalBytes is the length of a total in a row.
const totalBytes = 16

// totalOf returns the total of one count, which is not negative.
func totalOf(n int64) total { return total{low: uint64(n)} }

func (t total) plus(o total) total {
	low, carry := bits.Add64(t.low, o.low, 0)
	high, _ := bits.Add64(t.high, o.high, carry)
	return total{high, low}
}

func (t total) minus(o total) total {
	low, borrow := bits.Sub64(t.low, o.low, 0)
	high, _ := bits.Sub64(t.high, o.high, borrow)
	return total{high, low}
}

// shown returns the total as far as an int goes.
func (t total) shown() int {
	if t.high > 0 {
		return math.MaxInt
	}
	return int(min(t.low, math.MaxInt))
}

func (t total) append(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, t.high), t.low)
}

// decodeTotal is the inverse of append.
func decodeTotal(b []byte) total {
	return total{high: binary.BigEndian.Uint64(b), low: binary.BigEndian.Uint64(b[totalBytes/2:])}
}
