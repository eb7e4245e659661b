package storetest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// testBlobFaults fails each update of a course of blob operations in turn, in
// each way, and loses the process there. What is left agrees, everything that
// was acknowledged is there, and the course can be gone again.
func testBlobFaults(t *testing.T, open Opener) {
	t.Helper()
	for _, fault := range []Fault{FaultBefore, FaultWrite, FaultCommit, FaultAfter} {
		for n := 1; ; n++ {
			engine := lasting{open(t, t.TempDir())}
			armed := false
			begun := 0
			faulty := &Faulty{Engine: engine, Plan: func(int) Fault {
				if !armed {
					return FaultNone
				}
				if begun++; begun == n {
					return fault
				}
				return FaultNone
			}}
			s, err := store.Open(faulty, blobConfig(1))
			if err != nil {
				t.Fatal(err)
			}
			armed = true
			err = blobCourse(t, s)
			armed = false
			if err != nil && !errors.Is(err, ErrInjected) {
				t.Fatalf("fault %d at update %d: %v", fault, n, err)
			}
			if s, err = store.Open(engine, blobConfig(2)); err != nil {
				t.Fatal(err)
			}
			mustVerify(t, s)
			if err := blobCourse(t, s); err != nil {
				t.Fatalf("fault %d at update %d, again: %v", fault, n, err)
			}
			mustVerify(t, s)
			wantBlob(t, s, contentOf(3, 2*store.ChunkBytes), nil)
			wantBlob(t, s, contentOf(1, 4*store.ChunkBytes), store.ErrNotFound)
			if err := engine.Engine.Close(); err != nil {
				t.Fatal(err)
			}
			if begun < n {
				break // the course had no such update
			}
		}
	}
}

func blobConfig(seed byte) store.Config {
	cfg := Config(seed)
	cfg.HistoryMax = 1
	return cfg
}

// blobCourse puts content and writes a version that refers to it, fetches that
// of another version, and covers the first until nothing refers to it. It may
// be gone again: what is there already is no error.
func blobCourse(t *testing.T, s *store.Store) error {
	t.Helper()
	k, anna := Key("memory", "", "k"), NewAuthor("anna", at(0))
	put, fetched := contentOf(1, 4*store.ChunkBytes), contentOf(3, 2*store.ChunkBytes)
	ref, release, err := s.PutBlob(t.Context(), put)
	if err != nil {
		return err
	}
	defer release()
	merged := func(records ...merge.Record) error {
		_, err := s.Merge(t.Context(), store.Batch{Path: store.PathFeed, Records: records})
		return err
	}
	if err := merged(anna.Refer(k, "put", 1, ref)); err != nil {
		return err
	}
	release()
	if err := merged(anna.Refer(Key("memory", "", "fetched"), "body", 1, blobOf(fetched))); err != nil {
		return err
	}
	for offset := int64(0); offset < int64(len(fetched)); offset += store.ChunkBytes {
		if _, err := s.AddChunk(t.Context(), chunkOf(blobOf(fetched), fetched, offset)); err != nil {
			return err
		}
	}
	for range 2 { // what history lets go of came before, and in the same update
		var later []merge.Record
		for range 9 {
			later = append(later, anna.Write(k, "later", 1))
		}
		if err := merged(later...); err != nil {
			return err
		}
	}
	return s.SetLocal(t.Context(), "name", []byte("value"))
}

// testBlobDamage damages each row of blobs in turn. The content is the right one
// or an error; and where it was an error it is wanted again, and whole once a
// peer has sent it.
func testBlobDamage(t *testing.T, open Opener) {
	t.Helper()
	engine := lasting{open(t, t.TempDir())}
	t.Cleanup(func() {
		if err := engine.Engine.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	content := contentOf(1, 2*store.ChunkBytes+5)
	s, err := store.Open(engine, Config(1))
	if err != nil {
		t.Fatal(err)
	}
	ref, release := mustPut(t, s, content)
	defer release()
	mustRefer(t, s, NewAuthor("anna", at(0)), Key("memory", "", "k"), "1", ref)
	rows := readRows(t, engine)
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		if !strings.HasPrefix(key, "b/c") && !strings.HasPrefix(key, "b/s") {
			continue
		}
		flipped := []byte(rows[key])
		flipped[len(flipped)/2] ^= 4
		for name, damaged := range map[string]string{"flipped": string(flipped), "cut": rows[key][1:], "empty": "", "lost": "lost"} {
			damage := maps.Clone(rows)
			if damage[key] = damaged; name == "lost" {
				delete(damage, key)
			}
			writeRows(t, engine, damage)
			s, err := store.Open(engine, Config(2))
			if err != nil {
				t.Fatal(err)
			}
			wantBlob(t, s, content, store.ErrCorrupt)
			if wanted := wantedOf(t, s); len(wanted) != 1 || wanted[0].Present != 0 {
				t.Fatalf("%s %q: wanted are %+v, want the blob from its beginning", name, key, wanted)
			}
			for offset := int64(0); offset < ref.Size; offset += store.ChunkBytes {
				mustAdd(t, s, ref, content, offset)
			}
			wantBlob(t, s, content, nil)
			mustVerify(t, s)
		}
	}
}
