package mergetest

import (
	"slices"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Twin is one key of a store, by the words of the design: it keeps every
// version that ever came and works everything out anew. The zero value is a
// key without versions. Not safe for concurrent use.
type Twin struct{ known []merge.Version }

// Add takes a version; one that is known already is no harm.
func (t *Twin) Add(v merge.Version) { t.known = append(t.known, v) }

// Known returns every version that ever came, in the order of arrival.
func (t *Twin) Known() []merge.Version { return slices.Clone(t.known) }

// Held returns every version that no other covers, ascending.
func (t *Twin) Held() []merge.Version {
	var held []merge.Version
	for _, v := range t.known {
		covered, listed := false, false
		for _, w := range t.known {
			covered = covered || covers(w, v)
		}
		for _, h := range held {
			listed = listed || same(h, v)
		}
		if !covered && !listed {
			held = append(held, v)
		}
	}
	slices.SortFunc(held, func(a, b merge.Version) int {
		if larger(a, b) {
			return 1
		}
		return -1
	})
	return held
}

// LastWriterWins returns the largest version of all that ever came; ok is false
// when none has.
func (t *Twin) LastWriterWins() (last merge.Version, ok bool) {
	for i, v := range t.known {
		if i == 0 || larger(v, last) {
			last = v
		}
	}
	return last, len(t.known) > 0
}

// Next returns basis and sync version of a write by writer at stamp: the head's
// basis and stamp, joined with the basis of the writer's newest own version and
// its own new stamp; with settle, those of every held version.
func (t *Twin) Next(writer merge.InstanceID, stamp hlc.Timestamp, settle bool) (merge.Basis, int64) {
	newest := map[merge.InstanceID]hlc.Timestamp{}
	see := func(w merge.InstanceID, s hlc.Timestamp) {
		if old, found := newest[w]; !found || earlier(old, s) {
			newest[w] = s
		}
	}
	held := t.Held()
	var syncVersion int64
	for i, h := range held {
		syncVersion = max(syncVersion, h.SyncVersion)
		if isHead := i == len(held)-1; settle || isHead {
			see(h.Writer, h.Stamp)
			for _, e := range h.Basis {
				see(e.Writer, e.Stamp)
			}
		}
	}
	if own, found := t.newestOf(writer); found {
		for _, e := range own.Basis {
			see(e.Writer, e.Stamp)
		}
	}
	see(writer, stamp)
	var basis merge.Basis
	for w, s := range newest {
		basis = append(basis, merge.BasisEntry{Writer: w, Stamp: s})
	}
	slices.SortFunc(basis, func(a, b merge.BasisEntry) int {
		if a.Writer > b.Writer {
			return 1
		}
		return -1
	})
	return basis, syncVersion + 1
}

func (t *Twin) newestOf(writer merge.InstanceID) (own merge.Version, found bool) {
	for _, v := range t.known {
		if v.Writer == writer && (!found || larger(v, own)) {
			own, found = v, true
		}
	}
	return own, found
}

func earlier(a, b hlc.Timestamp) bool {
	if a.Wall != b.Wall {
		return a.Wall < b.Wall
	}
	return a.Counter < b.Counter
}

// larger: by stamp, then by the bytes of the writer, then by item hash.
func larger(w, v merge.Version) bool {
	switch {
	case w.Stamp != v.Stamp:
		return earlier(v.Stamp, w.Stamp)
	case w.Writer != v.Writer:
		return w.Writer > v.Writer
	}
	return string(w.Hash[:]) > string(v.Hash[:])
}

func same(a, b merge.Version) bool { return !larger(a, b) && !larger(b, a) }

// covers: w is larger, and its basis holds a stamp of v's writer that is not
// earlier than v's.
func covers(w, v merge.Version) bool {
	for _, e := range w.Basis {
		if e.Writer == v.Writer && larger(w, v) {
			return !earlier(e.Stamp, v.Stamp)
		}
	}
	return false
}
