package merge_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/merge/mergetest"
)

// TestForgedBases holds what is left of I1 when writers lie in their bases, or
// share an identity unawares: stores that exchange until quiet are equal, and
// the head is still the largest version.
func TestForgedBases(t *testing.T) {
	t.Run("stores with forged versions become equal", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { convergeAnyhow(t, mergetest.Forged(10).Draw(t, "versions")) })
	})
	t.Run("stores with forged versions that honest writers built on become equal", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { convergeAnyhow(t, honestOnForged(t)) })
	})
	t.Run("stores with versions of clones become equal", func(t *testing.T) {
		clones := mergetest.Histories(mergetest.HistoryConfig{Clones: true})
		rapid.Check(t, func(t *rapid.T) {
			h := clones.Draw(t, "history")
			convergeAnyhow(t, h.Versions(h.Keys()[0]))
		})
	})
	t.Run("replicas of which two are clones become equal", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			f := newTestFleet(t, rapid.IntRange(2, 5).Draw(t, "replicas"), true)
			t.Repeat(map[string]func(*rapid.T){"write": f.Write, "deliver": f.Deliver, "exchange": f.Exchange, "pass": f.Pass})
			exchangeUntilQuiet(t, f.stores())
			checkEqualStores(t, f.stores())
		})
	})
}

// convergeAnyhow spreads versions over stores, each in an order of its own, so
// that every version is somewhere, and lets the stores exchange.
func convergeAnyhow(t *rapid.T, versions []merge.Version) {
	stores := make([]*[]merge.Version, rapid.IntRange(2, 4).Draw(t, "stores"))
	for i := range stores {
		stores[i] = new([]merge.Version)
		for _, v := range someOf(t, versions) {
			*stores[i], _, _ = merge.Insert(*stores[i], v)
		}
	}
	for _, v := range versions {
		to := stores[rapid.IntRange(0, len(stores)-1).Draw(t, "to")]
		*to, _, _ = merge.Insert(*to, v)
	}
	exchangeUntilQuiet(t, stores)
	checkEqualStores(t, stores)
	var all mergetest.Twin
	for _, v := range versions {
		all.Add(v)
	}
	checkHeld(t, *stores[0], &all)
}

func checkEqualStores(t *rapid.T, stores []*[]merge.Version) {
	for _, s := range stores {
		equalHeld(t, "one store and the first", *s, *stores[0])
	}
}

// honestOnForged adds honest writes on top of what some stores hold.
func honestOnForged(t *rapid.T) []merge.Version {
	versions := mergetest.Forged(8).Draw(t, "forged")
	for i := range rapid.IntRange(1, 4).Draw(t, "honest") {
		held := merge.Resolve(someOf(t, versions))
		v := merge.Version{
			Writer: rapid.SampledFrom([]merge.InstanceID{"a", "x", "y"}).Draw(t, "writer"),
			Stamp:  hlc.Timestamp{Wall: mergetest.WallBase + 10, Counter: uint16(i)},
			Hash:   merge.Hash{0xff, byte(i)},
		}
		v.Basis, v.SyncVersion = merge.Supersede(held, nil, v.Writer, v.Stamp)
		versions = append(versions, v)
	}
	return versions
}

// TestClonesMayHoldAConflictLonger shows why the equality of TestLaws does not
// extend to clones: a clone's version covers the other clone's, but does not
// know what that one had covered. So a version that was settled may come back
// as a conflict. It is never lost, the head is the same, and the stores agree.
func TestClonesMayHoldAConflictLonger(t *testing.T) {
	at := func(n uint16) hlc.Timestamp { return hlc.Timestamp{Wall: mergetest.WallBase, Counter: n} }
	version := func(writer merge.InstanceID, n uint16, held ...merge.Version) merge.Version {
		v := merge.Version{Writer: writer, Stamp: at(n), Hash: merge.Hash{byte(n)}}
		v.Basis, v.SyncVersion = merge.Supersede(held, nil, writer, v.Stamp)
		return v
	}
	first := version("other", 1)
	onTop := version("clone", 2, first)
	unaware := version("clone", 3)

	var early, late []merge.Version
	for _, v := range []merge.Version{first, onTop, unaware} {
		early, _, _ = merge.Insert(early, v)
	}
	for _, v := range []merge.Version{first, unaware, onTop} {
		late, _, _ = merge.Insert(late, v)
	}
	if len(early) != 1 || len(late) != 2 {
		t.Fatalf("held %d and %d versions, want 1 and 2", len(early), len(late))
	}
	for _, v := range late {
		early, _, _ = merge.Insert(early, v)
	}
	if !slices.EqualFunc(early, late, func(a, b merge.Version) bool { return a.Hash == b.Hash }) {
		t.Errorf("after the exchange the stores hold %v and %v", early, late)
	}
}
