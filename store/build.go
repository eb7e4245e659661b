package store

import (
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// Ready reports whether the digests of this opening have been built. Until then
// count and sum of the sections are those that were written, which nothing has
// proven, and no span has a digest. The feed works at once.
func (s *Store) Ready() bool { return s.digests.isReady() }

// builder makes buckets from the rows of v/.
type builder struct {
	of      map[merge.Section]*buckets
	table   *ordinals
	at      string           // the last row that was taken
	suspect map[ordinal]bool // sections with a damaged row
}

func newBuilder(of map[merge.Section]*buckets, table *ordinals) *builder {
	return &builder{of: of, table: table, suspect: map[ordinal]bool{}}
}

// rows takes so many rows, all when limit is 0. A damaged one is left out, and
// whoever reads it gets ErrCorrupt. Errors: ErrCorrupt for a key that cannot
// be, the engine's.
func (b *builder) rows(tx Txn, limit int) (more bool, err error) {
	from := []byte(prefixVersions)
	if b.at != "" {
		from = []byte(b.at + "\x00")
	}
	taken := 0
	err = tx.Scan(from, successor([]byte(prefixVersions)), false, func(key, stored []byte) (bool, error) {
		if taken++; limit > 0 && taken > limit {
			more = true
			return false, nil
		}
		b.at = string(key)
		n, order, err := splitRowKey(prefixVersions, key, 0)
		if err != nil {
			return false, err
		}
		sec, err := b.table.section(n)
		if err != nil {
			return false, fmt.Errorf("row %q: %w", key, err)
		}
		var versions row
		value, err := openValue(key, stored)
		if err == nil {
			versions, err = decodeRow(value)
		}
		if err != nil {
			b.suspect[n] = true
			return true, nil //nolint:nilerr // the section is marked, and every read of the row returns the error
		}
		to := bucketsOf(b.of, sec)
		eachByWriter(order, versions.held, func(pos Position, h *Held) bool {
			to.append(order, pos, h.Hash)
			return true
		})
		return true, nil
	})
	return more, err
}

// prove returns what a section is by its rows. One that differs from what was
// written of it, or has a damaged row, is suspect.
func (b *builder) prove(n ordinal, written SectionState) SectionState {
	var counted Digest
	if buckets := b.of[written.Section]; buckets != nil {
		counted = buckets.total()
	}
	proven := written
	proven.Digest = counted
	proven.Suspect = written.Suspect || b.suspect[n] || proven != written
	return proven
}

// build makes the digests a step at a time, between commits. Errors: as
// builder.rows, ErrClosed.
func (s *Store) build() error {
	b := newBuilder(s.digests.of, s.sections.ordinals())
	for more := true; more; {
		var err error
		if more, err = s.buildStep(b); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) buildStep(b *builder) (more bool, err error) {
	if err := s.enter(); err != nil {
		return false, err
	}
	defer s.leave()
	s.digests.building.Lock()
	defer s.digests.building.Unlock()
	if s.Ready() {
		return false, nil // everything was read anew meanwhile: see settleDoubt
	}
	d := s.digests
	d.mu.Lock()
	defer d.mu.Unlock()
	b.table = s.sections.ordinals()
	err = s.engine.View(func(tx Txn) error {
		more, err = b.rows(tx, buildRowsMax)
		return err
	})
	d.built = b.at
	if more || err != nil {
		return more, err
	}
	s.sections.prove(b.prove)
	d.ready = true
	return false, nil
}

// recut cuts the buckets in which a transaction put more than they should hold,
// or the beginning of another. Only the rows tell the sums of the parts, so
// nothing may commit meanwhile. What cannot be read stays as it is: a bucket is
// right however large it is.
func (s *Store) recut(cuts []move) {
	for i := range cuts {
		m := &cuts[i]
		sec := m.sec.state.Section
		var at Span
		var was Digest
		isCut := false // together with an earlier one
		s.digests.read(sec, func(b *buckets) {
			j := b.find(m.pos)
			at, was = Span{b.list[j].from, b.endOf(j)}, b.list[j].Digest
			isCut = i > 0 && at.After == keyPosition(m.order)
		})
		if isCut {
			continue
		}
		finer := newBuckets()
		err := s.view(nil, func(r *Reader) error {
			return r.Items(sec, at, func(item Item) (more bool) {
				finer.append(item.Key.Order(), item.Position, item.Hash)
				return true
			})
		})
		if err == nil && finer.total() == was && len(finer.list) > 1 {
			s.digests.mu.Lock()
			b := s.digests.of[sec]
			b.replace(b.find(m.pos), finer)
			s.digests.mu.Unlock()
		}
	}
}
