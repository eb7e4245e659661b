package storetest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// contentOf returns content of a size that follows from a seed.
func contentOf(seed byte, size int) []byte {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(content)
	return content
}

// blobOf returns the reference to content.
func blobOf(content []byte) merge.BlobRef {
	return merge.BlobRef{Hash: sha256.Sum256(content), Size: int64(len(content))}
}

// chunkOf returns the chunk of content that begins at an offset.
func chunkOf(ref merge.BlobRef, content []byte, offset int64) store.Chunk {
	end := min(offset+store.ChunkBytes, ref.Size)
	return store.Chunk{Hash: ref.Hash, Size: ref.Size, Offset: offset, Bytes: content[offset:end]}
}

func mustAdd(t *testing.T, s *store.Store, ref merge.BlobRef, content []byte, offset int64) store.BlobState {
	t.Helper()
	state, err := s.AddChunk(t.Context(), chunkOf(ref, content, offset))
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func mustPut(t *testing.T, s *store.Store, content []byte) (merge.BlobRef, func()) {
	t.Helper()
	ref, release, err := s.PutBlob(t.Context(), content)
	if err != nil {
		t.Fatal(err)
	}
	return ref, release
}

// mustRefer merges a version that refers to blobs.
func mustRefer(t *testing.T, s *store.Store, a *Author, k merge.Key, body string, blobs ...merge.BlobRef) {
	t.Helper()
	mustMerge(t, s, store.Result{Applied: 1}, a.Refer(k, body, 1, blobs...))
}

// blobError is what reading a blob gives: nil for exactly its content.
func blobError(t *testing.T, s *store.Store, content []byte) (err error) {
	t.Helper()
	ref := blobOf(content)
	failed := s.View(func(r *store.Reader) error {
		var got []byte
		if got, err = r.Blob(ref.Hash); err != nil {
			return nil //nolint:nilerr // it is what is asked for
		}
		if !bytes.Equal(got, content) {
			return fmt.Errorf("blob %x is other content", ref.Hash)
		}
		if complete, err := r.IsComplete(ref.Hash); err != nil || !complete {
			return fmt.Errorf("blob %x was read and is not complete, %w", ref.Hash, err)
		}
		for offset := int64(0); offset < ref.Size; offset += store.ChunkBytes {
			chunk, size, err := r.BlobChunk(ref.Hash, offset)
			if err != nil || size != ref.Size || !bytes.Equal(chunk, chunkOf(ref, content, offset).Bytes) {
				return fmt.Errorf("chunk at %d of blob %x of %d: %w", offset, ref.Hash, size, err)
			}
		}
		return nil
	})
	if failed != nil {
		t.Fatal(failed)
	}
	return err
}

func wantBlob(t *testing.T, s *store.Store, content []byte, want error) {
	t.Helper()
	if err := blobError(t, s, content); !errors.Is(err, want) {
		t.Errorf("blob %x: %v, want %v", blobOf(content).Hash, err, want)
	}
}

// wantedOf returns what the store says is wanted.
func wantedOf(t *testing.T, s *store.Store) (wanted []store.WantedBlob) {
	t.Helper()
	err := s.View(func(r *store.Reader) error {
		return r.Wanted(merge.Hash{}, func(w store.WantedBlob) bool {
			wanted = append(wanted, w)
			return true
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return wanted
}

// testBlobs holds content to what versions refer to.
func testBlobs(t *testing.T, open Opener) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, Opener)
	}{
		{"content is read as it was put", testPutBlob},
		{"content stays while versions refer to it", testBlobReferences},
		{"content that nothing refers to any more goes", testBlobSurplus},
		{"content that nothing ever refers to goes", testBlobUnreferred},
		{"parked versions refer to nothing", testBlobParked},
		{"what is wanted is listed until it is complete", testWanted},
		{"chunks that make other content are dropped", testBlobMismatch},
		{"local content replaces what a peer sent", testPutOverChunks},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
}

func testPutBlob(t *testing.T, open Opener) {
	t.Helper()
	dir := t.TempDir()
	s := mustOpen(t, open, dir, Config(1))
	k := Key("memory", "", "k")
	var all [][]byte
	var refs []merge.BlobRef
	for i, size := range []int{1, 32 << 10, store.ChunkBytes, store.ChunkBytes + 1, 4*store.ChunkBytes - 1, merge.BlobBytesMax} {
		all = append(all, contentOf(byte(i), size))
		ref, release := mustPut(t, s, all[i])
		defer release()
		refs = append(refs, ref)
	}
	mustRefer(t, s, NewAuthor("anna", at(0)), k, "body", refs...)
	for _, size := range []int{0, merge.BlobBytesMax + 1} {
		if _, _, err := s.PutBlob(t.Context(), make([]byte, size)); !errors.Is(err, store.ErrTooLarge) {
			t.Errorf("content of %d bytes: %v, want ErrTooLarge", size, err)
		}
	}
	wantBlob(t, s, []byte("another"), store.ErrNotFound)
	mustVerify(t, s)
	mustClose(t, s)
	s = mustOpen(t, open, dir, Config(2))
	for _, content := range all {
		wantBlob(t, s, content, nil)
	}
	mustVerify(t, s)
}

// testBlobReferences covers and prunes versions that share content.
func testBlobReferences(t *testing.T, open Opener) {
	t.Helper()
	cfg := Config(1)
	cfg.HistoryMax = 1
	s := mustOpen(t, open, t.TempDir(), cfg)
	k, other := Key("skill", "", "k"), Key("skill", "web", "other")
	first, shared, last := contentOf(1, 100), contentOf(2, 100), contentOf(3, store.ChunkBytes+1)
	anna := NewAuthor("anna", at(0))
	refs := map[string]merge.BlobRef{}
	for name, content := range map[string][]byte{"first": first, "shared": shared, "last": last} {
		ref, release := mustPut(t, s, content)
		defer release()
		refs[name] = ref
	}
	mustRefer(t, s, anna, k, "1", refs["first"], refs["shared"])
	mustRefer(t, s, anna, other, "1", refs["shared"], refs["shared"])
	mustRefer(t, s, anna, k, "2", refs["last"])
	wantReferred(t, s, k.Section(), refs["first"], true) // by history
	wantReferred(t, s, other.Section(), refs["first"], false)
	wantReferred(t, s, other.Section(), refs["shared"], true)
	mustVerify(t, s)
	for i := range 18 {
		mustRefer(t, s, anna, k, fmt.Sprint("later ", i))
	}
	mustVerify(t, s)
	wantReferred(t, s, k.Section(), refs["first"], false)
	wantReferred(t, s, k.Section(), refs["shared"], false)
	wantReferred(t, s, other.Section(), refs["shared"], true)
	wantBlob(t, s, shared, nil)
	wantBlob(t, s, first, nil) // its writer has not let go
}

func wantReferred(t *testing.T, s *store.Store, sec merge.Section, ref merge.BlobRef, want bool) {
	t.Helper()
	err := s.View(func(r *store.Reader) error {
		got, err := r.Refers(sec, ref.Hash)
		if got != want {
			t.Errorf("a version of %s refers to blob %x: %t, want %t", sec, ref.Hash, got, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// testBlobSurplus has far more to drop at once than one transaction drops.
func testBlobSurplus(t *testing.T, open Opener) {
	t.Helper()
	dir := t.TempDir()
	cfg := Config(1)
	cfg.HistoryMax = 1
	s := mustOpen(t, open, dir, cfg)
	k, anna := Key("memory", "", "k"), NewAuthor("anna", at(0))
	var all [][]byte
	for i := range 3 {
		var refs []merge.BlobRef
		for j := range merge.BlobsMax {
			content := contentOf(byte(i*merge.BlobsMax+j), 40)
			ref, release := mustPut(t, s, content)
			defer release()
			all, refs = append(all, content), append(refs, ref)
		}
		mustRefer(t, s, anna, k, strconv.Itoa(i), refs...)
	}
	mustClose(t, s) // and with it all that was put
	s = mustOpen(t, open, dir, cfg)
	for i := range 17 {
		mustRefer(t, s, anna, k, fmt.Sprint("later ", i))
	}
	mustVerify(t, s)
	for range 3 {
		if err := s.SetLocal(t.Context(), "name", []byte("value")); err != nil {
			t.Fatal(err)
		}
	}
	for _, content := range all {
		wantBlob(t, s, content, store.ErrNotFound)
	}
}

// testBlobUnreferred has content to which nothing ever refers.
func testBlobUnreferred(t *testing.T, open Opener) {
	t.Helper()
	dir := t.TempDir()
	s := mustOpen(t, open, dir, Config(1))
	released, lost := contentOf(201, 40), contentOf(202, 40)
	_, release := mustPut(t, s, released)
	wantBlob(t, s, released, nil)
	release()
	release()
	if err := s.SetLocal(t.Context(), "name", []byte("value")); err != nil {
		t.Fatal(err)
	}
	wantBlob(t, s, released, store.ErrNotFound)
	_, _ = mustPut(t, s, lost)
	mustVerify(t, s)
	mustClose(t, s)
	s = mustOpen(t, open, dir, Config(2))
	wantBlob(t, s, lost, nil)
	if err := s.SetLocal(t.Context(), "name", []byte("value")); err != nil {
		t.Fatal(err)
	}
	wantBlob(t, s, lost, store.ErrNotFound)
	mustVerify(t, s)
}

func testBlobParked(t *testing.T, open Opener) {
	t.Helper()
	s := mustOpen(t, open, t.TempDir(), Config(1))
	k, anna, ben := Key("memory", "", "k"), NewAuthor("anna", at(0)), NewAuthor("ben", at(0))
	head, covered := contentOf(1, 40), contentOf(2, 40)
	waiting := []store.Parked{
		{Record: ben.Refer(k, "covered", 1, blobOf(covered)), Reason: store.ReasonAuthority},
		{Record: ben.Refer(k, "head", 1, blobOf(head)), Reason: store.ReasonAuthority},
	}
	if _, err := s.Merge(t.Context(), store.Batch{Path: store.PathFeed, Records: []merge.Record{anna.Write(k, "a", 1)}, Park: waiting}); err != nil {
		t.Fatal(err)
	}
	if wanted := wantedOf(t, s); len(wanted) > 0 {
		t.Errorf("%d blobs are wanted for parked versions", len(wanted))
	}
	if state := mustAdd(t, s, blobOf(head), head, 0); state != (store.BlobState{}) {
		t.Errorf("a chunk that nobody wants was taken: %+v", state)
	}
	if _, err := s.Reconsider(t.Context(), Judging(admitAll)); err != nil {
		t.Fatal(err)
	}
	if wanted := wantedOf(t, s); len(wanted) != 2 {
		t.Errorf("%d blobs are wanted, want that of the head and that of history", len(wanted))
	}
	mustVerify(t, s)
}

func testWanted(t *testing.T, open Opener) {
	t.Helper()
	dir := t.TempDir()
	s := mustOpen(t, open, dir, Config(1))
	k, other := Key("memory", "", "k"), Key("skill", "web", "k")
	long, short := contentOf(1, 2*store.ChunkBytes+1), contentOf(2, 40)
	anna := NewAuthor("anna", at(0))
	mustRefer(t, s, anna, k, "1", blobOf(long), blobOf(short))
	mustRefer(t, s, anna, other, "1", blobOf(long))
	wantBlob(t, s, long, store.ErrIncomplete)
	mustAdd(t, s, blobOf(long), long, 0)
	mustAdd(t, s, blobOf(long), long, 0)                  // known
	mustAdd(t, s, blobOf(long), long, 2*store.ChunkBytes) // not the next
	mustVerify(t, s)
	mustClose(t, s)
	s = mustOpen(t, open, dir, Config(2))
	want := []store.WantedBlob{
		{Hash: blobOf(long).Hash, BlobState: store.BlobState{Size: int64(len(long)), Present: store.ChunkBytes}, Sections: []merge.Section{k.Section(), other.Section()}},
		{Hash: blobOf(short).Hash, Sections: []merge.Section{k.Section()}},
	}
	slices.SortFunc(want, func(a, b store.WantedBlob) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
	if got := wantedOf(t, s); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("wanted are %+v, want %+v", got, want)
	}
	mustAdd(t, s, blobOf(long), long, store.ChunkBytes)
	wantBlob(t, s, long, store.ErrIncomplete)
	if state := mustAdd(t, s, blobOf(long), long, 2*store.ChunkBytes); !state.Complete() {
		t.Errorf("after the last chunk: %+v", state)
	}
	mustAdd(t, s, blobOf(short), short, 0)
	wantBlob(t, s, long, nil)
	wantBlob(t, s, short, nil)
	if wanted := wantedOf(t, s); len(wanted) > 0 {
		t.Errorf("%d blobs are wanted still", len(wanted))
	}
	mustVerify(t, s)
}

func testBlobMismatch(t *testing.T, open Opener) {
	t.Helper()
	s := mustOpen(t, open, t.TempDir(), Config(1))
	content := contentOf(1, store.ChunkBytes+40)
	ref := blobOf(content)
	mustRefer(t, s, NewAuthor("anna", at(0)), Key("memory", "", "k"), "1", ref)
	for i, c := range []store.Chunk{
		{Hash: ref.Hash, Size: ref.Size, Offset: 1, Bytes: content[1:]},
		{Hash: ref.Hash, Size: ref.Size, Bytes: content},
		{Hash: ref.Hash, Size: ref.Size, Offset: ref.Size, Bytes: nil},
		{Hash: ref.Hash, Size: merge.BlobBytesMax + 1, Bytes: content[:store.ChunkBytes]},
		{Hash: ref.Hash},
	} {
		if _, err := s.AddChunk(t.Context(), c); !errors.Is(err, store.ErrMismatch) {
			t.Errorf("malformed chunk %d: %v, want ErrMismatch", i, err)
		}
	}
	wrong := bytes.Clone(content)
	wrong[7]++
	mustAdd(t, s, ref, wrong, 0)
	if _, err := s.AddChunk(t.Context(), chunkOf(ref, content, store.ChunkBytes)); !errors.Is(err, store.ErrMismatch) {
		t.Errorf("the last chunk over a wrong one: %v, want ErrMismatch", err)
	}
	mustVerify(t, s)
	if wanted := wantedOf(t, s); len(wanted) != 1 || wanted[0].Present != 0 {
		t.Errorf("wanted are %+v, want the blob from its beginning", wanted)
	}
	// Somebody who lies about the size is corrected by the next who does not.
	lie := make([]byte, 2*store.ChunkBytes)
	mustAdd(t, s, merge.BlobRef{Hash: ref.Hash, Size: int64(len(lie))}, lie, 0)
	mustAdd(t, s, ref, content, 0)
	mustAdd(t, s, ref, content, store.ChunkBytes)
	wantBlob(t, s, content, nil)
	mustVerify(t, s)
}

func testPutOverChunks(t *testing.T, open Opener) {
	t.Helper()
	s := mustOpen(t, open, t.TempDir(), Config(1))
	content := contentOf(1, 5*store.ChunkBytes)
	ref := blobOf(content)
	mustRefer(t, s, NewAuthor("anna", at(0)), Key("memory", "", "k"), "1", ref)
	mustAdd(t, s, ref, make([]byte, len(content)), 0)
	_, release := mustPut(t, s, content)
	defer release()
	wantBlob(t, s, content, nil)
	if wanted := wantedOf(t, s); len(wanted) > 0 {
		t.Errorf("%d blobs are wanted still", len(wanted))
	}
	mustVerify(t, s)
}
