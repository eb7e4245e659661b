package merge_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/fleetsync/fleetd/merge"
)

// TestHeaderForm holds the one form of each field of the header. Every change
// is made to the pairs and encoded by a generic encoder.
func TestHeaderForm(t *testing.T) {
	base := headerFields()
	basisOf := func(entries ...any) fields { return base.with(10, entries) }
	own := []any{keyOf(me.ID), stampNumber}
	blob := fields{1: make([]byte, 32), 2: 40_000}
	withBlob := func(b fields) fields { return base.with(13, []any{b}) }
	for _, c := range []struct {
		name   string
		header any
		want   error
	}{
		{"a sound header passes", base, nil},
		{"an unknown number is skipped", base.with(99, fields{1: []any{"new", -5, null}}), nil},
		{"an unknown negative number is skipped", base.with(-1, "new"), nil},
		{"an unknown text key is skipped", base.with("new", []byte{1}), nil},
		{"the text of a number is not that number", base.with("9", "new"), nil},
		{"every optional field passes", base.with(3, []string{"", "web", ""}).with(6, "local").with(9, true).with(13, []any{blob}).with(14, true), nil},

		{"a header is a map", []any{1, 2}, merge.ErrMalformed},
		{"a header is not empty", fields{}, merge.ErrMalformed},
		{"a kind is needed", base.with(2, nil), merge.ErrMalformed},
		{"an id is needed", base.with(4, nil), merge.ErrMalformed},
		{"a sync version is needed", base.with(5, nil), merge.ErrMalformed},
		{"a stamp is needed", base.with(7, nil), merge.ErrMalformed},
		{"a writer is needed", base.with(8, nil), merge.ErrMalformed},
		{"a basis is needed", base.with(10, nil), merge.ErrMalformed},
		{"a body hash is needed", base.with(11, nil), merge.ErrMalformed},
		{"a body size is needed", base.with(12, nil), merge.ErrMalformed},

		{"a fleet of 31 bytes is malformed", base.with(1, make([]byte, 31)), merge.ErrMalformed},
		{"a fleet of zeros is left out", base.with(1, make([]byte, 32)), merge.ErrMalformed},
		{"a fleet is not null", base.with(1, null), merge.ErrMalformed},
		{"a fleet is not an array of numbers", base.with(1, bytesAsArray(32)), merge.ErrMalformed},
		{"a kind is not bytes", base.with(2, []byte("skill")), merge.ErrMalformed},
		{"a kind is not null", base.with(2, null), merge.ErrMalformed},
		{"a scope of two fields is malformed", base.with(3, []string{"a", "b"}), merge.ErrMalformed},
		{"a scope of four fields is malformed", base.with(3, []string{"a", "b", "c", "d"}), merge.ErrMalformed},
		{"a global scope is left out", base.with(3, []string{"", "", ""}), merge.ErrMalformed},
		{"a scope is not null", base.with(3, null), merge.ErrMalformed},
		{"an id without components is malformed", base.with(4, []string{}), merge.ErrMalformed},
		{"an id of five components is malformed", base.with(4, []string{"a", "b", "c", "d", "e"}), merge.ErrMalformed},
		{"an id component with 0x00 is malformed", base.with(4, []string{"a\x00b"}), merge.ErrMalformed},
		{"an id component with a control character is malformed", base.with(4, []string{"a\u0085b"}), merge.ErrMalformed},
		{"an id is not one text", base.with(4, "deploy"), merge.ErrMalformed},
		{"a sync version of 0 is malformed", base.with(5, 0), merge.ErrMalformed},
		{"a sync version below 0 is malformed", base.with(5, -1), merge.ErrMalformed},
		{"a sync version of 2^63 is malformed", base.with(5, uint64(1)<<63), merge.ErrMalformed},
		{"a sync version of 2^64-1 is malformed", base.with(5, uint64(math.MaxUint64)), merge.ErrMalformed},
		{"an origin that is the writer is left out", base.with(6, keyOf(me.ID)), merge.ErrMalformed},
		{"an origin is not null", base.with(6, null), merge.ErrMalformed},
		{"an origin is not empty", base.with(6, ""), merge.ErrMalformed},
		{"a stamp of 0 is malformed", base.with(7, 0), merge.ErrMalformed},
		{"a stamp of 2^63 is malformed", base.with(7, uint64(1)<<63), merge.ErrMalformed},
		{"a stamp is not negative", base.with(7, -5), merge.ErrMalformed},
		{"a stamp is not a text", base.with(7, "1790000000000.3"), merge.ErrMalformed},
		{"a writer's key of 31 bytes is malformed", base.with(8, make([]byte, 31)), merge.ErrMalformed},
		{"a writer's whole peer id is malformed", base.with(8, []byte(me.ID)), merge.ErrMalformed},
		{"a writer is not null", base.with(8, null), merge.ErrMalformed},
		{"a flag is not false", base.with(9, false), merge.ErrMalformed},
		{"a flag is not null", base.with(9, null), merge.ErrMalformed},
		{"a flag is not 1", base.with(14, 1), merge.ErrMalformed},
		{"a purge is not false", base.with(14, false), merge.ErrMalformed},
		{"a basis is not null", base.with(10, null), merge.ErrMalformed},
		{"a basis is not empty", basisOf(), merge.ErrMalformed},
		{"a basis is not a map", base.with(10, fields{1: stampNumber}), merge.ErrMalformed},
		{"a basis entry of one element is malformed", basisOf(own[:1]), merge.ErrMalformed},
		{"a basis entry of three elements is malformed", basisOf([]any{own[0], own[1], 1}), merge.ErrMalformed},
		{"a basis entry of stamp 0 is malformed", basisOf(own, []any{"x", 0}), merge.ErrMalformed},
		{"a basis entry of stamp 2^63 is malformed", basisOf(own, []any{"x", uint64(1) << 63}), merge.ErrMalformed},
		{"a basis entry above the stamp is malformed", basisOf(own, []any{"x", stampNumber + 1}), merge.ErrMalformed},
		{"a basis out of order is malformed", basisOf(own, []any{"y", 1}, []any{"x", 1}), merge.ErrMalformed},
		{"a body hash of 31 bytes is malformed", base.with(11, make([]byte, 31)), merge.ErrMalformed},
		{"a wrong body hash is malformed", base.with(11, make([]byte, 32)), merge.ErrMalformed},
		{"a wrong body size is malformed", base.with(12, len(sampleBody)+1), merge.ErrMalformed},
		{"an empty list of blobs is left out", base.with(13, []any{}), merge.ErrMalformed},
		{"a blob without a hash is malformed", withBlob(blob.with(1, nil)), merge.ErrMalformed},
		{"a blob without a size is malformed", withBlob(blob.with(2, nil)), merge.ErrMalformed},
		{"a blob's hash of 33 bytes is malformed", withBlob(blob.with(1, make([]byte, 33))), merge.ErrMalformed},
		{"a blob of size 0 is malformed", withBlob(blob.with(2, 0)), merge.ErrMalformed},
		{"a blob of size 2^64-1 is malformed", withBlob(blob.with(2, uint64(math.MaxUint64))), merge.ErrMalformed},
		{"a blob's flag is not false", withBlob(blob.with(3, false)), merge.ErrMalformed},
		{"a blob may have unknown fields", withBlob(blob.with(9, "new")), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := encoded(t, c.header)
			checkDecode(t, encoded(t, recordFields(header)), c.want)
		})
	}
}

func bytesAsArray(n int) []any {
	array := make([]any, n)
	for i := range array {
		array[i] = 1
	}
	return array
}

// TestRecordForm holds the one form of what wraps the header.
func TestRecordForm(t *testing.T) {
	header := encoded(t, headerFields())
	base := recordFields(header)
	largeBody := make([]byte, merge.BodyBytesMax+1)
	largeSum := sha256.Sum256(largeBody)
	large := headerFields().with(11, largeSum[:]).with(12, len(largeBody))
	zeroFleet := encoded(t, headerFields().with(1, make([]byte, 32)))
	longHeader := encoded(t, headerFields().with(99, make([]byte, 64<<10)))
	for _, c := range []struct {
		name   string
		record any
		want   error
	}{
		{"a sound record passes", base, nil},
		{"an unsigned record passes", base.with(3, 0).with(4, nil), nil},
		{"a fleet of zeros is left out of an unsigned record", recordFields(zeroFleet).with(3, 0).with(4, nil), merge.ErrMalformed},
		{"a record is a map", []any{header, sampleBody, 0}, merge.ErrMalformed},
		{"a header is needed", base.with(1, nil), merge.ErrMalformed},
		{"a body is needed", base.with(2, nil), merge.ErrMalformed},
		{"an algorithm is needed", base.with(3, nil), merge.ErrMalformed},
		{"a signature is needed when signed", base.with(4, nil), merge.ErrMalformed},
		{"a further field is malformed, since nobody signed it", base.with(5, 1), merge.ErrMalformed},
		{"a field in place of the signature is malformed", base.with(4, nil).with(5, make([]byte, 64)), merge.ErrMalformed},
		{"a header is not text", base.with(1, "header"), merge.ErrMalformed},
		{"a header is not null", base.with(1, null), merge.ErrMalformed},
		{"a body is not null", base.with(2, null), merge.ErrMalformed},
		{"a body is not an array of numbers", base.with(2, bytesAsArray(8)), merge.ErrMalformed},
		{"an empty signature is left out", base.with(3, 0).with(4, []byte{}), merge.ErrMalformed},
		{"a signature is not null", base.with(3, 0).with(4, null), merge.ErrMalformed},
		{"an unsigned record has no signature", base.with(3, 0), merge.ErrMalformed},
		{"a signature of 65 bytes is malformed", base.with(4, make([]byte, 65)), merge.ErrMalformed},
		{"another algorithm is unsupported", base.with(3, 7), merge.ErrUnsupported},
		{"another algorithm needs no signature to be unsupported", base.with(3, 7).with(4, nil), merge.ErrUnsupported},
		{"an algorithm of 256 is malformed", base.with(3, 256), merge.ErrMalformed},
		{"a body beyond 64 KiB is too large", recordFields(encoded(t, large)).with(2, largeBody), merge.ErrTooLarge},
		{"a header beyond 64 KiB is too large", recordFields(longHeader), merge.ErrTooLarge},
		{"a record beyond everything is too large", base.with(2, make([]byte, merge.RecordBytesMax)), merge.ErrTooLarge},
		{"a header that is not CBOR is malformed", recordFields([]byte("header")), merge.ErrMalformed},
		{"a header with a byte more is malformed", recordFields(append(bytes.Clone(header), 0)), merge.ErrMalformed},
		{"a header cut short is malformed", recordFields(header[:len(header)-1]), merge.ErrMalformed},
		{"an empty header is malformed", recordFields([]byte{}), merge.ErrMalformed},
		{"a tag is malformed", cbor.Tag{Number: 55799, Content: base}, merge.ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) { checkDecode(t, encoded(t, c.record), c.want) })
	}

	t.Run("a byte after the record is malformed", func(t *testing.T) {
		checkDecode(t, append(encoded(t, base), 0), merge.ErrMalformed)
	})
	t.Run("a record cut anywhere is malformed", func(t *testing.T) {
		whole := encoded(t, base)
		for n := range whole {
			checkDecode(t, whole[:n], merge.ErrMalformed)
		}
	})
}

func checkDecode(t *testing.T, b []byte, want error) {
	t.Helper()
	r, err := merge.Decode(b)
	if !errors.Is(err, want) || (want == nil) != (err == nil) {
		t.Fatalf("Decode() = %v, want %v", err, want)
	}
	if err == nil && !bytes.Equal(r.Encode(), b) {
		t.Errorf("Encode() = %x, want %x", r.Encode(), b)
	}
}

// TestCase14ForgedStamps holds the fault of a forged stamp that wins for ever:
// what no clock issues is refused before it can be merged, in the stamp and in
// the basis; and what is read is compared as a number.
func TestCase14ForgedStamps(t *testing.T) {
	for _, forged := range []any{0, -1, uint64(1) << 63, uint64(math.MaxUint64), "9999-12-31T23:59:59.999Z", 1e18, null, true} {
		stamped := headerFields().with(7, forged).with(10, []any{[]any{keyOf(me.ID), forged}})
		checkDecode(t, encoded(t, recordFields(encoded(t, stamped))), merge.ErrMalformed)
		based := headerFields().with(10, []any{[]any{keyOf(me.ID), stampNumber}, []any{"x", forged}})
		checkDecode(t, encoded(t, recordFields(encoded(t, based))), merge.ErrMalformed)
	}

	later, earlier := draft(), draft()
	later.Envelope.UpdatedHLC.Wall, earlier.Envelope.UpdatedHLC.Wall = 10_000, 9_999
	restamp(&later, later.Envelope.UpdatedHLC)
	restamp(&earlier, earlier.Envelope.UpdatedHLC)
	a, errA := merge.Seal(later, merge.Ed25519, me.Sign)
	b, errB := merge.Seal(earlier, merge.Ed25519, me.Sign)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if merge.Compare(a.Version(), b.Version()) <= 0 {
		t.Error("9999 ms sorts after 10000 ms, as its text does")
	}
}

// TestMarshalRefusesWhatUnmarshalWould holds the limits of case 50 where a
// value is authored, so that nothing is written that no node can read.
func TestMarshalRefusesWhatUnmarshalWould(t *testing.T) {
	nested := func(depth int) any {
		var v any = 1
		for range depth {
			v = []any{v}
		}
		return v
	}
	for _, c := range []struct {
		name  string
		value any
		want  error
	}{
		{"a map with integer keys passes", fields{1: "a", 2: []byte{1}}, nil},
		{"an id in a struct passes", struct {
			ID merge.InstanceID `cbor:"1,keyasint"`
		}{me.ID}, nil},
		{"eight levels pass", nested(8), nil},
		{"nine levels do not", nested(9), merge.ErrMalformed},
		{"33 levels do not", nested(33), merge.ErrMalformed},
		{"a float does not", 0.5, merge.ErrMalformed},
		{"a tag does not", cbor.Tag{Number: 1, Content: 1}, merge.ErrMalformed},
		{"invalid UTF-8 does not", "\xff", merge.ErrMalformed},
		{"an invalid instance does not", merge.InstanceID("a\nb"), merge.ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := merge.Marshal(c.value)
			if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
				t.Fatalf("Marshal() = %x, %v; want %v", b, err, c.want)
			}
			if c.want != nil {
				return
			}
			var back any
			if err := merge.Unmarshal(b, &back); err != nil {
				t.Errorf("Unmarshal() = %v", err)
			}
		})
	}
}

func TestUnmarshalRefusesOtherForms(t *testing.T) {
	type message struct {
		Name string           `cbor:"1,keyasint"`
		From merge.InstanceID `cbor:"2,keyasint,omitempty"`
	}
	want := message{Name: "a", From: other.ID}
	b, err := merge.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got message
	if err := merge.Unmarshal(b, &got); err != nil || got != want {
		t.Errorf("Unmarshal() = %v, %v; want %v", got, err, want)
	}
	for _, c := range []struct {
		name string
		b    []byte
	}{
		{"nothing", nil},
		{"a byte more", append(bytes.Clone(b), 0)},
		{"a byte less", b[:len(b)-1]},
		{"a key twice", []byte{0xa2, 0x01, 0x61, 'a', 0x01, 0x61, 'b'}},
		{"keys out of order", []byte{0xa2, 0x02, 0x61, 'x', 0x01, 0x61, 'a'}},
		{"an indefinite map", []byte{0xbf, 0x01, 0x61, 'a', 0xff}},
		{"a number in place of a text", []byte{0xa1, 0x01, 0x05}},
		{"an instance that is a number", []byte{0xa1, 0x02, 0x05}},
		{"an instance that is null", []byte{0xa1, 0x02, 0xf6}},
		{"an instance of 31 bytes", append([]byte{0xa1, 0x02, 0x58, 31}, make([]byte, 31)...)},
	} {
		if err := merge.Unmarshal(c.b, new(message)); !errors.Is(err, merge.ErrMalformed) {
			t.Errorf("%s: Unmarshal(%x) = %v, want ErrMalformed", c.name, c.b, err)
		}
	}
}
