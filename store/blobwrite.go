package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// PutBlob stores content, so that a version that refers to it can be written
// next. Content that is here already costs one transaction. It stays until
// release is called and longer when versions refer to it by then; release must
// be called, may be called again, and waits for nothing. Errors: ErrTooLarge
// beyond merge.BlobBytesMax and for no content; that of ctx, ErrClosed, the
// engine's.
func (s *Store) PutBlob(ctx context.Context, content []byte) (ref merge.BlobRef, release func(), err error) {
	size := int64(len(content))
	if size < 1 || size > merge.BlobBytesMax {
		return ref, nil, fmt.Errorf("%w: blob of %d bytes, 1 to %d", ErrTooLarge, size, merge.BlobBytesMax)
	}
	ref = merge.BlobRef{Hash: sha256.Sum256(content), Size: size}
	release = s.blobs.pin(ref.Hash)
	for range putAttemptsMax {
		if err = s.putChunks(ctx, ref, content); !errors.Is(err, errGap) {
			break
		}
	}
	if err != nil {
		release()
		return ref, nil, err
	}
	return ref, release, nil
}

// putChunks stores content from its beginning. Errors: errGap when somebody
// else dropped it meanwhile.
func (s *Store) putChunks(ctx context.Context, ref merge.BlobRef, content []byte) error {
	for offset := int64(0); offset < ref.Size; {
		req := newRequest(PathLocal)
		for range putChunksMax {
			end := min(offset+ChunkBytes, ref.Size)
			if offset == end {
				break
			}
			req.chunks = append(req.chunks, chunkWrite{
				Chunk: Chunk{Hash: ref.Hash, Size: ref.Size, Offset: offset, Bytes: content[offset:end]}, own: true,
			})
			offset = end
		}
		if err := s.submit(ctx, req); err != nil {
			return err
		}
		if req.blob.Complete() {
			return nil
		}
	}
	return errGap
}

// Chunk is a part of a blob that came from elsewhere.
type Chunk struct {
	Hash merge.Hash
	// Size is that of the whole, as whoever sent it has said.
	Size int64
	// Offset is where Bytes begin: a multiple of ChunkBytes, which is the length of
	// all but the last.
	Offset int64
	Bytes  []byte
}

// AddChunk stores the next chunk of a blob that versions refer to, and returns
// what is here then. A chunk that is not the next, or that nobody wants,
// changes nothing. The last one completes the blob when the whole is what the
// hash says; else all of it is dropped, and it is wanted from its beginning, as
// when the disk has lost a part of it meanwhile. Errors: ErrMismatch for what its
// hash does not say, and for a chunk that cannot be one; that of ctx, ErrClosed,
// the engine's.
func (s *Store) AddChunk(ctx context.Context, c Chunk) (BlobState, error) {
	if c.Size < 1 || c.Size > merge.BlobBytesMax || c.Offset < 0 || c.Offset >= c.Size || c.Offset%ChunkBytes != 0 ||
		int64(len(c.Bytes)) != min(ChunkBytes, c.Size-c.Offset) {
		return BlobState{}, fmt.Errorf("%w: %d bytes at %d of a blob of %d", ErrMismatch, len(c.Bytes), c.Offset, c.Size)
	}
	req := newRequest(PathLocal)
	w := chunkWrite{Chunk: c}
	var mismatch error
	if c.Offset+int64(len(c.Bytes)) == c.Size {
		if mismatch = s.checkWhole(c); mismatch != nil && !errors.Is(mismatch, ErrMismatch) && !errors.Is(mismatch, ErrCorrupt) {
			return BlobState{}, mismatch
		}
		w.mismatch = mismatch != nil
	}
	req.chunks = []chunkWrite{w}
	if err := s.submit(ctx, req); err != nil {
		return BlobState{}, err
	}
	if errors.Is(mismatch, ErrCorrupt) {
		mismatch = nil // of nobody's making but the disk's
	}
	return req.blob, mismatch
}

// checkWhole hashes what is here of a blob and its last chunk. Errors:
// ErrMismatch for another hash; ErrCorrupt for a chunk that the disk has lost.
func (s *Store) checkWhole(last Chunk) error {
	sum := sha256.New()
	err := s.View(func(r *Reader) error {
		state, found, err := r.blobRow(last.Hash)
		if err != nil || found && (state.Size != last.Size || state.Present != last.Offset) || !found && last.Offset > 0 {
			return errGap // the commit will see the same
		}
		for i := range uint32(last.Offset / ChunkBytes) {
			chunk, err := r.chunk(last.Hash, state, i)
			if err != nil {
				return err
			}
			sum.Write(chunk)
		}
		return nil
	})
	if errors.Is(err, errGap) {
		return nil
	}
	if err != nil {
		return err
	}
	sum.Write(last.Bytes)
	if !bytes.Equal(sum.Sum(nil), last.Hash[:]) {
		return fmt.Errorf("%w: %d bytes for blob %x", ErrMismatch, last.Size, last.Hash)
	}
	return nil
}
