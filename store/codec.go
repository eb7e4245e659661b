package store

import (
	"encoding/binary"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// The values of the store's own rows are a plain binary form: fixed-width
// big-endian integers, uvarints in their shortest form, and texts behind a
// uvarint length. It never leaves the machine; formatVersion names it.

func appendText[T ~string | ~[]byte](dst []byte, text T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	return append(dst, text...)
}

func appendUint64(dst []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(dst, v) }

// decoder reads a row from a string, so that the texts in it are substrings
// and cost no allocation. The first malformed field sets bad, and every read
// after it returns zero: callers check done once, at the end.
type decoder struct {
	rest string
	bad  bool
}

// done reports whether everything was read and nothing was malformed.
func (d *decoder) done() bool { return !d.bad && d.rest == "" }

func (d *decoder) bytes(n uint64) string {
	if d.bad || n > uint64(len(d.rest)) {
		d.bad = true
		return ""
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != "" {
		return b[0]
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	b := d.bytes(8)
	if b == "" {
		return 0
	}
	return uint64(b[0])<<56 | uint64(b[1])<<48 | uint64(b[2])<<40 | uint64(b[3])<<32 |
		uint64(b[4])<<24 | uint64(b[5])<<16 | uint64(b[6])<<8 | uint64(b[7])
}

// uvarint refuses a form that is longer than it needs to be, so that one value
// has one encoding.
func (d *decoder) uvarint() uint64 {
	var v uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		c := d.rest[i]
		if i == binary.MaxVarintLen64-1 && c > 1 {
			break
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if c == 0 && i > 0 {
				break
			}
			d.rest = d.rest[i+1:]
			return v
		}
	}
	d.bad = true
	return 0
}

func (d *decoder) text() string { return d.bytes(d.uvarint()) }

func (d *decoder) hash() merge.Hash {
	var h merge.Hash
	copy(h[:], d.bytes(uint64(len(h))))
	return h
}

func (d *decoder) stamp() hlc.Timestamp {
	t, err := hlc.Unpack(d.uint64())
	if err != nil {
		d.bad = true
	}
	return t
}
