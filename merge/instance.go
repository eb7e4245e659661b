package merge

import (
	"crypto/ed25519"
	"fmt"

	"github.com/fxamacker/cbor/v2"
	"github.com/mr-tron/base58"
)

// peerIDPrefix begins the binary libp2p peer id of every Ed25519 key: an
// identity multihash (00, length 24) of a protobuf public key of type 1
// (08 01) with 32 bytes (12 20).
const peerIDPrefix = "\x00\x24\x08\x01\x12\x20"

// InstanceID names one instance of fleetd. Its bytes are the binary libp2p
// peer id of the instance's Ed25519 key, so that a record proves its writer by
// itself; unsigned records may name any printable text, such as "local". Order
// between instances is byte order. The zero value names nobody.
type InstanceID string

// InstanceOf returns the id of the instance that holds an Ed25519 key of
// ed25519.PublicKeySize bytes.
func InstanceOf(key ed25519.PublicKey) InstanceID {
	if len(key) != ed25519.PublicKeySize {
		panic(fmt.Sprintf("merge: Ed25519 key of %d bytes", len(key)))
	}
	return InstanceID(peerIDPrefix + string(key))
}

// ParseInstanceID reads what String prints: the text of a peer id, or any
// other text of 1 to 128 bytes without control characters. Errors:
// ErrMalformed.
func ParseInstanceID(text string) (InstanceID, error) {
	if id, isKey := parsePeerID(text); isKey {
		return id, nil
	}
	id := InstanceID(text)
	return id, id.validateText()
}

// PublicKey returns the key that the id stands for; ok is false for text ids.
func (id InstanceID) PublicKey() (key ed25519.PublicKey, ok bool) {
	if !id.hasKey() {
		return nil, false
	}
	return ed25519.PublicKey(id[len(peerIDPrefix):]), true
}

// String returns the text form: base58 of a peer id as libp2p prints it
// ("12D3KooW..."), or the text itself.
func (id InstanceID) String() string {
	if id.hasKey() {
		return base58.Encode([]byte(id))
	}
	return string(id)
}

func (id InstanceID) hasKey() bool {
	const size = len(peerIDPrefix) + ed25519.PublicKeySize
	return len(id) == size && id[:len(peerIDPrefix)] == peerIDPrefix
}

func (id InstanceID) validate() error {
	if id.hasKey() {
		return nil
	}
	return id.validateText()
}

// validateText accepts what an id without a key may be. The binary and the
// printed form of a key are refused, so that no text passes for a key and
// String tells all ids apart.
func (id InstanceID) validateText() error {
	if err := validateText("instance", string(id), instanceBytesMax); err != nil {
		return err
	}
	if _, isKey := parsePeerID(string(id)); isKey {
		return fmt.Errorf("%w: instance %q is the text of a key, not a key", ErrMalformed, string(id))
	}
	return nil
}

// peerTextSize is the length of every printed Ed25519 peer id, and
// peerTextPrefix its beginning: what peerIDPrefix is in base58.
const (
	peerTextSize   = 52
	peerTextPrefix = "12D3KooW"
)

// parsePeerID reads the printed form of a peer id.
func parsePeerID(text string) (id InstanceID, ok bool) {
	if len(text) != peerTextSize || text[:len(peerTextPrefix)] != peerTextPrefix {
		return "", false
	}
	raw, err := base58.Decode(text)
	id = InstanceID(raw)
	return id, err == nil && id.hasKey()
}

// appendCBOR appends a key as a byte string of 32 bytes, a text id as text.
func (id InstanceID) appendCBOR(dst []byte) []byte {
	if id.hasKey() {
		return appendBytes(dst, id[len(peerIDPrefix):])
	}
	return appendText(dst, string(id))
}

// MarshalCBOR writes a key as a byte string of 32 bytes, a text id as text.
// Errors: ErrMalformed for an id that is neither.
func (id InstanceID) MarshalCBOR() ([]byte, error) {
	if err := id.validate(); err != nil {
		return nil, err
	}
	return id.appendCBOR(nil), nil
}

// UnmarshalCBOR is the inverse of MarshalCBOR. Errors: ErrMalformed.
func (id *InstanceID) UnmarshalCBOR(b []byte) error {
	d := reader{rest: b}
	*id = d.instance()
	return d.end()
}

var (
	_ cbor.Marshaler   = InstanceID("")
	_ cbor.Unmarshaler = (*InstanceID)(nil)
)
