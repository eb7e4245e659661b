package merge

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Keys of the encoded record, a CBOR map with exactly these: what stands here
// is not signed, so nothing may be added.
const (
	recordHeader    = 1 // the bytes that were signed
	recordBody      = 2
	recordAlgorithm = 3
	recordSignature = 4 // absent when unsigned
)

// Encode returns the form of the record that is stored and sent. Encoding a
// decoded record gives back its bytes. It panics on a record that was neither
// sealed nor decoded.
func (r *Record) Encode() []byte {
	if r.header == nil {
		panic("merge: encode of a record that was never sealed: " + r.Key.String())
	}
	const headBytesMax = 32
	b := make([]byte, 0, headBytesMax+len(r.header)+len(r.Body)+len(r.Signature))
	pairs := uint64(3)
	if len(r.Signature) > 0 {
		pairs++
	}
	b = appendHead(b, majorMap, pairs)
	b = appendBytes(append(b, recordHeader), r.header)
	b = appendBytes(append(b, recordBody), r.Body)
	b = appendUint(append(b, recordAlgorithm), uint64(r.Algorithm))
	if len(r.Signature) > 0 {
		b = appendBytes(append(b, recordSignature), r.Signature)
	}
	return b
}

// Decode reads what Encode wrote and checks everything but the value of the
// signature: canonical bytes, limits, basis, body hash and size. The result
// does not alias b. Errors: ErrMalformed, ErrTooLarge; ErrUnsupported for a
// record that is sound but for an algorithm that is not known here, which is
// returned all the same.
func Decode(b []byte) (Record, error) {
	if len(b) <= RecordBytesMax {
		b = bytes.Clone(b)
	}
	return DecodeOwned(b)
}

// DecodeOwned is Decode for bytes that nobody changes any more: the result
// keeps them.
func DecodeOwned(b []byte) (Record, error) {
	if len(b) > RecordBytesMax {
		return Record{}, fmt.Errorf("%w: record of %d bytes, at most %d", ErrTooLarge, len(b), RecordBytesMax)
	}
	d := reader{rest: b}
	header, body, algorithm, signature := d.record()
	switch err := d.end(); {
	case err != nil:
		return Record{}, fmt.Errorf("record: %w", err)
	case len(header) > headerBytesMax:
		return Record{}, fmt.Errorf("%w: header of %d bytes, at most %d", ErrTooLarge, len(header), headerBytesMax)
	case len(body) > BodyBytesMax:
		return Record{}, fmt.Errorf("%w: body of %d bytes, at most %d", ErrTooLarge, len(body), BodyBytesMax)
	}
	r, bodyHash, bodySize, err := decodeHeader(header)
	if err != nil {
		return Record{}, err
	}
	if bodySize != uint64(len(body)) || bodyHash != sha256.Sum256(body) {
		return Record{}, fmt.Errorf("%w: body does not match the header", ErrMalformed)
	}
	r.Body, r.Algorithm, r.Signature = body, algorithm, signature
	if err := r.validate(); err != nil {
		return Record{}, err
	}
	err = r.validateSignature()
	if err != nil && !errors.Is(err, ErrUnsupported) {
		return Record{}, err
	}
	r.hash = itemHash(r.Key, r.header)
	return r, err
}

// record takes the parts of an encoded record off.
func (d *reader) record() (header, body []byte, algorithm Algorithm, signature []byte) {
	pairs := d.count(majorMap)
	if d.err == nil && pairs != 3 && pairs != 4 {
		d.fail("map of %d, want 3 or 4", pairs)
	}
	d.key(recordHeader)
	header = d.bytes()
	d.key(recordBody)
	body = d.bytes()
	d.key(recordAlgorithm)
	number := d.uint()
	algorithm = Algorithm(number)
	if uint64(algorithm) != number {
		d.fail("signature algorithm %d", number)
	}
	if pairs == 4 {
		d.key(recordSignature)
		signature = d.bytes()
		if len(signature) == 0 {
			d.fail("an empty signature is left out")
		}
	}
	return header, body, algorithm, signature
}

// key takes a map key off that must be want.
func (d *reader) key(want uint64) {
	if got := d.uint(); d.err == nil && got != want {
		d.fail("key %d, want %d", got, want)
	}
}
