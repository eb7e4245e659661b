package merge

import "fmt"

// reader takes typed values off canonical CBOR. The first value of another
// type ends it: err is set, and every later read returns zero. It checks
// bounds by itself, but not what CheckCanonical does (text, key order).
//
// The record is read by hand, not by reflection, so that each record has one
// form: a generic decoder takes null for zero and an array of numbers for
// bytes, and two builds that differ in such habits would not hold the same
// records.
type reader struct {
	rest []byte
	err  error
}

func (d *reader) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
	}
	d.rest = nil
}

// head returns the argument of the next value, which must be of a major type.
func (d *reader) head(want byte) uint64 {
	if d.err != nil {
		return 0
	}
	major, arg, rest, err := readHead(d.rest)
	switch {
	case err != nil:
		d.err = err
		return 0
	case major != want:
		d.fail("CBOR major type %d, want %d", major, want)
		return 0
	}
	d.rest = rest
	return arg
}

func (d *reader) uint() uint64 { return d.head(majorUint) }

// count returns the length of an array, or the pairs of a map. The caller may
// trust it for allocation: each element has at least one byte.
func (d *reader) count(major byte) int {
	n := d.head(major)
	if n > uint64(len(d.rest)) {
		d.fail("%d elements in %d bytes", n, len(d.rest))
		return 0
	}
	return int(n)
}

func (d *reader) arrayOf(n int) {
	if got := d.count(majorArray); d.err == nil && got != n {
		d.fail("array of %d, want %d", got, n)
	}
}

// string returns the content of a byte or text string; it aliases the input.
func (d *reader) string(major byte) []byte {
	n := d.head(major)
	if n > uint64(len(d.rest)) {
		d.fail("string of %d bytes, %d left", n, len(d.rest))
		return nil
	}
	s := d.rest[:n:n]
	d.rest = d.rest[n:]
	return s
}

func (d *reader) bytes() []byte { return d.string(majorBytes) }
func (d *reader) text() string  { return string(d.string(majorText)) }

// hash returns a byte string of exactly 32 bytes.
func (d *reader) hash() (h [32]byte) {
	if b := d.bytes(); len(b) == len(h) {
		return [32]byte(b)
	} else if d.err == nil {
		d.fail("hash of %d bytes", len(b))
	}
	return h
}

// flag reads true: a flag that is not set is absent.
func (d *reader) flag() bool {
	if d.err == nil && (len(d.rest) == 0 || d.rest[0] != simpleTrue) {
		d.fail("a flag is true or absent")
	}
	if d.err != nil {
		return false
	}
	d.rest = d.rest[1:]
	return true
}

// instance reads a key of 32 bytes or a text.
func (d *reader) instance() InstanceID {
	if d.err == nil && len(d.rest) > 0 && d.rest[0]>>5 == majorText {
		id := InstanceID(d.text())
		if err := id.validateText(); err != nil && d.err == nil {
			d.err = err
		}
		return id
	}
	key := d.hash()
	if d.err != nil {
		return ""
	}
	return InstanceOf(key[:])
}

// pairs calls read with each key of a map that is an unsigned integer; read
// takes the value off, or returns false for a key that it does not know. Such
// values, and those of all other keys, are skipped.
func (d *reader) pairs(read func(key uint64) (known bool)) {
	for range d.count(majorMap) {
		isUint := len(d.rest) > 0 && d.rest[0]>>5 == majorUint
		if isUint && read(d.uint()) {
			continue
		}
		if !isUint {
			d.skip()
		}
		d.skip()
	}
}

// skip takes one value of any kind off.
func (d *reader) skip() {
	if d.err != nil {
		return
	}
	d.rest, d.err = skipValue(d.rest, depthMax)
}

// end returns the error of the reads, or that something is left.
func (d *reader) end() error {
	if d.err == nil && len(d.rest) > 0 {
		d.fail("%d bytes after the value", len(d.rest))
	}
	return d.err
}
