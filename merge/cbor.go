package merge

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// encMode writes RFC 8949 core deterministic CBOR.
var encMode = mustMode(cbor.CoreDetEncOptions().EncMode())

// decMode refuses what the house form forbids and a decoder can see; that the
// bytes are canonical is for CheckCanonical.
var decMode = mustMode(cbor.DecOptions{
	DupMapKey:         cbor.DupMapKeyEnforcedAPF,
	IndefLength:       cbor.IndefLengthForbidden,
	TagsMd:            cbor.TagsForbidden,
	UTF8:              cbor.UTF8RejectInvalid,
	FieldNameMatching: cbor.FieldNameMatchingCaseSensitive,
	MaxNestedLevels:   depthMax,
	MaxArrayElements:  arrayElementsMax,
	MaxMapPairs:       mapPairsMax,
}.DecMode())

func mustMode[M any](mode M, err error) M {
	if err != nil {
		panic("merge: cbor options: " + err.Error())
	}
	return mode
}

// Marshal encodes v as deterministic CBOR: the one encoding of everything that
// fleetd signs, stores or sends. Structs use integer keys that are never
// reused; new fields are optional and omitted when zero; there are no floats.
func Marshal(v any) ([]byte, error) {
	b, err := encMode.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("merge: encode %T: %w", v, err)
	}
	if err := CheckCanonical(b); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return b, nil
}

// Unmarshal decodes one canonical CBOR value into v. Unknown keys of structs
// are skipped; null reads as zero, and an array of numbers as a byte string, so
// what is hashed or compared is the bytes, never an encoding of v. Errors: ErrMalformed for anything that is not exactly one value
// in the house form (see CheckCanonical).
func Unmarshal(b []byte, v any) error {
	if err := CheckCanonical(b); err != nil {
		return err
	}
	if err := decMode.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}
