package merge_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/merge/mergetest"
)

func counted(n int) hlc.Timestamp {
	return hlc.Timestamp{Wall: mergetest.WallBase, Counter: uint16(n)}
}

// seen builds a basis of counters.
func seen(counters map[string]int) merge.Basis {
	var b merge.Basis
	for w, n := range counters {
		b = b.With(merge.InstanceID(w), counted(n))
	}
	return b
}

func version(writer string, n int, basis merge.Basis) merge.Version {
	return merge.Version{
		Writer: merge.InstanceID(writer), Stamp: counted(n), Hash: merge.Hash{byte(n)},
		Basis: basis.With(merge.InstanceID(writer), counted(n)), SyncVersion: int64(n),
	}
}

// TestSupersede holds I4.
func TestSupersede(t *testing.T) {
	loser := version("b", 3, seen(map[string]int{"c": 1}))
	own := version("me", 4, seen(map[string]int{"d": 2}))
	head := version("a", 5, seen(map[string]int{"c": 2, "e": 1}))
	newer := version("me", 6, seen(map[string]int{"f": 3}))
	last := version("a", 5, nil)
	last.SyncVersion = math.MaxInt64
	for _, c := range []struct {
		name      string
		supersede func([]merge.Version, *merge.Version, merge.InstanceID, hlc.Timestamp) (merge.Basis, int64)
		held      []merge.Version
		own       *merge.Version
		want      merge.Basis
		covers    []merge.Version
		leaves    []merge.Version
		version   int64
	}{
		{
			name:      "the first write of a key has seen itself",
			supersede: merge.Supersede,
			want:      seen(map[string]int{"me": 9}), version: 1,
		},
		{
			name:      "a write covers the head and leaves the conflict",
			supersede: merge.Supersede,
			held:      []merge.Version{loser, head},
			want:      seen(map[string]int{"a": 5, "c": 2, "e": 1, "me": 9}),
			covers:    []merge.Version{head}, leaves: []merge.Version{loser}, version: 6,
		},
		{
			name:      "a write covers the head and the writer's own conflict, with what that had seen",
			supersede: merge.Supersede,
			held:      []merge.Version{loser, own, head},
			want:      seen(map[string]int{"a": 5, "c": 2, "d": 2, "e": 1, "me": 9}),
			covers:    []merge.Version{own, head}, leaves: []merge.Version{loser}, version: 6,
		},
		{
			name:      "a write knows what the writer's own version in history had seen",
			supersede: merge.Supersede,
			held:      []merge.Version{loser, head}, own: &own,
			want:   seen(map[string]int{"a": 5, "c": 2, "d": 2, "e": 1, "me": 9}),
			covers: []merge.Version{head}, leaves: []merge.Version{loser}, version: 6,
		},
		{
			name:      "the writer's own version may be the head",
			supersede: merge.Supersede,
			held:      []merge.Version{loser, newer},
			want:      seen(map[string]int{"f": 3, "me": 9}),
			covers:    []merge.Version{newer}, leaves: []merge.Version{loser}, version: 7,
		},
		{
			name:      "a write that settles covers all",
			supersede: merge.SupersedeAll,
			held:      []merge.Version{loser, head}, own: &own,
			want:   seen(map[string]int{"a": 5, "b": 3, "c": 2, "d": 2, "e": 1, "me": 9}),
			covers: []merge.Version{loser, head}, version: 6,
		},
		{
			name:      "a sync version at its maximum stays there",
			supersede: merge.Supersede,
			held:      []merge.Version{last},
			want:      seen(map[string]int{"a": 5, "me": 9}),
			covers:    []merge.Version{last}, version: math.MaxInt64,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			basis, syncVersion := c.supersede(c.held, c.own, "me", counted(9))
			if diff := gocmp.Diff(c.want, basis); diff != "" || syncVersion != c.version {
				t.Fatalf("sync version %d, want %d; basis (-want +got):\n%s", syncVersion, c.version, diff)
			}
			written := merge.Version{Writer: "me", Stamp: counted(9), Basis: basis}
			held, covered, added := merge.Insert(c.held, written)
			if !added || len(held) != len(c.leaves)+1 {
				t.Errorf("held after the write: %v, %v", held, added)
			}
			if diff := gocmp.Diff(c.covers, covered); diff != "" {
				t.Errorf("covered (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSupersedeOfAnything holds I4 over forged versions: whatever is held, the
// write passes the format, becomes the head and covers what it should.
func TestSupersedeOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known := mergetest.Forged(10).Draw(t, "versions")
		held := merge.Resolve(known)
		var own *merge.Version
		if len(known) > 0 && rapid.Bool().Draw(t, "own in history") {
			own = &known[0]
			own.Writer = "me"
		}
		writer := rapid.SampledFrom([]merge.InstanceID{"me", "a"}).Draw(t, "writer")
		draft := merge.Record{
			Key: merge.Key{Kind: "skill", ID: "deploy"},
			Envelope: merge.Envelope{
				OriginInstanceID: writer, LastWriterID: writer,
				UpdatedHLC: hlc.Timestamp{Wall: mergetest.WallBase + 10},
			},
		}
		env := &draft.Envelope
		settle := rapid.Bool().Draw(t, "settle")
		if settle {
			draft.Basis, env.SyncVersion = merge.SupersedeAll(held, own, writer, env.UpdatedHLC)
		} else {
			draft.Basis, env.SyncVersion = merge.Supersede(held, own, writer, env.UpdatedHLC)
		}
		record, err := merge.Seal(draft, merge.Unsigned, nil)
		if err != nil {
			t.Fatalf("the write does not pass: %v", err)
		}
		next, _, _ := merge.Insert(held, record.Version())
		if head, _ := merge.Head(next); head.Hash != record.Hash() {
			t.Errorf("the write is not the head: %v", next)
		}
		oldHead, _ := merge.Head(held)
		for _, h := range held {
			mustCover := settle || h.Writer == writer || h.Hash == oldHead.Hash
			if mustCover && !merge.Covers(record.Version(), h) {
				t.Errorf("the write does not cover %v", h)
			}
		}
	})
}

// manyWriters returns one version of each of n writers, w000 the oldest, none
// aware of another.
func manyWriters(n int) []merge.Version {
	var versions []merge.Version
	for i := range n {
		versions = append(versions, version(fmt.Sprintf("w%03d", i), i+1, nil))
	}
	return versions
}

func TestTrimOfALongBasis(t *testing.T) {
	const writers = 80
	all := manyWriters(writers)
	long := func(from, to int) merge.Basis {
		var b merge.Basis
		for _, v := range all[from:to] {
			b = b.With(v.Writer, v.Stamp)
		}
		return b
	}
	at := counted(1000)

	t.Run("the oldest stamps go first and the own entry stays", func(t *testing.T) {
		head := version("w063", 64, long(0, 63)) // 64 writers, none of them me
		basis, _ := merge.Supersede([]merge.Version{head}, nil, "me", at)
		if diff := gocmp.Diff(long(1, 64).With("me", at), basis); diff != "" {
			t.Errorf("basis (-want +got):\n%s", diff)
		}
	})

	t.Run("a basis of exactly 64 writers is kept whole", func(t *testing.T) {
		head := version("w062", 63, long(0, 62))
		basis, _ := merge.Supersede([]merge.Version{head}, nil, "me", at)
		if diff := gocmp.Diff(long(0, 63).With("me", at), basis); diff != "" || len(basis) != merge.BasisMax {
			t.Errorf("basis of %d (-want +got):\n%s", len(basis), diff)
		}
	})

	t.Run("entries of held writers go last, however old", func(t *testing.T) {
		held := []merge.Version{all[0], version("w079", 80, long(10, 79))}
		basis, _ := merge.SupersedeAll(held, nil, "me", at)
		want := long(80-62, 80).With("w000", all[0].Stamp).With("me", at)
		if diff := gocmp.Diff(want, basis); diff != "" {
			t.Errorf("basis (-want +got):\n%s", diff)
		}
	})

	t.Run("of 80 conflicts under one stamp the head is covered", func(t *testing.T) {
		held := slices.Clone(all)
		for i, v := range held {
			held[i] = version(string(v.Writer), 1, nil)
		}
		held = merge.Resolve(held)
		basis, _ := merge.SupersedeAll(held, nil, "a", at)
		head, _ := merge.Head(held)
		if len(basis) != merge.BasisMax || basis.Stamp(head.Writer) != head.Stamp || basis.Stamp("a") != at {
			t.Errorf("basis of %d lacks the head %s or itself: %v", len(basis), head.Writer, basis)
		}
	})
}

// TestTrimOnlyShowsFalseConflicts compares a write over more than 64 writers
// with one whose basis is not trimmed: it covers nothing that the other does
// not, and neither the head nor the own version is among what it leaves.
func TestTrimOnlyShowsFalseConflicts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		writers := manyWriters(rapid.IntRange(65, 90).Draw(t, "writers"))
		held := merge.Resolve(someOf(t, writers))
		head := version("w999", 500, nil)
		for _, v := range someOf(t, writers) {
			head.Basis = head.Basis.With(v.Writer, v.Stamp)
		}
		held = append(held, head)
		me := rapid.SampledFrom(writers).Draw(t, "me")
		at := counted(1000)
		basis, _ := merge.SupersedeAll(held, &me, me.Writer, at)

		var whole merge.Basis
		for _, v := range append(held, me) {
			whole = whole.Join(v.Basis).With(v.Writer, v.Stamp)
		}
		whole = whole.With(me.Writer, at)

		if len(basis) != min(len(whole), merge.BasisMax) || basis.Stamp(me.Writer) != at {
			t.Fatalf("basis of %d out of %d: %v", len(basis), len(whole), basis)
		}
		for _, e := range basis {
			if whole.Stamp(e.Writer) != e.Stamp {
				t.Fatalf("trimming changed the entry of %s to %s", e.Writer, e.Stamp)
			}
		}
		trimmed := merge.Version{Writer: me.Writer, Stamp: at, Basis: basis}
		for _, v := range held {
			must := v.Hash == head.Hash || v.Writer == me.Writer
			if must && !merge.Covers(trimmed, v) {
				t.Fatalf("the write does not cover %v", v)
			}
		}
	})
}

// TestSettlingMoreThanABasisNames: SupersedeAll covers the newest held versions,
// as many as a basis has room for beside its own writer, and leaves the oldest.
// Whoever has seen that write covers the rest with the next.
func TestSettlingMoreThanABasisNames(t *testing.T) {
	var held []merge.Version
	for i := range merge.BasisMax + 10 {
		held = append(held, version(fmt.Sprintf("w%03d", i), i+1, nil))
	}
	for round, leaves := range []int{11, 0} {
		at := counted(1000 + round)
		basis, _ := merge.SupersedeAll(held, nil, "me", at)
		next, _, added := merge.Insert(held, merge.Version{Writer: "me", Stamp: at, Basis: basis})
		if !added || len(next) != leaves+1 {
			t.Fatalf("round %d: %d versions are held", round, len(next))
		}
		if diff := gocmp.Diff(held[:leaves], next[:leaves]); diff != "" {
			t.Errorf("round %d leaves (-want +got):\n%s", round, diff)
		}
		held = next
	}
}

func TestBasisIsAPersistentMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := map[merge.InstanceID]hlc.Timestamp{}
		var basis merge.Basis
		for range rapid.IntRange(0, 20).Draw(t, "entries") {
			w := rapid.SampledFrom([]merge.InstanceID{"a", "b", "c", "d", ""}).Draw(t, "writer")
			s := rapid.OneOf(rapid.Just(hlc.Timestamp{}), mergetest.Stamp()).Draw(t, "stamp")
			before := slices.Clone(basis)
			next := basis.With(w, s)
			if !slices.Equal(before, basis) {
				t.Fatalf("With changed its receiver from %v to %v", before, basis)
			}
			basis = next
			if s.After(model[w]) {
				model[w] = s
			}
		}
		if len(basis) != len(model) {
			t.Fatalf("basis %v, want %v", basis, model)
		}
		for i, e := range basis {
			if model[e.Writer] != e.Stamp || basis.Stamp(e.Writer) != e.Stamp {
				t.Errorf("entry of %q is %s, want %s", e.Writer, e.Stamp, model[e.Writer])
			}
			if i > 0 && basis[i-1].Writer >= e.Writer {
				t.Errorf("basis %v is not ascending", basis)
			}
		}
	})
}
