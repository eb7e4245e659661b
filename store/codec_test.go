package store_test

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// genInstance draws a writer, a key more often than a text.
func genInstance() *rapid.Generator[merge.InstanceID] {
	return rapid.Custom(func(t *rapid.T) merge.InstanceID {
		if rapid.IntRange(0, 3).Draw(t, "text") == 0 {
			return rapid.SampledFrom([]merge.InstanceID{"local", "a", "zoe", merge.InstanceID(strings.Repeat("x", 128))}).Draw(t, "id")
		}
		return merge.InstanceOf(ed25519.PublicKey(bytes.Repeat([]byte{rapid.Byte().Draw(t, "key")}, 32)))
	})
}

func genStamp(maximum int64) *rapid.Generator[hlc.Timestamp] {
	return rapid.Custom(func(t *rapid.T) hlc.Timestamp {
		return hlc.Timestamp{Wall: rapid.Int64Range(1, maximum).Draw(t, "wall"), Counter: rapid.Uint16().Draw(t, "counter")}
	})
}

func genHeld() *rapid.Generator[store.Held] {
	return rapid.Custom(func(t *rapid.T) store.Held {
		writer, stamp := genInstance().Draw(t, "writer"), genStamp(hlc.WallMax).Draw(t, "stamp")
		basis := merge.Basis{}.With(writer, stamp)
		for _, other := range rapid.SliceOfN(genInstance(), 0, 5).Draw(t, "seen") {
			if other != writer {
				basis = basis.With(other, genStamp(stamp.Wall).Draw(t, "seen at"))
			}
		}
		return store.Held{
			Version: merge.Version{
				Writer: writer, Stamp: stamp, Hash: merge.Hash(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash")), Basis: basis,
				SyncVersion: rapid.Int64Range(1, 1<<62).Draw(t, "version"), Deleted: rapid.Bool().Draw(t, "deleted"),
			},
			Seq: rapid.Uint64().Draw(t, "seq"), Event: rapid.Uint64().Draw(t, "event"), Size: rapid.IntRange(0, 1<<40).Draw(t, "size"),
		}
	})
}

func genRow() *rapid.Generator[store.Row] {
	return rapid.Custom(func(t *rapid.T) store.Row {
		held := rapid.SliceOfN(genHeld(), 0, 5).Draw(t, "held")
		slices.SortFunc(held, func(a, b store.Held) int { return merge.Compare(a.Version, b.Version) })
		return store.Row{Held: held, History: rapid.IntRange(0, 1<<40).Draw(t, "history")}
	})
}

func TestRowCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genRow().Draw(t, "row")
		b := store.AppendRow(nil, want)
		got, err := store.DecodeRow(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("decoded row differs (-want +got):\n%s", diff)
		}
		if bound := store.RowBytes(want); len(b) > bound {
			t.Errorf("%d bytes, RowBytes says at most %d", len(b), bound)
		}
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if _, err := store.DecodeRow(b[:cut]); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("a row cut at %d of %d gives %v, want ErrCorrupt", cut, len(b), err)
		}
		if _, err := store.DecodeRow(append(b, 0)); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("a row with a byte after it gives %v, want ErrCorrupt", err)
		}
	})
}

func FuzzRow(f *testing.F) {
	for i := range 20 {
		f.Add(store.AppendRow(nil, genRow().Example(i)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := store.DecodeRow(b)
		if err != nil {
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("error %v, want ErrCorrupt", err)
			}
			return
		}
		if again := store.AppendRow(nil, r); !bytes.Equal(again, b) {
			t.Errorf("%x is read as what is written %x", b, again)
		}
	})
}

func FuzzOtherRows(f *testing.F) {
	decoders := store.Decoders()
	names := slices.Sorted(maps.Keys(decoders))
	for i := range names {
		f.Add(i, store.AppendRow(nil, genRow().Example(i)))
	}
	f.Add(slices.Index(names, "s/"), []byte("\x07skill\x00a\x05local"))
	f.Add(slices.Index(names, "c/"), make([]byte, 32))
	f.Add(slices.Index(names, "m/section/"), append([]byte("\x08skill\x1f\x1f\x1f"), make([]byte, 49)...))
	f.Add(slices.Index(names, "e/"), append([]byte("\x01\x01t\x00\x00\x00\x00\x00\x00\x00\x01\x07skill\x00a\x05local"), make([]byte, 32)...))
	f.Fuzz(func(t *testing.T, which int, b []byte) {
		if which < 0 || which >= len(names) {
			return
		}
		again, err := decoders[names[which]](b)
		switch {
		case err != nil && !errors.Is(err, store.ErrCorrupt):
			t.Errorf("%s: error %v, want ErrCorrupt", names[which], err)
		case err == nil && !bytes.Equal(again, b):
			t.Errorf("%s: %x is read as what is written %x", names[which], b, again)
		}
	})
}

// TestKeyOrder: keys of the engine lie in the order of the keys that they stand
// for, and none is the beginning of another.
func TestKeyOrder(t *testing.T) {
	component := rapid.StringOfN(rapid.SampledFrom([]rune("ab. ~é")), 1, 4, -1)
	genKey := rapid.Custom(func(t *rapid.T) merge.Key {
		kind := rapid.SampledFrom([]string{"skill", "skill.outcome", "skill.o"}).Draw(t, "kind")
		return merge.Key{Kind: kind, ID: merge.NewID(rapid.SliceOfN(component, 1, 3).Draw(t, "id")...)}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := genKey.Draw(t, "a"), genKey.Draw(t, "b")
		x, y := store.RowKeys(a, b)
		if got, want := cmp.Compare(x, y), cmp.Compare(a.Order(), b.Order()); got != want {
			t.Errorf("%q and %q compare %d, their keys %d", a.Order(), b.Order(), want, got)
		}
		if a != b && strings.HasPrefix(y, x) {
			t.Errorf("%q begins %q", x, y)
		}
	})
}

// TestJoin: join is merge.Insert.
func TestJoin(t *testing.T) {
	writer := rapid.SampledFrom([]merge.InstanceID{"a", "b", "c"})
	small := rapid.Custom(func(t *rapid.T) store.Held {
		stamp := func(label string, maximum int64) hlc.Timestamp {
			return hlc.Timestamp{Wall: rapid.Int64Range(1, maximum).Draw(t, label)}
		}
		w, at := writer.Draw(t, "writer"), stamp("stamp", 6)
		basis := merge.Basis{}.With(w, at)
		for _, other := range rapid.SliceOfN(writer, 0, 2).Draw(t, "seen") {
			if other != w {
				basis = basis.With(other, stamp("seen at", at.Wall))
			}
		}
		return store.Held{Version: merge.Version{Writer: w, Stamp: at, Basis: basis, Hash: merge.Hash{byte(rapid.IntRange(0, 1).Draw(t, "hash"))}}}
	})
	rapid.Check(t, func(t *rapid.T) {
		var held []store.Held
		var want []merge.Version
		for _, h := range rapid.SliceOfN(small, 1, 8).Draw(t, "versions") {
			var covered, wantCovered []merge.Version
			next, dropped, added := store.Join(held, h)
			covered = store.Versions(dropped)
			want, wantCovered, _ = merge.Insert(want, h.Version)
			held = next
			if diff := gocmp.Diff(wantCovered, covered, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("covered differ (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(want, store.Versions(held), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("held differ, added %v (-want +got):\n%s", added, diff)
			}
		}
	})
}
