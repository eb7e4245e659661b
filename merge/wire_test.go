package merge_test

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/merge/mergetest"
)

// fields are the pairs of a CBOR map, by their numbers. Tests build records of
// them with a generic encoder, so that the form is written twice.
type fields map[any]any

// with returns a copy with a field set; nil removes it.
func (f fields) with(key, value any) fields {
	f = maps.Clone(f)
	if f[key] = value; value == nil {
		delete(f, key)
	}
	return f
}

// null is a value that with sets instead of removing the field.
var null = cbor.RawMessage{0xf6}

// encoded returns v in core deterministic CBOR. RawMessages that are values of
// fields are taken as they are, whether they are sound CBOR or not.
func encoded(tb testing.TB, v any) []byte {
	tb.Helper()
	if raw, ok := v.(cbor.RawMessage); ok {
		return raw
	}
	if f, ok := v.(fields); ok {
		var pairs [][]byte // no key begins another, so pairs sort as keys do
		for key, value := range f {
			pairs = append(pairs, slices.Concat(encoded(tb, key), encoded(tb, value)))
		}
		slices.SortFunc(pairs, bytes.Compare)
		head := encoded(tb, len(pairs))
		head[0] |= 0xa0
		return slices.Concat(head, slices.Concat(pairs...))
	}
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		tb.Fatal(err)
	}
	b, err := mode.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

const stampNumber = uint64(mergetest.WallBase)<<16 | 3

var (
	me    = mergetest.NewIdentity(1)
	other = mergetest.NewIdentity(2)
)

func keyOf(id merge.InstanceID) []byte {
	key, _ := id.PublicKey()
	return key
}

// sampleBody is a CBOR map, as the bodies of state are.
var sampleBody = []byte{0xa1, 0x01, 0x65, 'h', 'e', 'l', 'l', 'o'}

// headerFields are those of a sound header with sampleBody and no optional
// field but the fleet.
func headerFields() fields {
	fleet := mergetest.Fleet()
	sum := sha256.Sum256(sampleBody)
	return fields{
		1:  fleet[:],
		2:  "skill",
		4:  []string{"deploy"},
		5:  1,
		7:  stampNumber,
		8:  keyOf(me.ID),
		10: []any{[]any{keyOf(me.ID), stampNumber}},
		11: sum[:],
		12: len(sampleBody),
	}
}

// recordFields wraps header bytes and sampleBody as a record with a signature
// of the right size.
func recordFields(header []byte) fields {
	return fields{1: header, 2: sampleBody, 3: 1, 4: make([]byte, 64)}
}

// draft is the record of headerFields before it is sealed.
func draft() merge.Record {
	stamp := hlc.Timestamp{Wall: mergetest.WallBase, Counter: 3}
	return merge.Record{
		Fleet:    mergetest.Fleet(),
		Key:      merge.Key{Kind: "skill", ID: "deploy"},
		Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: me.ID, UpdatedHLC: stamp, LastWriterID: me.ID},
		Basis:    merge.Basis{}.With(me.ID, stamp),
		Body:     sampleBody,
	}
}

func repeated(s string, n int) string { return strings.Repeat(s, n) }
