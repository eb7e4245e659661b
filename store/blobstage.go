package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/merge"
)

// chunkWrite is one chunk that a request stores, or says to be of no use.
type chunkWrite struct {
	Chunk
	// own says that the bytes are known to be right: they replace what is there.
	own bool
	// mismatch says that the chunk completes the blob to something else than its
	// hash says: what is there is dropped.
	mismatch bool
}

// stagedBlobs is what a transaction does to blobs.
type stagedBlobs struct {
	// touched are those whose references or content changed, in the order of
	// their first change, each with the rows of its references that changed.
	touched []touchedBlob
	at      map[merge.Hash]int // index in touched
	// brought are the references of the records that the transaction adds, by seq:
	// one may leave history again before it can be read.
	brought map[uint64][]merge.BlobRef

	// What the notes of the store take over once it is durable.
	mended, looked, left []merge.Hash
}

type touchedBlob struct {
	hash merge.Hash
	refs [][]byte
}

func newStagedBlobs() *stagedBlobs {
	return &stagedBlobs{at: map[merge.Hash]int{}, brought: map[uint64][]merge.BlobRef{}}
}

func (b *stagedBlobs) clear() {
	clear(b.touched)
	b.touched, b.mended, b.looked, b.left = b.touched[:0], nil, nil, nil
	clear(b.at)
	clear(b.brought)
}

// touch has a blob settled at the end of the transaction.
func (b *stagedBlobs) touch(hash merge.Hash) *touchedBlob {
	i, known := b.at[hash]
	if !known {
		i = len(b.touched)
		b.at[hash] = i
		b.touched = append(b.touched, touchedBlob{hash: hash})
	}
	return &b.touched[i]
}

// refer stages that the record that gets this seq refers to its blobs. Errors:
// ErrCorrupt.
func (g *stage) refer(ks *keyState, rec *merge.Record, seq uint64) error {
	if len(rec.Blobs) == 0 {
		return nil
	}
	g.blobs.brought[seq] = rec.Blobs
	return g.countRefs(ks, rec.Blobs, 1)
}

// letGo stages that a version which leaves history refers to its blobs no more.
// Errors: ErrCorrupt for a record that cannot be read.
func (g *stage) letGo(ks *keyState, p *Past) error {
	if !p.Blobs {
		return nil
	}
	blobs, staged := g.blobs.brought[p.Seq]
	if !staged {
		rec, err := g.record(ks, &p.Held)
		if err != nil {
			return err
		}
		blobs = rec.Blobs
	}
	ops, undo := len(g.ops), len(g.undo)
	err := g.countRefs(ks, blobs, -1)
	if err != nil { // all of them or none
		for _, back := range slices.Backward(g.undo[undo:]) {
			back()
		}
		g.ops, g.undo = g.ops[:ops], g.undo[:undo]
	}
	return err
}

func (g *stage) countRefs(ks *keyState, blobs []merge.BlobRef, by int) error {
	for _, ref := range blobs {
		key := blobRefKey(ref.Hash, ks.sec.ordinal)
		stored, err := g.getRow(key)
		if err != nil {
			return err
		}
		count := uint64(0)
		if stored != nil {
			value, err := openValue(key, stored)
			if err != nil {
				return err
			}
			if count, err = decodeBlobRef(value); err != nil {
				return err
			}
		}
		if count += uint64(by); count == ^uint64(0) {
			return fmt.Errorf("%w: no reference to blob %x to let go", ErrCorrupt, ref.Hash)
		}
		var value []byte
		if count > 0 {
			value = binary.AppendUvarint(nil, count)
		}
		g.setRow(key, value)
		t := g.blobs.touch(ref.Hash)
		t.refs = append(t.refs, key)
	}
	return nil
}

// isReferred reports whether any version refers to a blob, as the transaction
// has it so far.
func (g *stage) isReferred(hash merge.Hash) (referred bool, err error) {
	if i, touched := g.blobs.at[hash]; touched {
		for _, key := range g.blobs.touched[i].refs {
			if g.rows[string(key)] != nil {
				return true, nil
			}
		}
	}
	prefix := blobKey(prefixBlobRef, hash)
	err = g.tx.Scan(prefix, successor(prefix), false, func(key, _ []byte) (more bool, err error) {
		value, staged := g.rows[string(key)]
		referred = !staged || value != nil
		return !referred, nil
	})
	if err != nil {
		g.fatal = err
	}
	return referred, err
}

// blobRow is b/s as the transaction has it so far. A row that cannot be read is
// there and says nothing.
func (g *stage) blobRow(hash merge.Hash) (state BlobState, found bool, err error) {
	key := blobKey(prefixBlob, hash)
	stored, err := g.getRow(key)
	if stored == nil || err != nil {
		return BlobState{}, false, err
	}
	if value, err := openValue(key, stored); err == nil {
		state, _ = decodeBlob(value)
	}
	return state, true, nil
}

// chunk stages one chunk: the next of its blob, or the first of one that is
// begun anew. Any other changes nothing; the result of the request tells where
// the blob is. Errors: errGap for an own one that is not the next.
func (g *stage) chunk(req *request, c *chunkWrite) error {
	referred, err := g.isReferred(c.Hash)
	if err != nil || !referred && !g.s.blobs.isPinned(c.Hash) {
		return err // nobody wants it any more
	}
	state, found, err := g.blobRow(c.Hash)
	if err != nil {
		return err
	}
	damaged := g.s.blobs.isDamaged(c.Hash)
	switch {
	case state.Complete() && !damaged:
		req.blob = state
		return nil
	case c.mismatch:
		if c.Offset == state.Present && c.Size == state.Size {
			g.clearBlob(c.Hash, state)
			g.blobs.touch(c.Hash)
		}
		return nil
	case c.begins(state, damaged):
		state = g.beginBlob(c, state, found)
	case !c.follows(state):
		if req.blob = state; c.own {
			return errGap
		}
		return nil
	}
	key := chunkKey(c.Hash, uint32(c.Offset/ChunkBytes))
	g.set(key, appendChecksum(append(make([]byte, 0, len(c.Bytes)+checksumBytes), c.Bytes...), key))
	state.Present = max(state.Present, c.Offset+int64(len(c.Bytes)))
	g.setRow(blobKey(prefixBlob, c.Hash), appendBlob(nil, state))
	g.blobs.touch(c.Hash)
	req.blob = state
	return nil
}

// begins reports whether the chunk is the first of a blob that is begun anew: an
// own one always is, and one of another size than was said before.
func (c *chunkWrite) begins(state BlobState, damaged bool) bool {
	return c.Offset == 0 && (c.own || state.Present == 0 || c.Size != state.Size || damaged)
}

// follows reports whether the chunk is the next; an own one may replace others.
func (c *chunkWrite) follows(state BlobState) bool {
	return c.Size == state.Size && (c.Offset == state.Present || c.own && c.Offset < state.Present)
}

// beginBlob drops what is there of a blob.
func (g *stage) beginBlob(c *chunkWrite, state BlobState, found bool) BlobState {
	if found {
		g.clearBlob(c.Hash, state)
	}
	mended := len(g.blobs.mended)
	g.blobs.mended = append(g.blobs.mended, c.Hash)
	g.undo = append(g.undo, func() { g.blobs.mended = g.blobs.mended[:mended] })
	return BlobState{Size: c.Size}
}

// clearBlob stages the removal of a blob's content.
func (g *stage) clearBlob(hash merge.Hash, state BlobState) {
	chunks := state.chunks()
	if chunks == 0 { // its row says nothing
		chunks = merge.BlobBytesMax / ChunkBytes
	}
	for i := range chunks {
		g.delete(chunkKey(hash, i))
	}
	g.setRow(blobKey(prefixBlob, hash), nil)
}

// settleBlobs stages what follows from the references and the content of blobs
// as the transaction leaves them: which are wanted, and which are dropped. What
// is too much for one transaction is left to the next.
func (g *stage) settleBlobs() error {
	budget := blobDropsMax
	for i := range g.blobs.touched {
		if err := g.settleBlob(g.blobs.touched[i].hash, &budget); err != nil {
			return err
		}
	}
	for _, hash := range g.s.blobs.listSurplus() {
		if budget == 0 {
			break
		}
		g.blobs.looked = append(g.blobs.looked, hash)
		if err := g.settleBlob(hash, &budget); err != nil {
			return err
		}
	}
	return nil
}

func (g *stage) settleBlob(hash merge.Hash, budget *int) error {
	referred, err := g.isReferred(hash)
	if err != nil {
		return err
	}
	state, found, err := g.blobRow(hash)
	if err != nil {
		return err
	}
	if err := g.setWanted(hash, referred && !state.Complete()); err != nil {
		return err
	}
	switch {
	case referred || !found || g.s.blobs.isPinned(hash):
	case *budget == 0:
		g.blobs.left = append(g.blobs.left, hash)
	default:
		*budget--
		g.clearBlob(hash, state)
		g.blobs.mended = append(g.blobs.mended, hash)
	}
	return nil
}

// setWanted stages b/w.
func (g *stage) setWanted(hash merge.Hash, wanted bool) error {
	key := blobKey(prefixWanted, hash)
	stored, err := g.getRow(key)
	switch {
	case err != nil:
		return err
	case wanted && stored == nil:
		g.setRow(key, []byte{})
	case !wanted && stored != nil:
		g.setRow(key, nil)
	}
	return nil
}

// errGap tells PutBlob that what it had stored is not there any more.
var errGap = errors.New("store: chunk does not follow what is there")
