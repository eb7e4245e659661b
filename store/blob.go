package store

import (
	"encoding/binary"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// ChunkBytes is the length of every chunk of a blob but its last. It is part of
// the layout and of the wire.
const ChunkBytes = 256 << 10

// BlobState says how much of a blob is here: its first Present bytes. The zero
// value is a blob of which nothing is here.
type BlobState struct {
	// Size is the length of the whole, as whoever began it has said.
	Size int64
	// Present is a whole number of chunks, or Size.
	Present int64
}

// Complete reports whether all of the blob is here.
func (b BlobState) Complete() bool { return b.Size > 0 && b.Present == b.Size }

// chunks is how many chunks the whole has.
func (b BlobState) chunks() uint32 { return uint32((b.Size + ChunkBytes - 1) / ChunkBytes) }

// appendBlob appends the value of b/s: size8, present8.
func appendBlob(dst []byte, b BlobState) []byte {
	return appendUint64(appendUint64(dst, uint64(b.Size)), uint64(b.Present))
}

// decodeBlob is the inverse of appendBlob. Errors: ErrCorrupt.
func decodeBlob(value []byte) (BlobState, error) {
	d := decoder{rest: string(value)}
	b := BlobState{Size: int64(d.uint64()), Present: int64(d.uint64())}
	if !d.done() || b.Size < 1 || b.Size > merge.BlobBytesMax || b.Present < 0 || b.Present > b.Size ||
		b.Present%ChunkBytes != 0 && b.Present != b.Size {
		return BlobState{}, fmt.Errorf("%w: blob row of %d bytes", ErrCorrupt, len(value))
	}
	return b, nil
}

// decodeBlobRef reads the value of b/r: how many versions of the section refer
// to the blob, as a uvarint. Errors: ErrCorrupt.
func decodeBlobRef(value []byte) (uint64, error) {
	d := decoder{rest: string(value)}
	n := d.uvarint()
	if !d.done() || n == 0 {
		return 0, fmt.Errorf("%w: blob reference row of %d bytes", ErrCorrupt, len(value))
	}
	return n, nil
}

func blobKey(prefix string, hash merge.Hash) []byte {
	return append([]byte(prefix), hash[:]...)
}

func chunkKey(hash merge.Hash, chunk uint32) []byte {
	return binary.BigEndian.AppendUint32(blobKey(prefixChunk, hash), chunk)
}

func blobRefKey(hash merge.Hash, sec ordinal) []byte {
	return binary.BigEndian.AppendUint64(blobKey(prefixBlobRef, hash), uint64(sec))
}

// blobOf reads the hash from a key that blobKey began and a suffix of a given
// length ends. Errors: ErrCorrupt.
func blobOf(prefix string, key []byte, suffix int) (hash merge.Hash, err error) {
	if len(key) != len(prefix)+len(hash)+suffix {
		return hash, fmt.Errorf("%w: key %q", ErrCorrupt, key)
	}
	copy(hash[:], key[len(prefix):])
	return hash, nil
}

// parseBlobRefKey is the inverse of blobRefKey. Errors: ErrCorrupt.
func parseBlobRefKey(key []byte) (hash merge.Hash, sec ordinal, err error) {
	if hash, err = blobOf(prefixBlobRef, key, ordinalBytes); err != nil {
		return hash, 0, err
	}
	return hash, ordinal(binary.BigEndian.Uint64(key[len(key)-ordinalBytes:])), nil
}
