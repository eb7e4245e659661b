package merge_test

import (
	"bytes"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/fxamacker/cbor/v2"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetsync/fleetd/merge"
)

// FuzzDecode: what Decode accepts, Encode gives back, and what it says of a
// record passes the checks of authoring.
func FuzzDecode(f *testing.F) {
	addVectorSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		received := bytes.Clone(b)
		r, err := merge.Decode(received)
		if !bytes.Equal(received, b) {
			t.Fatal("Decode changed its argument")
		}
		if err != nil {
			checkDecodeError(t, err)
			return
		}
		if got := r.Encode(); !bytes.Equal(got, b) {
			t.Fatalf("Encode() = %x, want %x", got, b)
		}
		sign := func([]byte) ([]byte, error) { return r.Signature, nil }
		again, err := merge.Seal(r, r.Algorithm, sign)
		if err != nil {
			t.Fatalf("Seal of the decoded fields: %v", err)
		}
		// Less than what was received only when that has fields of a newer build.
		if got, all := again.Header(), r.Header(); len(got) >= len(all) && !bytes.Equal(got, all) {
			t.Errorf("the known fields have another form: %x, received %x", got, all)
		}
		back, err := merge.Decode(again.Encode())
		if err != nil {
			t.Fatalf("Decode of the sealed fields: %v", err)
		}
		if diff := gocmp.Diff(r, back, cmpopts.IgnoreUnexported(merge.Record{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("fields differ after another round (-want +got):\n%s", diff)
		}
	})
}

// addVectorSeeds gives the vectors to the fuzzer, but for the very large ones.
func addVectorSeeds(f *testing.F) {
	f.Helper()
	const bytesMax = 8 << 10
	names, err := filepath.Glob(filepath.Join(vectorFolder, "*.txt"))
	if err != nil || len(names) == 0 {
		f.Fatalf("no vectors: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		v, err := parseVector(string(text))
		if err != nil {
			f.Fatal(err)
		}
		if len(v.encoded) <= bytesMax {
			f.Add(v.encoded)
		}
	}
}

func checkDecodeError(t *testing.T, err error) {
	t.Helper()
	for _, sentinel := range []error{merge.ErrMalformed, merge.ErrTooLarge, merge.ErrUnsupported} {
		if errors.Is(err, sentinel) {
			return
		}
	}
	t.Errorf("Decode() = %v, which is none of its errors", err)
}

// FuzzCheckCanonical compares the one pass over the bytes with its definition:
// decode generically, look for what the house form forbids, encode again.
func FuzzCheckCanonical(f *testing.F) {
	decode, err := cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		IndefLength:      cbor.IndefLengthForbidden,
		TagsMd:           cbor.TagsForbidden,
		MapKeyByteString: cbor.MapKeyByteStringAllowed,
		MaxNestedLevels:  8,
	}.DecMode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded(f, headerFields()))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := merge.CheckCanonical(b)
		if got != nil && !errors.Is(got, merge.ErrMalformed) {
			t.Fatalf("CheckCanonical() = %v, want ErrMalformed", got)
		}
		var v any
		want := decode.Unmarshal(b, &v) == nil && houseForm(v) && bytes.Equal(encoded(t, v), b)
		if (got == nil) != want {
			t.Errorf("CheckCanonical(%x) = %v; decoded generically it is canonical: %v", b, got, want)
		}
		if again := merge.Unmarshal(b, &v); got == nil && again != nil && !mapKeyBytes(again) {
			t.Errorf("Unmarshal(%x) = %v, though it is canonical", b, again)
		}
	})
}

// mapKeyBytes reports the one thing that a generic Go value cannot hold: byte
// strings as map keys.
func mapKeyBytes(err error) bool {
	var key *cbor.InvalidMapKeyTypeError
	return errors.As(err, &key)
}

// houseForm walks a generically decoded value. Go has no type for map keys that
// are arrays or maps: the decoder refuses them.
func houseForm(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if !houseForm(e) {
				return false
			}
		}
	case map[any]any:
		for k, e := range v {
			if k == nil || k == true || k == false || !houseForm(k) || !houseForm(e) {
				return false
			}
		}
	case float32, float64, cbor.SimpleValue, big.Int: // a big.Int is below -2^63
		return false
	}
	return true
}
