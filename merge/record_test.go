package merge_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/merge/mergetest"
)

// TestSealedRecordDecodesToItself draws records with every field.
func TestSealedRecordDecodesToItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDraft(t)
		algorithm := merge.Unsigned
		if _, hasKey := d.Envelope.LastWriterID.PublicKey(); hasKey && d.Fleet != (merge.FleetID{}) {
			algorithm = merge.Ed25519
		}
		sealed, err := merge.Seal(d, algorithm, me.Sign)
		if err != nil {
			t.Fatal(err)
		}
		wire := sealed.Encode()
		received := bytes.Clone(wire)
		got, err := merge.Decode(received)
		if err != nil {
			t.Fatal(err)
		}
		clear(received) // the record must not alias what it was decoded from
		if diff := gocmp.Diff(sealed, got, gocmp.AllowUnexported(merge.Record{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("decoded record differs (-want +got):\n%s", diff)
		}
		if !bytes.Equal(got.Encode(), wire) || !bytes.Equal(got.SignedBytes(), sealed.SignedBytes()) {
			t.Errorf("decoded record encodes to other bytes")
		}
	})
}

func drawDraft(t *rapid.T) merge.Record {
	writer := rapid.OneOf(rapid.Just(me.ID), mergetest.InstanceID()).Draw(t, "writer")
	stamp := mergetest.Stamp().Draw(t, "stamp")
	d := merge.Record{
		Fleet: rapid.SampledFrom([]merge.FleetID{{}, mergetest.Fleet()}).Draw(t, "fleet"),
		Key:   mergetest.Key().Draw(t, "key"),
		Envelope: merge.Envelope{
			SyncVersion:      rapid.Int64Range(1, math.MaxInt64).Draw(t, "sync version"),
			OriginInstanceID: rapid.OneOf(rapid.Just(writer), mergetest.InstanceID()).Draw(t, "origin"),
			UpdatedHLC:       stamp,
			LastWriterID:     writer,
			Deleted:          rapid.Bool().Draw(t, "deleted"),
		},
		Body:  rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "body"),
		Purge: rapid.Bool().Draw(t, "purge"),
	}
	for range rapid.IntRange(0, 5).Draw(t, "basis") {
		if s := mergetest.Stamp().Draw(t, "seen"); s.Before(stamp) {
			d.Basis = d.Basis.With(mergetest.InstanceID().Draw(t, "seen writer"), s)
		}
	}
	d.Basis = d.Basis.With(writer, stamp)
	for range rapid.IntRange(0, 3).Draw(t, "blobs") {
		d.Blobs = append(d.Blobs, merge.BlobRef{
			Hash:     sha256.Sum256([]byte{byte(len(d.Blobs))}),
			Size:     rapid.Int64Range(1, merge.BlobBytesMax).Draw(t, "size"),
			Manifest: rapid.Bool().Draw(t, "manifest"),
		})
	}
	return d
}

// TestSignatureCoversTheHeader: a signature verifies over the documented bytes,
// and over nothing else.
func TestSignatureCoversTheHeader(t *testing.T) {
	r, err := merge.Seal(draft(), merge.Ed25519, me.Sign)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Concat([]byte("fleetd/record/1\x00\x01"), encoded(t, headerFields()))
	if !bytes.Equal(r.SignedBytes(), want) {
		t.Errorf("signed bytes %x, want %x", r.SignedBytes(), want)
	}
	if !ed25519.Verify(keyOf(me.ID), want, r.Signature) {
		t.Error("the signature does not verify")
	}
	hash := sha256.Sum256(slices.Concat([]byte("skill\x1f\x1f\x1f\x00skill\x00deploy"), encoded(t, headerFields())))
	if r.Hash() != hash {
		t.Errorf("item hash %x, want %x", r.Hash(), hash)
	}
}

func TestSealReturnsTheErrorOfSign(t *testing.T) {
	locked := errors.New("key is locked")
	_, err := merge.Seal(draft(), merge.Ed25519, func([]byte) ([]byte, error) { return nil, locked })
	if !errors.Is(err, locked) {
		t.Errorf("Seal() = %v, want %v", err, locked)
	}
}

func TestSealSignsOnlyWhatIsSound(t *testing.T) {
	d := draft()
	d.Envelope.SyncVersion = 0
	_, err := merge.Seal(d, merge.Ed25519, func([]byte) ([]byte, error) {
		t.Error("an unsound record was signed")
		return make([]byte, 64), nil
	})
	if !errors.Is(err, merge.ErrMalformed) {
		t.Errorf("Seal() = %v, want ErrMalformed", err)
	}
}

func TestEncodeOfADraftPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Encode gave bytes for a record that was never sealed")
		}
	}()
	d := draft()
	d.Encode()
}

// TestRecordValidation holds each rule of the fields, where they are authored
// and where they are read.
func TestRecordValidation(t *testing.T) {
	longKey := merge.Key{
		Kind:  repeated("k", 64),
		Scope: merge.Scope{Instance: repeated("i", 256), Project: repeated("p", 256), Workspace: repeated("w", 256)},
		ID:    merge.NewID(repeated("a", 256), repeated("b", 256), repeated("c", 256), repeated("d", 256)),
	}
	for _, c := range []struct {
		name   string
		change func(*merge.Record)
		want   error
	}{
		{"a sound record passes", func(*merge.Record) {}, nil},
		{"a body may be empty", func(r *merge.Record) { r.Body = nil }, nil},
		{"a body may have 64 KiB", func(r *merge.Record) { r.Body = make([]byte, merge.BodyBytesMax) }, nil},
		{"a body of one byte more is too large", func(r *merge.Record) { r.Body = make([]byte, merge.BodyBytesMax+1) }, merge.ErrTooLarge},
		{"every part of a key may be as long as its limit", func(r *merge.Record) { r.Key = longKey }, nil},
		{"a key is checked", func(r *merge.Record) { r.Key.ID = "" }, merge.ErrMalformed},
		{"a sync version begins at 1", func(r *merge.Record) { r.Envelope.SyncVersion = 0 }, merge.ErrMalformed},
		{"a sync version is not negative", func(r *merge.Record) { r.Envelope.SyncVersion = -1 }, merge.ErrMalformed},
		{"a sync version may be the largest integer", func(r *merge.Record) { r.Envelope.SyncVersion = math.MaxInt64 }, nil},
		{"a stamp is not zero", func(r *merge.Record) { restamp(r, hlc.Timestamp{}) }, merge.ErrMalformed},
		{"a stamp is not negative", func(r *merge.Record) { restamp(r, hlc.Timestamp{Wall: -1}) }, merge.ErrMalformed},
		{"a stamp is below 2^47 ms", func(r *merge.Record) { restamp(r, hlc.Timestamp{Wall: hlc.WallMax + 1}) }, merge.ErrMalformed},
		{"a stamp may be the last one", func(r *merge.Record) { restamp(r, hlc.Timestamp{Wall: hlc.WallMax, Counter: math.MaxUint16}) }, nil},
		{"a writer is named", func(r *merge.Record) { r.Envelope.LastWriterID = "" }, merge.ErrMalformed},
		{"an origin is named", func(r *merge.Record) { r.Envelope.OriginInstanceID = "" }, merge.ErrMalformed},
		{"an origin may be a text", func(r *merge.Record) { r.Envelope.OriginInstanceID = "local" }, nil},
		{"an origin has no control character", func(r *merge.Record) { r.Envelope.OriginInstanceID = "lo\ncal" }, merge.ErrMalformed},
		{"64 blobs pass", func(r *merge.Record) { r.Blobs = blobs(64, 1) }, nil},
		{"65 blobs do not", func(r *merge.Record) { r.Blobs = blobs(65, 1) }, merge.ErrMalformed},
		{"a blob may have 8 MiB", func(r *merge.Record) { r.Blobs = blobs(1, merge.BlobBytesMax) }, nil},
		{"a blob of one byte more is malformed", func(r *merge.Record) { r.Blobs = blobs(1, merge.BlobBytesMax+1) }, merge.ErrMalformed},
		{"a blob is not empty", func(r *merge.Record) { r.Blobs = blobs(1, 0) }, merge.ErrMalformed},
		{"a blob's size is not negative", func(r *merge.Record) { r.Blobs = blobs(1, -1) }, merge.ErrMalformed},
		{"a signed record has a fleet", func(r *merge.Record) { r.Fleet = merge.FleetID{} }, merge.ErrMalformed},
		{"a signed record has a writer with a key", func(r *merge.Record) { rewrite(r, "local") }, merge.ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := draft()
			c.change(&d)
			r, err := merge.Seal(d, merge.Ed25519, me.Sign)
			if !errors.Is(err, c.want) {
				t.Fatalf("Seal() = %v, want %v", err, c.want)
			}
			if c.want != nil {
				return
			}
			if _, err := merge.Decode(r.Encode()); err != nil {
				t.Errorf("Decode() = %v", err)
			}
		})
	}
}

func TestSignatureShape(t *testing.T) {
	give := func(n int) func([]byte) ([]byte, error) {
		return func([]byte) ([]byte, error) { return make([]byte, n), nil }
	}
	for _, c := range []struct {
		name      string
		algorithm merge.Algorithm
		sign      func([]byte) ([]byte, error)
		want      error
	}{
		{"unsigned needs no signer", merge.Unsigned, nil, nil},
		{"Ed25519 gives 64 bytes", merge.Ed25519, give(64), nil},
		{"Ed25519 with 63 bytes is malformed", merge.Ed25519, give(63), merge.ErrMalformed},
		{"Ed25519 without bytes is malformed", merge.Ed25519, give(0), merge.ErrMalformed},
		{"algorithm 7 is unsupported", 7, give(64), merge.ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := merge.Seal(draft(), c.algorithm, c.sign); !errors.Is(err, c.want) {
				t.Errorf("Seal() = %v, want %v", err, c.want)
			}
		})
	}
}

// TestBasisValidation holds each rule of a basis.
func TestBasisValidation(t *testing.T) {
	at := draft().Envelope.UpdatedHLC
	own := merge.BasisEntry{Writer: me.ID, Stamp: at}
	entry := func(writer merge.InstanceID, wall int64, counter uint16) merge.BasisEntry {
		return merge.BasisEntry{Writer: writer, Stamp: hlc.Timestamp{Wall: wall, Counter: counter}}
	}
	many := func(n int) merge.Basis {
		b := merge.Basis{own}
		for i := range n - 1 {
			b = append(b, entry(merge.InstanceID(bytes.Repeat([]byte{'w'}, i+1)), 1, 0))
		}
		return b
	}
	for _, c := range []struct {
		name  string
		basis merge.Basis
		want  error
	}{
		{"the own entry alone passes", merge.Basis{own}, nil},
		{"an older entry of another writer passes", merge.Basis{own, entry("x", 1, 0)}, nil},
		{"an equal entry of another writer passes", merge.Basis{own, entry("x", at.Wall, at.Counter)}, nil},
		{"64 writers pass", many(64), nil},
		{"65 writers do not", many(65), merge.ErrMalformed},
		{"an empty basis lacks the own entry", nil, merge.ErrMalformed},
		{"a basis of others lacks the own entry", merge.Basis{entry("x", 1, 0)}, merge.ErrMalformed},
		{"an own entry below the stamp is malformed", merge.Basis{entry(me.ID, at.Wall, at.Counter-1)}, merge.ErrMalformed},
		{"an own entry above the stamp is malformed", merge.Basis{entry(me.ID, at.Wall, at.Counter+1)}, merge.ErrMalformed},
		{"an entry above the stamp is malformed", merge.Basis{own, entry("x", at.Wall, at.Counter+1)}, merge.ErrMalformed},
		{"an entry of zero is malformed", merge.Basis{own, entry("x", 0, 0)}, merge.ErrMalformed},
		{"an entry before 1970 is malformed", merge.Basis{own, entry("x", -1, 0)}, merge.ErrMalformed},
		{"writers out of order are malformed", merge.Basis{own, entry("y", 1, 0), entry("x", 1, 0)}, merge.ErrMalformed},
		{"a writer twice is malformed", merge.Basis{own, entry("x", 1, 0), entry("x", 2, 0)}, merge.ErrMalformed},
		{"a writer without a name is malformed", merge.Basis{entry("", 1, 0), own}, merge.ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := draft()
			d.Basis = c.basis
			if _, err := merge.Seal(d, merge.Ed25519, me.Sign); !errors.Is(err, c.want) {
				t.Errorf("Seal() = %v, want %v", err, c.want)
			}
		})
	}
}

func restamp(r *merge.Record, stamp hlc.Timestamp) {
	r.Envelope.UpdatedHLC = stamp
	r.Basis = merge.Basis{{Writer: r.Envelope.LastWriterID, Stamp: stamp}}
}

func rewrite(r *merge.Record, writer merge.InstanceID) {
	r.Envelope.LastWriterID, r.Envelope.OriginInstanceID = writer, writer
	restamp(r, r.Envelope.UpdatedHLC)
}

func blobs(n int, size int64) []merge.BlobRef {
	return slices.Repeat([]merge.BlobRef{{Hash: [32]byte{1}, Size: size}}, n)
}
