package fleet

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fleetsync/fleetd/merge"
)

// Identity is an Ed25519 key pair: an instance's, or a fleet's root. It is
// immutable and safe for concurrent use. The zero value is not an identity.
type Identity struct {
	key ed25519.PrivateKey
}

// Signer is what a statement needs of its issuer. Identity is one.
type Signer interface {
	ID() merge.InstanceID
	Sign(message []byte) ([]byte, error)
}

// NewIdentity makes a key pair from 32 bytes of rand, which must come from a
// cryptographic source. It returns what rand returns.
func NewIdentity(rand io.Reader) (Identity, error) {
	var seed [ed25519.SeedSize]byte
	if _, err := io.ReadFull(rand, seed[:]); err != nil {
		return Identity{}, fmt.Errorf("fleet: new identity: %w", err)
	}
	return Identity{key: ed25519.NewKeyFromSeed(seed[:])}, nil
}

// IdentityFromBytes reads what Bytes returned. Errors: ErrMalformed.
func IdentityFromBytes(b []byte) (Identity, error) {
	if len(b) > identityBytesMax {
		return Identity{}, fmt.Errorf("%w: key of %d bytes", ErrMalformed, len(b))
	}
	private, err := crypto.UnmarshalPrivateKey(b)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: key: %w", ErrMalformed, err)
	}
	if private.Type() != crypto.Ed25519 {
		return Identity{}, fmt.Errorf("%w: key of type %s, want Ed25519", ErrMalformed, private.Type())
	}
	raw, err := private.Raw()
	if err != nil || len(raw) != ed25519.PrivateKeySize {
		return Identity{}, fmt.Errorf("%w: Ed25519 key of %d bytes", ErrMalformed, len(raw))
	}
	// A wrong public half would not only name another instance: signatures made
	// with it can give the private half away.
	key := ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize])
	if !key.Equal(ed25519.PrivateKey(raw)) {
		return Identity{}, fmt.Errorf("%w: public half of the key does not match", ErrMalformed)
	}
	return Identity{key: key}, nil
}

// Bytes returns the form to store, libp2p's marshalled private key. It is
// secret: the file has mode 0600.
func (i Identity) Bytes() []byte {
	b, err := crypto.MarshalPrivateKey(i.PrivKey())
	if err != nil {
		panic("fleet: marshal key: " + err.Error()) // an Ed25519 key always does
	}
	return b
}

// ID returns the instance that the key stands for.
func (i Identity) ID() merge.InstanceID { return merge.InstanceOf(i.Public()) }

// Public returns the public half.
func (i Identity) Public() ed25519.PublicKey { return i.key.Public().(ed25519.PublicKey) }

// Sign returns the signature of message; the error is always nil.
func (i Identity) Sign(message []byte) ([]byte, error) { return ed25519.Sign(i.key, message), nil }

// PrivKey returns the key in the form that a libp2p host takes.
func (i Identity) PrivKey() crypto.PrivKey {
	private, err := crypto.UnmarshalEd25519PrivateKey(i.key)
	if err != nil {
		panic("fleet: key: " + err.Error()) // made by NewIdentity or IdentityFromBytes
	}
	return private
}

// String returns the text of the ID, so that a stray print shows no secret.
func (i Identity) String() string { return i.ID().String() }

// GoString is String for the verb %#v.
func (i Identity) GoString() string { return i.String() }

// fleetContext separates fleet ids from other hashes of a key.
const fleetContext = "fleetd/fleet/1\x00"

// FleetIDOf returns the id of the fleet whose root key this is: SHA-256 of a
// context string and the key.
//
//nolint:revive // it returns a merge.FleetID, which the name says
func FleetIDOf(root ed25519.PublicKey) merge.FleetID {
	return merge.FleetID(sha256.Sum256(append([]byte(fleetContext), root...)))
}

// IsRoot reports whether id is the root of the fleet.
func IsRoot(fleet merge.FleetID, id merge.InstanceID) bool {
	key, ok := id.PublicKey()
	return ok && FleetIDOf(key) == fleet
}
