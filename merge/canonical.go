package merge

import (
	"bytes"
	"fmt"
	"math"
	"unicode/utf8"
)

// CheckCanonical reports whether b is exactly one CBOR value in the house
// form: RFC 8949 core deterministic encoding (shortest heads, definite lengths,
// map keys ascending and distinct) without tags, floats, undefined and other
// simple values than false, true and null; integers from -2^63 to 2^64-1; map
// keys are integers or strings; text is valid UTF-8; arrays and maps nest at
// most 8 deep. It walks the bytes
// once and allocates nothing, so it may run on unverified input. Errors:
// ErrMalformed.
//
// That this equals decoding generically and encoding again, but for map keys
// that are false, true or null, is held by FuzzCheckCanonical.
func CheckCanonical(b []byte) error {
	rest, err := skipValue(b, depthMax)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes after the value", ErrMalformed, len(rest))
	}
	return nil
}

// skipValue checks the value at the start of b and returns what follows it.
func skipValue(b []byte, depth int) ([]byte, error) {
	major, arg, rest, err := readHead(b)
	if err != nil {
		return nil, err
	}
	switch major {
	case majorNegative:
		if arg > math.MaxInt64 {
			return nil, fmt.Errorf("%w: integer below -2^63", ErrMalformed)
		}
	case majorBytes, majorText:
		if arg > uint64(len(rest)) {
			return nil, fmt.Errorf("%w: string of %d bytes, %d left", ErrMalformed, arg, len(rest))
		}
		if major == majorText && !utf8.Valid(rest[:arg]) {
			return nil, fmt.Errorf("%w: text is not UTF-8", ErrMalformed)
		}
		return rest[arg:], nil
	case majorArray:
		return skipArray(rest, arg, depth)
	case majorMap:
		return skipMap(rest, arg, depth)
	case majorTag:
		return nil, fmt.Errorf("%w: tag %d", ErrMalformed, arg)
	case majorSimple:
		if b[0] < simpleFalse || b[0] > simpleNull {
			return nil, fmt.Errorf("%w: float or simple value %#x", ErrMalformed, b[0])
		}
	}
	return rest, nil
}

func skipArray(rest []byte, n uint64, depth int) ([]byte, error) {
	if depth == 0 || n > uint64(len(rest)) {
		return nil, fmt.Errorf("%w: array of %d, too deep or too long", ErrMalformed, n)
	}
	var err error
	for range n {
		if rest, err = skipValue(rest, depth-1); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

func skipMap(rest []byte, n uint64, depth int) ([]byte, error) {
	if depth == 0 || n > uint64(len(rest))/2 {
		return nil, fmt.Errorf("%w: map of %d, too deep or too long", ErrMalformed, n)
	}
	var previous []byte
	for range n {
		if len(rest) > 0 && rest[0]>>5 > majorText {
			return nil, fmt.Errorf("%w: map key %#x is neither integer nor string", ErrMalformed, rest[0])
		}
		afterKey, err := skipValue(rest, depth-1)
		if err != nil {
			return nil, err
		}
		key := rest[:len(rest)-len(afterKey)]
		if previous != nil && bytes.Compare(previous, key) >= 0 {
			return nil, fmt.Errorf("%w: map keys not ascending", ErrMalformed)
		}
		previous = key
		if rest, err = skipValue(afterKey, depth-1); err != nil {
			return nil, err
		}
	}
	return rest, nil
}
