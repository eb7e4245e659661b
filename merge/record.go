package merge

import (
	"crypto/sha256"
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
)

// FleetID is the hash of a fleet's root public key. The zero value marks
// records of a store without a fleet.
type FleetID [32]byte

// Envelope is the replication metadata of a version: the five fields that
// callers of the agent-facing API see.
type Envelope struct {
	// SyncVersion counts the versions of a key, from 1; the compare-and-set
	// token within one store.
	SyncVersion int64
	// OriginInstanceID is who created the record. It is a claim.
	OriginInstanceID InstanceID
	// UpdatedHLC is the stamp of this version.
	UpdatedHLC hlc.Timestamp
	// LastWriterID is who wrote and signed this version.
	LastWriterID InstanceID
	// Deleted marks a tombstone.
	Deleted bool
}

// Algorithm numbers a signature scheme. Numbers are never reused.
type Algorithm uint8

const (
	// Unsigned is for stores without a fleet; peers treat it as malformed.
	Unsigned Algorithm = 0
	// Ed25519 is a signature over SignedBytes, verified under ZIP-215.
	Ed25519 Algorithm = 1
)

// BlobRef names content that is stored beside the record and fetched with it.
type BlobRef struct {
	// Hash is the SHA-256 of the content.
	Hash [32]byte
	// Size is its length in bytes, 1 to BlobBytesMax.
	Size int64
	// Manifest marks content that itself lists further blobs.
	Manifest bool
}

// Record is one version of a key. The fields are a view of the header that was
// signed; a record that was decoded or sealed must not be changed, and its
// slices are shared. Build one by filling the fields above Signature and
// calling Seal.
type Record struct {
	Fleet    FleetID
	Key      Key
	Envelope Envelope
	Basis    Basis
	// Body is the deterministic CBOR of the value, opaque here; at most
	// BodyBytesMax.
	Body []byte
	// Blobs lists the content that this version needs besides Body.
	Blobs []BlobRef
	// Purge asks replicas to scrub the history of the versions that this one
	// covers.
	Purge bool

	Algorithm Algorithm
	Signature []byte

	header []byte
	hash   Hash
}

// Seal checks the fields, builds the header and signs it: sign receives
// SignedBytes and returns the signature; it is nil for Unsigned. The result is
// complete and immutable. Errors: ErrMalformed, ErrTooLarge, and what sign
// returns.
func Seal(r Record, algorithm Algorithm, sign func(message []byte) ([]byte, error)) (Record, error) {
	r.Algorithm, r.Signature = algorithm, nil
	if err := r.validate(); err != nil {
		return Record{}, err
	}
	r.header = r.encodeHeader()
	if algorithm != Unsigned {
		var err error
		if r.Signature, err = sign(r.SignedBytes()); err != nil {
			return Record{}, fmt.Errorf("merge: sign %s: %w", r.Key, err)
		}
	}
	if err := r.validateSignature(); err != nil {
		return Record{}, err
	}
	r.hash = itemHash(r.Key, r.header)
	return r, nil
}

// Header returns the canonical CBOR that the signature covers, as received.
// The caller must not change it.
func (r *Record) Header() []byte { return r.header }

// Hash returns the item hash: SHA-256 of the order key and the header.
func (r *Record) Hash() Hash { return r.hash }

// Version returns what the merge rule needs.
func (r *Record) Version() Version {
	return Version{
		Writer:      r.Envelope.LastWriterID,
		Stamp:       r.Envelope.UpdatedHLC,
		Hash:        r.hash,
		Basis:       r.Basis,
		SyncVersion: r.Envelope.SyncVersion,
		Deleted:     r.Envelope.Deleted,
	}
}

// signContext separates these signatures from any other use of the same key.
const signContext = "fleetd/record/1\x00"

// SignedBytes returns the message that the writer signs: a context string, the
// algorithm number and the header.
func (r *Record) SignedBytes() []byte {
	message := make([]byte, 0, len(signContext)+1+len(r.header))
	message = append(message, signContext...)
	message = append(message, byte(r.Algorithm))
	return append(message, r.header...)
}

// itemHash hashes section id, 0x00, order and header. Nothing divides the last
// two: an order is UTF-8, and no UTF-8 text can go on with the first byte of a
// map.
func itemHash(k Key, header []byte) Hash {
	b := make([]byte, 0, 1024)
	b = k.Section().appendID(b)
	b = append(b, 0)
	b = append(b, k.Kind...)
	b = append(b, 0)
	b = append(b, k.ID...)
	b = append(b, header...)
	return sha256.Sum256(b)
}

// validate checks everything that can be judged of the fields by themselves;
// the signature is for validateSignature. Errors: ErrMalformed, ErrTooLarge.
func (r *Record) validate() error {
	if err := r.Key.Validate(); err != nil {
		return err
	}
	env := r.Envelope
	switch {
	case len(r.Body) > BodyBytesMax:
		return fmt.Errorf("%w: body of %d bytes, at most %d", ErrTooLarge, len(r.Body), BodyBytesMax)
	case env.SyncVersion < 1:
		return fmt.Errorf("%w: sync version %d", ErrMalformed, env.SyncVersion)
	case env.UpdatedHLC.IsZero() || !env.UpdatedHLC.Valid():
		return fmt.Errorf("%w: stamp %s", ErrMalformed, env.UpdatedHLC)
	}
	for _, id := range [...]InstanceID{env.LastWriterID, env.OriginInstanceID} {
		if err := id.validate(); err != nil {
			return err
		}
	}
	if err := r.Basis.validate(env.LastWriterID, env.UpdatedHLC); err != nil {
		return err
	}
	return validateBlobs(r.Blobs)
}

func validateBlobs(blobs []BlobRef) error {
	if len(blobs) > BlobsMax {
		return fmt.Errorf("%w: %d blobs, at most %d", ErrMalformed, len(blobs), BlobsMax)
	}
	for _, b := range blobs {
		if b.Size < 1 || b.Size > BlobBytesMax {
			return fmt.Errorf("%w: blob of %d bytes, 1 to %d", ErrMalformed, b.Size, BlobBytesMax)
		}
	}
	return nil
}

// validateSignature checks the shape of the signature against the algorithm.
// Errors: ErrMalformed, ErrUnsupported.
func (r *Record) validateSignature() error {
	_, hasKey := r.Envelope.LastWriterID.PublicKey()
	switch r.Algorithm {
	case Unsigned:
		if len(r.Signature) > 0 {
			return fmt.Errorf("%w: unsigned record with a signature", ErrMalformed)
		}
	case Ed25519:
		if len(r.Signature) != 64 || !hasKey || r.Fleet == (FleetID{}) {
			return fmt.Errorf("%w: signed record needs a fleet, a writer with a key and 64 bytes of signature", ErrMalformed)
		}
	default:
		return fmt.Errorf("%w: signature algorithm %d", ErrUnsupported, r.Algorithm)
	}
	return nil
}
