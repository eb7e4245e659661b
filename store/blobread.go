package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/merge"
)

// WantedBlob is a blob that versions refer to and that is not all here.
type WantedBlob struct {
	Hash merge.Hash
	BlobState
	// Sections are those whose versions refer to it, in the order in which they
	// first came.
	Sections []merge.Section
}

// Wanted calls fn for the blobs that a held or history version refers to and
// that are not all here, or are damaged and to be fetched from their beginning:
// in order of hashes those after a given one, until fn returns false. Errors:
// ErrCorrupt.
func (r *Reader) Wanted(after merge.Hash, fn func(w WantedBlob) (more bool)) error {
	damaged := slices.DeleteFunc(r.store.blobs.listDamaged(), func(h merge.Hash) bool { return compareHashes(h, after) <= 0 })
	more := true
	tell := func(w WantedBlob) (err error) {
		w.Sections, err = r.blobSections(w.Hash)
		more = err == nil && (len(w.Sections) == 0 || fn(w))
		return err
	}
	tellDamaged := func(before func(merge.Hash) bool) error {
		for more && len(damaged) > 0 && before(damaged[0]) {
			if err := tell(WantedBlob{Hash: damaged[0]}); err != nil {
				return err
			}
			damaged = damaged[1:]
		}
		return nil
	}
	from := append(blobKey(prefixWanted, after), 0)
	err := scan(r.tx, []byte(prefixWanted), from, false, func(key, _ []byte) (bool, error) {
		hash, err := blobOf(prefixWanted, key, 0)
		if err != nil {
			return false, err
		}
		err = tellDamaged(func(h merge.Hash) bool { return compareHashes(h, hash) < 0 })
		if err != nil || !more || len(damaged) > 0 && damaged[0] == hash {
			return more, err
		}
		w := WantedBlob{Hash: hash}
		if w.BlobState, _, err = r.blobRow(hash); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				return false, err
			}
			w.BlobState = BlobState{} // begun anew
		}
		err = tell(w)
		return more, err
	})
	if err != nil {
		return err
	}
	return tellDamaged(func(merge.Hash) bool { return true })
}

// WantedCount is how many blobs Wanted lists. Errors: ErrCorrupt.
func (r *Reader) WantedCount() (n int, err error) {
	err = r.Wanted(merge.Hash{}, func(WantedBlob) bool {
		n++
		return true
	})
	return n, err
}

// IsComplete reports whether all of a blob is here. Errors: ErrCorrupt.
func (r *Reader) IsComplete(hash merge.Hash) (bool, error) {
	state, found, err := r.blobRow(hash)
	if !found || r.store.blobs.isDamaged(hash) {
		return false, err
	}
	return state.Complete(), err
}

// Refers reports whether a held or history version of a section refers to a
// blob. Errors: ErrCorrupt.
func (r *Reader) Refers(sec merge.Section, hash merge.Hash) (bool, error) {
	n, ok := r.table.of(sec)
	if !ok {
		return false, nil
	}
	_, err := get(r.tx, blobRefKey(hash, n))
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Blob returns the content of a blob, whose hash was checked. Errors:
// ErrNotFound when nothing refers to it and nothing of it is here; ErrIncomplete
// when not all of it is here yet; ErrCorrupt when it was here and is not any
// more, and then it is wanted.
func (r *Reader) Blob(hash merge.Hash) ([]byte, error) {
	state, err := r.wholeBlob(hash)
	if err != nil {
		return nil, err
	}
	content := make([]byte, 0, state.Size)
	for i := range state.chunks() {
		chunk, err := r.chunk(hash, state, i)
		if err != nil {
			return nil, err
		}
		content = append(content, chunk...)
	}
	if sha256.Sum256(content) != hash {
		return nil, r.damage(hash, fmt.Errorf("%w: blob %x is other content", ErrCorrupt, hash))
	}
	return content, nil
}

// BlobChunk returns the chunk of a complete blob that begins at an offset, and
// the size of the whole. The hash is not checked. Errors: ErrNotFound for an
// offset where no chunk begins, and those of Blob.
func (r *Reader) BlobChunk(hash merge.Hash, offset int64) (chunk []byte, size int64, err error) {
	state, err := r.wholeBlob(hash)
	if err != nil {
		return nil, 0, err
	}
	if offset < 0 || offset >= state.Size || offset%ChunkBytes != 0 {
		return nil, 0, fmt.Errorf("%w: chunk at %d of a blob of %d bytes", ErrNotFound, offset, state.Size)
	}
	stored, err := r.chunk(hash, state, uint32(offset/ChunkBytes))
	return append([]byte{}, stored...), state.Size, err
}

// wholeBlob returns the state of a blob that is complete. Errors as Blob.
func (r *Reader) wholeBlob(hash merge.Hash) (BlobState, error) {
	state, found, err := r.blobRow(hash)
	if err != nil {
		return state, r.damage(hash, err)
	}
	if found && state.Complete() {
		return state, nil
	}
	sections, err := r.blobSections(hash)
	switch {
	case err != nil:
		return state, err
	case len(sections) == 0 && found:
		return state, fmt.Errorf("%w: %d of %d bytes of blob %x", ErrIncomplete, state.Present, state.Size, hash)
	case len(sections) == 0:
		return state, fmt.Errorf("%w: blob %x", ErrNotFound, hash)
	}
	if _, err := get(r.tx, blobKey(prefixWanted, hash)); err != nil {
		return state, r.damage(hash, missing(err, "rows of blob %x", hash))
	}
	return state, fmt.Errorf("%w: blob %x", ErrIncomplete, hash)
}

// chunk returns one chunk, valid until the transaction ends. Errors: ErrCorrupt.
func (r *Reader) chunk(hash merge.Hash, state BlobState, i uint32) ([]byte, error) {
	chunk, err := get(r.tx, chunkKey(hash, i))
	if err != nil {
		return nil, r.damage(hash, missing(err, "chunk %d of blob %x", i, hash))
	}
	if want := min(ChunkBytes, state.Size-int64(i)*ChunkBytes); int64(len(chunk)) != want {
		return nil, r.damage(hash, fmt.Errorf("%w: chunk %d of blob %x has %d bytes, want %d", ErrCorrupt, i, hash, len(chunk), want))
	}
	return chunk, nil
}

// damage notes a blob as damaged when that is what an error says.
func (r *Reader) damage(hash merge.Hash, err error) error {
	if errors.Is(err, ErrCorrupt) {
		r.store.blobs.noteDamaged(hash)
	}
	return err
}

// blobRow reads b/s. Errors: ErrCorrupt.
func (r *Reader) blobRow(hash merge.Hash) (state BlobState, found bool, err error) {
	value, err := get(r.tx, blobKey(prefixBlob, hash))
	if errors.Is(err, ErrNotFound) {
		return BlobState{}, false, nil
	}
	if err == nil {
		state, err = decodeBlob(value)
	}
	return state, true, err
}

// blobSections returns the sections whose versions refer to a blob. Errors:
// ErrCorrupt.
func (r *Reader) blobSections(hash merge.Hash) (sections []merge.Section, err error) {
	err = scan(r.tx, blobKey(prefixBlobRef, hash), nil, false, func(key, _ []byte) (bool, error) {
		_, n, err := parseBlobRefKey(key)
		if err != nil {
			return false, err
		}
		if uint64(n) > uint64(len(r.table.names)) {
			return true, nil // newer than the snapshot
		}
		sec, err := r.table.section(n)
		sections = append(sections, sec)
		return true, err
	})
	return sections, err
}
