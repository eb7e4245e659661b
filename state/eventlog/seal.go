package eventlog

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// SnapshotCodec proves whose snapshot is restored: Seal before it is saved, Open
// before it is used. Implementations are safe for concurrent use.
type SnapshotCodec interface {
	// Seal returns a form of payload that opens for this stream and seq alone.
	// payload is not kept.
	Seal(stream string, seq int64, payload []byte) ([]byte, error)
	// Open returns the payload that was sealed for stream and seq; the caller
	// owns it. Errors: ErrSealBroken. The caller then does without the snapshot.
	Open(stream string, seq int64, sealed []byte) (payload []byte, err error)
}

// A sealed snapshot, in bytes:
//
//	[0]    sealFormat
//	[1:65] Ed25519 signature (RFC 8032)
//	[65:]  payload
//
// The signature covers sealContext, the length of the stream as 8 bytes, the
// stream, seq as 8 bytes, and the SHA-256 of the payload; numbers are
// big-endian. So the payload is hashed once however large it is, and no two
// (stream, seq, payload) give the same bytes. The context keeps a signature of
// something else from passing for a seal, and a seal for that; it counts the
// format too. An instance may therefore seal with the key that signs its
// records.
const (
	sealFormat  = 1
	sealContext = "fleetd/snapshot/1\x00"
	sealBytes   = 1 + ed25519.SignatureSize
)

// Ed25519Codec seals snapshots by an Ed25519 signature: what is restored is what
// the key's owner saved. It hides nothing. It is immutable and safe for
// concurrent use; the zero value opens nothing.
type Ed25519Codec struct {
	public  ed25519.PublicKey
	private ed25519.PrivateKey // nil: verifies only
}

var _ SnapshotCodec = Ed25519Codec{}

// NewEd25519Signer returns a codec that seals with the key and opens what it
// sealed. Errors: ErrInvalid for a key of the wrong length.
func NewEd25519Signer(private ed25519.PrivateKey) (Ed25519Codec, error) {
	if len(private) != ed25519.PrivateKeySize {
		return Ed25519Codec{}, fmt.Errorf("%w: a private key of %d bytes", ErrInvalid, len(private))
	}
	// The second half of the key is its public key, which the sealing depends
	// on: computed here, so that a key of two halves that do not match is not
	// used for signatures that would give it away.
	whole := ed25519.NewKeyFromSeed(private.Seed())
	if !whole.Equal(private) {
		return Ed25519Codec{}, fmt.Errorf("%w: the halves of the private key do not match", ErrInvalid)
	}
	return Ed25519Codec{public: whole.Public().(ed25519.PublicKey), private: whole}, nil
}

// NewEd25519Verifier returns a codec that opens what the owner of the key
// sealed, and cannot seal. Errors: ErrInvalid for a key of the wrong length.
func NewEd25519Verifier(public ed25519.PublicKey) (Ed25519Codec, error) {
	if len(public) != ed25519.PublicKeySize {
		return Ed25519Codec{}, fmt.Errorf("%w: a public key of %d bytes", ErrInvalid, len(public))
	}
	return Ed25519Codec{public: append(ed25519.PublicKey{}, public...)}, nil
}

// Seal implements SnapshotCodec. Equal arguments give equal bytes. Errors:
// ErrNoKey.
func (c Ed25519Codec) Seal(stream string, seq int64, payload []byte) ([]byte, error) {
	if c.private == nil {
		return nil, ErrNoKey
	}
	sealed := make([]byte, 0, sealBytes+len(payload))
	sealed = append(sealed, sealFormat)
	sealed = append(sealed, ed25519.Sign(c.private, sealMessage(stream, seq, payload))...)
	return append(sealed, payload...), nil
}

// Open implements SnapshotCodec.
func (c Ed25519Codec) Open(stream string, seq int64, sealed []byte) ([]byte, error) {
	switch {
	case len(c.public) != ed25519.PublicKeySize:
		return nil, fmt.Errorf("%w: no key to open with", ErrSealBroken)
	case len(sealed) < sealBytes:
		return nil, fmt.Errorf("%w: %d bytes are no seal", ErrSealBroken, len(sealed))
	case sealed[0] != sealFormat:
		return nil, fmt.Errorf("%w: format %d is unknown", ErrSealBroken, sealed[0])
	}
	signature, payload := sealed[1:sealBytes], sealed[sealBytes:]
	if !ed25519.Verify(c.public, sealMessage(stream, seq, payload), signature) {
		return nil, fmt.Errorf("%w: not signed for %q at %d by this key", ErrSealBroken, stream, seq)
	}
	return append([]byte{}, payload...), nil
}

// sealMessage is what a seal signs.
func sealMessage(stream string, seq int64, payload []byte) []byte {
	sum := sha256.Sum256(payload)
	message := make([]byte, 0, len(sealContext)+8+len(stream)+8+len(sum))
	message = append(message, sealContext...)
	message = binary.BigEndian.AppendUint64(message, uint64(len(stream)))
	message = append(message, stream...)
	message = binary.BigEndian.AppendUint64(message, uint64(seq))
	return append(message, sum[:]...)
}
