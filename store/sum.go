package store

import (
	"encoding/binary"
	"math/bits"

	"github.com/fleetsync/fleetd/merge"
)

// Sum is a sum of item hashes modulo 2^256: the fingerprint of a set of
// versions, whatever the order in which they came. It is comparable; the zero
// value is the sum of nothing. The words are little-endian: the first holds
// the lowest 64 bits.
type Sum [4]uint64

// Add returns s plus one item.
func (s Sum) Add(item merge.Hash) Sum { return s.Join(sumOf(item)) }

// Sub returns s less one item.
func (s Sum) Sub(item merge.Hash) Sum { return s.Less(sumOf(item)) }

// Join returns the sum of both.
func (s Sum) Join(other Sum) Sum {
	var carry uint64
	for i := range s {
		s[i], carry = bits.Add64(s[i], other[i], carry)
	}
	return s
}

// Less returns s minus the other sum.
func (s Sum) Less(other Sum) Sum {
	var borrow uint64
	for i := range s {
		s[i], borrow = bits.Sub64(s[i], other[i], borrow)
	}
	return s
}

// Bytes returns the sum as a 256-bit big-endian number.
func (s Sum) Bytes() [32]byte {
	var b [32]byte
	for i, word := range s {
		binary.BigEndian.PutUint64(b[24-8*i:], word)
	}
	return b
}

// sumOf reads 32 bytes as a big-endian number, the inverse of Bytes.
func sumOf(b [32]byte) Sum {
	var s Sum
	for i := range s {
		s[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
	return s
}
