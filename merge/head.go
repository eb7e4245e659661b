package merge

import (
	"encoding/binary"
	"fmt"
)

// CBOR major types, RFC 8949 section 3.1.
const (
	majorUint = iota
	majorNegative
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorSimple
)

// Simple values, whole initial bytes.
const (
	simpleFalse = 0xf4
	simpleTrue  = 0xf5
	simpleNull  = 0xf6
)

// readHead reads the initial byte and its argument and refuses heads that are
// not the shortest form of their argument.
func readHead(b []byte) (major byte, arg uint64, rest []byte, err error) {
	if len(b) == 0 {
		return 0, 0, nil, fmt.Errorf("%w: ends early", ErrMalformed)
	}
	major, info, rest := b[0]>>5, b[0]&0x1f, b[1:]
	if info < 24 {
		return major, uint64(info), rest, nil
	}
	if info > 27 || major == majorSimple {
		return 0, 0, nil, fmt.Errorf("%w: head %#x", ErrMalformed, b[0])
	}
	size := 1 << (info - 24)
	if len(rest) < size {
		return 0, 0, nil, fmt.Errorf("%w: ends early", ErrMalformed)
	}
	var padded [8]byte
	copy(padded[8-size:], rest[:size])
	arg = binary.BigEndian.Uint64(padded[:])
	shortest := [...]uint64{24, 1 << 8, 1 << 16, 1 << 32}[info-24]
	if arg < shortest {
		return 0, 0, nil, fmt.Errorf("%w: %d is not in its shortest form", ErrMalformed, arg)
	}
	return major, arg, rest[size:], nil
}

// appendHead appends the shortest head of a value.
func appendHead(dst []byte, major byte, arg uint64) []byte {
	major <<= 5
	switch {
	case arg < 24:
		return append(dst, major|byte(arg))
	case arg < 1<<8:
		return append(dst, major|24, byte(arg))
	case arg < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(arg))
	case arg < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(arg))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|27), arg)
}

func appendUint(dst []byte, v uint64) []byte { return appendHead(dst, majorUint, v) }

func appendBytes[T ~[]byte | ~string](dst []byte, v T) []byte {
	return append(appendHead(dst, majorBytes, uint64(len(v))), v...)
}

func appendText(dst []byte, v string) []byte {
	return append(appendHead(dst, majorText, uint64(len(v))), v...)
}
