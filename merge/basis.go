package merge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/hlc"
)

// Basis is what the writer of a version had seen of its key: for each writer
// the newest stamp of that writer's versions, the version's own stamp
// included. Entries are sorted by writer and distinct. A Basis is not changed
// once built; the zero value is empty.
type Basis []BasisEntry

// BasisEntry is one writer's newest seen stamp.
type BasisEntry struct {
	Writer InstanceID
	Stamp  hlc.Timestamp
}

// Stamp returns the entry of a writer; zero, which precedes every stamp, when
// there is none.
func (b Basis) Stamp(writer InstanceID) hlc.Timestamp {
	if i, found := b.search(writer); found {
		return b[i].Stamp
	}
	return hlc.Timestamp{}
}

func (b Basis) search(writer InstanceID) (int, bool) {
	return slices.BinarySearchFunc(b, writer, func(e BasisEntry, w InstanceID) int {
		return strings.Compare(string(e.Writer), string(w))
	})
}

// With returns b with the entry of writer raised to stamp; entries never fall,
// and a zero stamp adds none.
func (b Basis) With(writer InstanceID, stamp hlc.Timestamp) Basis {
	i, found := b.search(writer)
	if !stamp.After(b.Stamp(writer)) {
		return b
	}
	if found {
		b = slices.Clone(b)
		b[i].Stamp = stamp
		return b
	}
	return slices.Insert(slices.Clone(b), i, BasisEntry{writer, stamp})
}

// Join returns the entrywise maximum of both.
func (b Basis) Join(other Basis) Basis {
	for _, e := range other {
		b = b.With(e.Writer, e.Stamp)
	}
	return b
}

// trim drops entries until BasisMax are left: the oldest stamps first, those
// of writers for whom keep is true only when nothing else is left, and that of
// self never. A dropped entry can only show a conflict that is none; it never
// hides one.
func (b Basis) trim(self InstanceID, keep func(InstanceID) bool) Basis {
	if len(b) <= BasisMax {
		return b
	}
	rank := func(e BasisEntry) int {
		switch {
		case e.Writer == self:
			return 2
		case keep(e.Writer):
			return 1
		}
		return 0
	}
	kept := slices.Clone(b)
	slices.SortFunc(kept, func(x, y BasisEntry) int {
		if c := rank(y) - rank(x); c != 0 {
			return c
		}
		if c := y.Stamp.Compare(x.Stamp); c != 0 {
			return c
		}
		// As versions are ordered, so that the entry of the head stays.
		return strings.Compare(string(y.Writer), string(x.Writer))
	})
	kept = kept[:BasisMax]
	slices.SortFunc(kept, func(x, y BasisEntry) int {
		return strings.Compare(string(x.Writer), string(y.Writer))
	})
	return kept
}

// validate checks the basis of a version by writer at stamp: sorted, within
// the limit, an own entry equal to the stamp, none above it and none of zero. Errors:
// ErrMalformed.
func (b Basis) validate(writer InstanceID, stamp hlc.Timestamp) error {
	if len(b) > BasisMax {
		return fmt.Errorf("%w: basis of %d writers, at most %d", ErrMalformed, len(b), BasisMax)
	}
	for i, e := range b {
		if err := e.Writer.validate(); err != nil {
			return err
		}
		if i > 0 && b[i-1].Writer >= e.Writer {
			return fmt.Errorf("%w: basis not ascending", ErrMalformed)
		}
		if e.Stamp.IsZero() || !e.Stamp.Valid() || e.Stamp.After(stamp) {
			return fmt.Errorf("%w: basis entry %s, the stamp is %s", ErrMalformed, e.Stamp, stamp)
		}
	}
	if own := b.Stamp(writer); own != stamp {
		return fmt.Errorf("%w: basis says %s for its own writer, the stamp is %s", ErrMalformed, own, stamp)
	}
	return nil
}
