package merge

import (
	"math"
	"slices"

	"github.com/fleetsync/fleetd/hlc"
)

// Resolve returns the versions that a key holds out of all that are known of
// it: those that no other covers, ascending, so that the last is the head and
// the others are conflicts. Only admitted versions may be passed. The argument
// is not changed.
func Resolve(versions []Version) []Version {
	sorted := slices.Clone(versions)
	slices.SortFunc(sorted, Compare)
	sorted = slices.CompactFunc(sorted, func(a, b Version) bool { return Compare(a, b) == 0 })
	var held []Version
	for i, v := range sorted {
		if !slices.ContainsFunc(sorted[i+1:], func(w Version) bool { return Covers(w, v) }) {
			held = append(held, v)
		}
	}
	return held
}

// Insert joins one version into the held versions of a key, which must be the
// result of Resolve or Insert. It returns the new held versions, ascending,
// and those of the old ones that v covers. added is false, and held comes back
// as it was, when v is already there or covered.
func Insert(held []Version, v Version) (next, covered []Version, added bool) {
	for _, h := range held {
		if Compare(h, v) == 0 || Covers(h, v) {
			return held, nil, false
		}
	}
	next = make([]Version, 0, len(held)+1)
	for _, h := range held {
		if Covers(v, h) {
			covered = append(covered, h)
			continue
		}
		next = append(next, h)
	}
	at, _ := slices.BinarySearchFunc(next, v, Compare)
	return slices.Insert(next, at, v), covered, true
}

// Head returns the largest of held versions; ok is false when there is none.
func Head(held []Version) (head Version, ok bool) {
	if len(held) == 0 {
		return Version{}, false
	}
	return held[len(held)-1], true
}

// Supersede returns the basis and the sync version of a new write by writer at
// stamp, on a key that holds these versions: the basis of the head, and of the
// writer's newest own admissible version when it is not held any more (nil
// when there is none), joined, with the head's stamp and the new one. The
// write covers the head and the writer's own version; other conflicts stay
// until somebody settles them with SupersedeAll.
func Supersede(held []Version, own *Version, writer InstanceID, stamp hlc.Timestamp) (Basis, int64) {
	var seen []Version
	if head, ok := Head(held); ok {
		seen = append(seen, head)
	}
	for _, h := range held {
		if h.Writer == writer {
			seen = append(seen, h)
		}
	}
	if own != nil {
		seen = append(seen, *own)
	}
	return supersede(held, seen, writer, stamp)
}

// SupersedeAll is Supersede for a write that settles a conflict: it covers
// every held version, of BasisMax writers at most, its own included. Of more it
// leaves the oldest; a further write that has seen this one covers them, and
// settles them once the first has reached every store.
func SupersedeAll(held []Version, own *Version, writer InstanceID, stamp hlc.Timestamp) (Basis, int64) {
	seen := slices.Clone(held)
	if own != nil {
		seen = append(seen, *own)
	}
	return supersede(held, seen, writer, stamp)
}

func supersede(held, seen []Version, writer InstanceID, stamp hlc.Timestamp) (Basis, int64) {
	var basis Basis
	for _, v := range seen {
		basis = basis.Join(v.Basis).With(v.Writer, v.Stamp)
	}
	var syncVersion int64
	for _, h := range held {
		syncVersion = max(syncVersion, h.SyncVersion)
	}
	isHeld := func(w InstanceID) bool {
		return slices.ContainsFunc(held, func(h Version) bool { return h.Writer == w })
	}
	if syncVersion < math.MaxInt64 { // it stops there, or one forged version would close the key
		syncVersion++
	}
	return basis.With(writer, stamp).trim(writer, isHeld), syncVersion
}
