package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Every value in the engine ends with a CRC32C over value and key: a flipped
// bit, and also a value that turns up under another key, is ErrCorrupt and
// never a wrong answer. The engine's own checks are off: they miss some faults
// and panic on others.
const checksumBytes = 4

// castagnoli returns the table of CRC32C; the package computes it once.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// checksum returns the CRC of a value under its key. The value comes first, so
// that the long part can be computed before the key is known.
func checksum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(value, castagnoli()), castagnoli(), key)
}

// appendChecksum completes the value that begins at dst[0].
func appendChecksum(dst, key []byte) []byte {
	return binary.BigEndian.AppendUint32(dst, checksum(key, dst))
}

// openValue returns the value without its checksum. Errors: ErrCorrupt.
func openValue(key, stored []byte) ([]byte, error) {
	n := len(stored) - checksumBytes
	if n < 0 || binary.BigEndian.Uint32(stored[n:]) != checksum(key, stored[:n]) {
		return nil, fmt.Errorf("%w: value of %d bytes under %q fails its checksum", ErrCorrupt, len(stored), key)
	}
	return stored[:n:n], nil
}

// get reads and checks one value. It is valid until the transaction ends.
// Errors: ErrNotFound, ErrCorrupt, and the engine's.
func get(tx Txn, key []byte) ([]byte, error) {
	stored, err := tx.Get(key)
	if err != nil {
		return nil, err
	}
	return openValue(key, stored)
}

// scan is Txn.Scan over the keys that begin with prefix and are at or after
// from (before it when reverse is set; nil for all), with checked values.
func scan(tx Txn, prefix, from []byte, reverse bool, fn func(key, value []byte) (bool, error)) error {
	lower, upper := prefix, successor(prefix)
	switch {
	case from == nil:
	case reverse:
		upper = from
	default:
		lower = from
	}
	return tx.Scan(lower, upper, reverse, func(key, stored []byte) (bool, error) {
		value, err := openValue(key, stored)
		if err != nil {
			return false, err
		}
		return fn(key, value)
	})
}

// successor returns the first key after every key that begins with prefix.
func successor(prefix []byte) []byte {
	next := append([]byte(nil), prefix...)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i] < 0xff {
			next[i]++
			return next[:i+1]
		}
	}
	return nil
}
