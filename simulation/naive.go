package simulation

import (
	"cmp"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// What replicas must hold, worked out without package merge: a version replaces
// what its writer had before its eyes when it wrote, and all that those had
// replaced, in turn. No stamp and no basis takes part in that.

// seen returns what the writer of a version has before its eyes: the head of
// the key and its own newest version, or everything when it settles a conflict.
//
// again says that a version of its own was taken away before: it covers that one,
// but not what that one had covered.
func (r *Replica) seen(rec *merge.Record, settles bool) (parents []merge.Hash, again bool, err error) {
	err = r.read(func(s *store.Reader) error {
		held, err := s.Held(rec.Key)
		if err != nil {
			return err
		}
		for i, h := range held {
			if settles || i == len(held)-1 || h.Writer == r.ID() {
				parents = append(parents, h.Hash)
			}
		}
		covered, err := s.OwnCovered(rec.Key, r.ID())
		if covered != nil {
			parents = append(parents, covered.Hash)
		}
		if err != nil {
			return err
		}
		past, err := s.RetractedOf(rec.Key)
		for i := range past {
			if past[i].Writer == r.ID() {
				parents, again = append(parents, past[i].Hash), true
			}
		}
		return err
	})
	return parents, again, err
}

// replacedBy returns what versions have replaced, directly or in turn.
func (m *model) replacedBy(versions []*written) map[merge.Hash]bool {
	replaced := map[merge.Hash]bool{}
	var visit func(h merge.Hash)
	visit = func(h merge.Hash) {
		if w := m.versions[h]; w != nil && !replaced[h] {
			replaced[h] = true
			for _, parent := range w.parents {
				visit(parent)
			}
		}
	}
	for _, w := range versions {
		for _, parent := range w.parents {
			visit(parent)
		}
	}
	return replaced
}

// resolve returns those of the versions of one key that none of the others
// replaces, in the order in which they win.
func (m *model) resolve(versions []*written) []merge.Version {
	replaced := m.replacedBy(versions)
	var left []merge.Version
	for _, w := range versions {
		if !replaced[w.record.Hash()] {
			left = append(left, w.record.Version())
		}
	}
	slices.SortFunc(left, byTime)
	return left
}

// byTime is the order in which versions win: by stamp, then by writer, then by
// hash.
func byTime(a, b merge.Version) int {
	return cmp.Or(
		cmp.Compare(a.Stamp.Wall, b.Stamp.Wall),
		cmp.Compare(a.Stamp.Counter, b.Stamp.Counter),
		cmp.Compare(a.Writer, b.Writer),
		slices.Compare(a.Hash[:], b.Hash[:]),
	)
}
