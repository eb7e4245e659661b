package merge_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/merge/mergetest"
)

// vectorCase is how a file of testdata/vectors was made. The bytes are built
// from pairs by a generic encoder, not by the code under test.
type vectorCase struct {
	name    string
	comment string
	reason  string // part of the error; empty when the record is accepted
	encoded []byte
}

// vectorBuilder collects cases.
type vectorBuilder struct {
	t     *testing.T
	cases []vectorCase
}

func vectorCases(t *testing.T) []vectorCase {
	t.Helper()
	b := &vectorBuilder{t: t}
	b.accepted()
	b.unsupported()
	b.tooLarge()
	b.notCanonical()
	b.malformedFields()
	b.malformedIdentity()
	b.malformedWrapping()
	return b.cases
}

func (b *vectorBuilder) add(name, comment, reason string, encoded []byte) {
	b.cases = append(b.cases, vectorCase{name, comment, reason, encoded})
}

// signed wraps a header and signs it with the key of seed 01 01 ... 01.
func (b *vectorBuilder) signed(header, body []byte) []byte {
	signature, err := me.Sign(append([]byte("fleetd/record/1\x00\x01"), header...))
	if err != nil {
		b.t.Fatal(err)
	}
	return encoded(b.t, fields{1: header, 2: body, 3: 1, 4: signature})
}

func (b *vectorBuilder) header(f fields) []byte { return encoded(b.t, f) }

// ok adds a signed record of header fields with sampleBody.
func (b *vectorBuilder) ok(name, comment string, f fields) {
	b.add(name, comment, "", b.signed(b.header(f), sampleBody))
}

// bad adds a signed record whose header is refused.
func (b *vectorBuilder) bad(name, comment, reason string, f fields) {
	b.add(name, comment, reason, b.signed(b.header(f), sampleBody))
}

// raw is a CBOR value that the encoder takes as it is, canonical or not.
func raw(b ...byte) cbor.RawMessage { return b }

func withBody(f fields, body []byte) fields {
	sum := sha256.Sum256(body)
	return f.with(11, sum[:]).with(12, len(body))
}

func basisEntry(writer any, stamp any) []any { return []any{writer, stamp} }

func (b *vectorBuilder) accepted() {
	base := headerFields()
	own := basisEntry(keyOf(me.ID), stampNumber)
	b.ok("skill_first_version", "The first version of a skill in the global scope, signed: no optional field but the fleet.", base)
	b.ok("skill_tombstone", "A delete of another instance's skill: deleted, and the second version.",
		base.with(5, 2).with(6, keyOf(other.ID)).with(9, true).with(10, []any{basisEntry(keyOf(other.ID), stampNumber-1), own}))
	b.ok("memory_in_project", "A record in the section (memory, project web): the scope has three texts.",
		base.with(2, "memory").with(3, []string{"", "web", ""}).with(4, []string{"0197f3a0-7c1e-7b2d-9a3e-2f6d5b8c1e4a"}))
	b.ok("memory_in_every_scope_field", "A scope with instance, project and workspace.",
		base.with(2, "memory").with(3, []string{"laptop", "web", "main"}))
	b.ok("session_turn", "An id of two components; the family is what stands before the dot.",
		base.with(2, "session.turn").with(4, []string{"0197f3a0", "0197f3a1"}))
	b.ok("unknown_kind", "A kind that no build knows is a record like any other.", base.with(2, "recipe.step.v2"))
	b.ok("origin_is_another_instance", "The origin is given when it is not the writer.", base.with(6, keyOf(other.ID)))
	b.ok("origin_is_a_text", "An origin without a key is a text.", base.with(6, "local"))
	b.ok("basis_of_four_writers", "Entries ascend by the bytes of the peer id, so keys come before texts; a stamp may equal the record's.",
		base.with(10, []any{basisEntry(keyOf(other.ID), stampNumber), own, basisEntry("local", 1), basisEntry("local2", stampNumber-1)}))
	b.ok("basis_of_64_writers", "The longest basis.", base.with(10, longBasis(64)))
	b.ok("blobs_and_manifest", "Two blobs, of which the second is a manifest.",
		base.with(13, []any{
			fields{1: bytes.Repeat([]byte{0xb1}, 32), 2: 40_000},
			fields{1: bytes.Repeat([]byte{0xb2}, 32), 2: merge.BlobBytesMax, 3: true},
		}))
	b.ok("purge_tombstone", "A delete that also scrubs history.", base.with(9, true).with(14, true))
	b.ok("unknown_header_fields", "Keys of a newer build, a negative and a text one: accepted, kept and signed.",
		base.with(15, []any{1, "new"}).with(1000, fields{1: true}).with(-1, 7).with("x", null))
	b.ok("unknown_header_fields_beyond_23_pairs", "So many pairs that the head of the map has two bytes.", manyFields(base))
	b.ok("unknown_blob_field", "A key of a newer build within a blob reference.",
		base.with(13, []any{fields{1: make([]byte, 32), 2: 1, 9: "new"}}))
	b.ok("id_beyond_ascii", "Ids are any UTF-8 without control characters, byte for byte, up to 256 bytes.",
		base.with(4, []string{"e\u0301/../ \u6f22\u5b57 \u202e", repeated("x", 256)}))
	b.ok("stamp_last", "The last stamp, 2^63-1.",
		base.with(7, uint64(1)<<63-1).with(10, []any{basisEntry(keyOf(me.ID), uint64(1)<<63-1)}))
	b.ok("sync_version_last", "The largest sync version, 2^63-1.", base.with(5, uint64(1)<<63-1))
	b.add("body_empty", "A body of no bytes.", "", b.signed(b.header(withBody(base, nil)), []byte{}))
	b.add("unsigned_text_writer", "Algorithm 0 without a fleet, by a writer without a key.", "",
		encoded(b.t, fields{
			1: b.header(base.with(1, nil).with(8, "local").with(10, []any{basisEntry("local", stampNumber)})),
			2: sampleBody, 3: 0,
		}))
}

func (b *vectorBuilder) unsupported() {
	header := b.header(headerFields())
	b.add("algorithm_7", "A signature algorithm that this version of the format does not define.", "algorithm 7",
		encoded(b.t, recordFields(header).with(3, 7).with(4, make([]byte, 96))))
	b.add("algorithm_7_malformed", "What is malformed is so under an unknown algorithm too.", "sync version",
		encoded(b.t, recordFields(b.header(headerFields().with(5, 0))).with(3, 7)))
}

func (b *vectorBuilder) tooLarge() {
	body := make([]byte, merge.BodyBytesMax+1)
	b.add("body_of_64_KiB_and_1", "A body beyond its limit.", "body of 65537 bytes", b.signed(b.header(withBody(headerFields(), body)), body))
	b.add("header_beyond_64_KiB", "A header beyond its limit, though its known fields are sound.", "header of",
		b.signed(b.header(headerFields().with(15, make([]byte, 64<<10))), sampleBody))
}

// inOrder encodes pairs in the order of keys, which need not be canonical.
func (b *vectorBuilder) inOrder(f fields, keys ...int) []byte {
	head := []byte{0xa0 + byte(len(keys))}
	for _, k := range keys {
		head = append(head, encoded(b.t, k)...)
		head = append(head, encoded(b.t, f[k])...)
	}
	return head
}

func (b *vectorBuilder) notCanonical() {
	base := headerFields()
	body := sampleBody
	b.bad("integer_not_shortest", "The sync version 1 in two bytes.", "shortest", base.with(5, raw(0x18, 0x01)))
	b.bad("length_not_shortest", "A text of 5 bytes whose length has two.", "shortest", base.with(2, raw(0x78, 0x05, 's', 'k', 'i', 'l', 'l')))
	b.bad("float", "A floating-point number in an unknown field.", "head 0xf9", base.with(15, raw(0xf9, 0x3c, 0x00)))
	b.bad("undefined", "The simple value undefined.", "0xf7", base.with(15, raw(0xf7)))
	b.bad("tag", "A tagged value.", "tag 1", base.with(15, raw(0xc1, 0x00)))
	b.bad("text_not_utf8", "A kind that is not UTF-8.", "UTF-8", base.with(2, raw(0x62, 0xc3, 0x28)))
	b.bad("array_indefinite", "An id of indefinite length.", "head 0x9f", base.with(4, raw(0x9f, 0x61, 'a', 0xff)))
	b.bad("text_indefinite", "A kind of indefinite length.", "head 0x7f", base.with(2, raw(0x7f, 0x61, 'a', 0xff)))
	b.bad("map_key_array", "A map key that is an array.", "map key", base.with(15, raw(0xa1, 0x80, 0x00)))
	b.bad("map_key_false", "A map key that is false.", "map key", base.with(15, raw(0xa1, 0xf4, 0x00)))
	b.bad("depth_9", "Nine levels: the header and eight arrays.", "too deep", base.with(15, nestedArrays(8)))
	b.ok("depth_8", "Eight levels: the header and seven arrays.", base.with(15, nestedArrays(7)))
	b.add("header_unsorted", "Two keys of the header changed places.", "ascending",
		b.signed(b.inOrder(base, 1, 2, 4, 5, 7, 10, 8, 11, 12), body))
	b.add("header_duplicate_key", "A key of the header twice.", "ascending",
		b.signed(b.inOrder(base, 1, 2, 4, 5, 5, 7, 8, 10, 11, 12), body))
	header := b.header(base)
	indefinite := append(append([]byte{0xbf}, header[1:]...), 0xff)
	b.add("header_indefinite", "A header of indefinite length.", "head 0xbf", b.signed(indefinite, body))
	b.add("header_trailing_byte", "A byte after the header.", "after the value", b.signed(append(bytes.Clone(header), 0), body))
	b.add("header_cut", "A header without its last byte.", "ends early", b.signed(header[:len(header)-1], body))
}

func nestedArrays(n int) any {
	var v any = 0
	for range n {
		v = []any{v}
	}
	return v
}

func (b *vectorBuilder) malformedFields() {
	base := headerFields()
	own := basisEntry(keyOf(me.ID), stampNumber)
	basis := func(entries ...any) fields { return base.with(10, entries) }
	b.bad("field_missing", "No sync version.", "lacks a field", base.with(5, nil))
	b.bad("null_for_absent", "A scope that is null instead of absent.", "want 4", base.with(3, null))
	b.bad("scope_of_global_given", "The global scope is absent, never three empty texts.", "global scope", base.with(3, []string{"", "", ""}))
	b.bad("scope_of_two_fields", "A scope has three texts.", "array of 2", base.with(3, []string{"a", "b"}))
	b.bad("flag_false", "A flag that is not set is absent.", "flag", base.with(9, false))
	b.bad("origin_given_though_writer", "The origin is absent when it is the writer.", "origin", base.with(6, keyOf(me.ID)))
	b.bad("fleet_of_zeros", "Without a fleet the field is absent.", "left out", base.with(1, make([]byte, 32)))
	b.bad("bytes_as_array", "A hash written as an array of numbers.", "want 2", base.with(11, bytesAsArray(32)))
	b.bad("sync_version_0", "Sync versions begin at 1.", "sync version 0", base.with(5, 0))
	b.bad("sync_version_2_63", "A sync version beyond 2^63-1.", "sync version", base.with(5, uint64(1)<<63))
	b.bad("stamp_0", "Zero is no stamp.", "stamp 0.0", base.with(7, 0).with(10, []any{basisEntry(keyOf(me.ID), 0)}))
	b.bad("stamp_2_63", "A stamp beyond the last millisecond.", "last millisecond",
		base.with(7, uint64(1)<<63).with(10, []any{basisEntry(keyOf(me.ID), uint64(1)<<63)}))
	b.bad("body_hash_wrong", "The hash of another body.", "body does not match", base.with(11, make([]byte, 32)))
	b.bad("body_size_wrong", "The size of another body.", "body does not match", base.with(12, 1))
	b.bad("basis_without_own_entry", "A basis lacks its own writer.", "own writer", basis(basisEntry(keyOf(other.ID), stampNumber)))
	b.bad("basis_own_entry_older", "The own entry is not the stamp.", "own writer", basis(basisEntry(keyOf(me.ID), stampNumber-1)))
	b.bad("basis_above_stamp", "An entry above the record's own stamp.", "basis entry", basis(own, basisEntry("x", stampNumber+1)))
	b.bad("basis_entry_0", "An entry of zero says nothing.", "basis entry", basis(own, basisEntry("x", 0)))
	b.bad("basis_unsorted", "Entries that do not ascend.", "not ascending", basis(own, basisEntry("y", 1), basisEntry("x", 1)))
	b.bad("basis_writer_twice", "Two entries of one writer.", "not ascending", basis(own, basisEntry("x", 1), basisEntry("x", 2)))
	b.bad("basis_of_65_writers", "A basis beyond its limit.", "basis of 65", base.with(10, longBasis(65)))
	b.bad("blobs_of_65", "More blobs than a record may have.", "65 blobs", base.with(13, manyBlobs(65)))
	b.bad("blob_of_0_bytes", "A blob is not empty.", "blob of 0", base.with(13, []any{fields{1: make([]byte, 32), 2: 0}}))
	b.bad("blob_beyond_8_MiB", "A blob beyond its limit.", "blob of", base.with(13, []any{fields{1: make([]byte, 32), 2: merge.BlobBytesMax + 1}}))
}

func (b *vectorBuilder) malformedIdentity() {
	base := headerFields()
	b.bad("id_with_0x00", "0x00 divides components and is never in one.", "0x00", base.with(4, []string{"a\x00b"}))
	b.bad("id_with_newline", "A control character in an id.", "control character", base.with(4, []string{"a\nb"}))
	b.bad("id_with_c1_control", "A control character beyond ASCII in an id.", "control character", base.with(4, []string{"a\u0085b"}))
	b.bad("id_empty", "An empty component.", "empty id", base.with(4, []string{""}))
	b.bad("id_of_five_components", "More components than an id may have.", "5 components", base.with(4, []string{"a", "b", "c", "d", "e"}))
	b.bad("id_of_257_bytes", "A component beyond its limit.", "257 bytes", base.with(4, []string{repeated("x", 257)}))
	b.bad("kind_without_family", "Nothing before the dot.", "family", base.with(2, ".outcome"))
	b.bad("writer_of_31_bytes", "A key has 32 bytes.", "31 bytes", base.with(8, make([]byte, 31)))
	b.bad("origin_is_the_text_of_a_key", "The printed form of a key is not a text id.", "text of a key", base.with(6, other.ID.String()))
}

func (b *vectorBuilder) malformedWrapping() {
	header := b.header(headerFields())
	base := recordFields(header)
	wrap := func(name, comment, reason string, f fields) { b.add(name, comment, reason, encoded(b.t, f)) }
	wrap("signature_of_63_bytes", "An Ed25519 signature has 64 bytes.", "64 bytes", base.with(4, make([]byte, 63)))
	wrap("signature_missing", "Algorithm 1 without a signature.", "64 bytes", base.with(4, nil))
	wrap("signature_on_unsigned", "Algorithm 0 with a signature.", "unsigned record", base.with(3, 0))
	wrap("signature_empty", "An absent signature is absent, not empty.", "empty signature", base.with(3, 0).with(4, []byte{}))
	wrap("signed_without_fleet", "A signed record belongs to a fleet.", "needs a fleet", base.with(1, b.header(headerFields().with(1, nil))))
	text := headerFields().with(8, "local").with(10, []any{basisEntry("local", stampNumber)})
	wrap("signed_by_text_writer", "A signed record is by a writer with a key.", "writer with a key", base.with(1, b.header(text)))
	zeros := b.header(headerFields().with(1, make([]byte, 32)))
	wrap("unsigned_with_fleet_of_zeros", "Without a fleet the field is absent, also when nothing is signed.", "left out", fields{1: zeros, 2: sampleBody, 3: 0})
	wrap("record_unknown_field", "Nothing may be added outside of what is signed.", "map of 5", base.with(5, "new"))
	wrap("record_body_missing", "A body is always there.", "key 3", fields{1: header, 3: 1, 4: make([]byte, 64)})
	wrap("algorithm_256", "An algorithm has one byte.", "algorithm 256", base.with(3, 256))
	b.add("record_trailing_byte", "A byte after the record.", "after the value", append(encoded(b.t, base), 0))
	b.add("record_not_shortest", "The algorithm 1 in two bytes.", "shortest", encoded(b.t, base.with(3, raw(0x18, 0x01))))
	b.add("record_unsorted", "Algorithm before body.", "key 3", b.inOrder(base, 1, 3, 2, 4))
	b.add("record_empty", "No bytes.", "ends early", nil)
}

// longBasis has n writers: the own key and n-1 texts.
func longBasis(n int) []any {
	entries := []any{basisEntry(keyOf(me.ID), stampNumber)}
	for i := range n - 1 {
		entries = append(entries, basisEntry(fmt.Sprintf("writer-%02d", i), uint64(mergetest.WallBase)<<16))
	}
	return entries
}

func manyBlobs(n int) []any {
	var list []any
	for i := range n {
		list = append(list, fields{1: bytes.Repeat([]byte{byte(i)}, 32), 2: 1})
	}
	return list
}

func manyFields(f fields) fields {
	for k := 15; k < 35; k++ {
		f = f.with(k, k)
	}
	return f
}
