package store

import (
	"sync"

	"github.com/fleetsync/fleetd/merge"
)

// digests are the buckets of every section, as far as they have been built.
// Safe for concurrent use.
type digests struct {
	// building is held by whoever changes rows and buckets together: a group of
	// commits, and the builder for each of its steps.
	building sync.Mutex

	mu    sync.RWMutex // guards all following fields
	of    map[merge.Section]*buckets
	built string // the row of v/ up to which they hold everything
	ready bool   // they hold everything
}

func newDigests() *digests { return &digests{of: map[merge.Section]*buckets{}} }

// move is one version that came to be held, or that is held no more.
type move struct {
	sec    *stagedSection
	pos    Position
	order  string // a part of pos
	item   merge.Hash
	leaves bool
}

func newMove(ks *keyState, h *Held, leaves bool) move {
	pos := NewPosition(ks.key, h.Writer)
	return move{
		sec: ks.sec, pos: pos, order: string(pos[:len(pos)-len(h.Writer)-len(positionSeparator)]),
		item: h.Hash, leaves: leaves,
	}
}

// row returns the key in v/ of the version.
func (m *move) row() string {
	key := append(appendSectionKey(nil, prefixVersions, m.sec.ordinal), m.order...)
	return string(append(key, terminator...))
}

// isReady reports whether the buckets hold every row.
func (d *digests) isReady() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.ready
}

// adopt takes over the moves of a durable transaction. It returns those that
// leave a bucket to be cut.
func (d *digests) adopt(moves []move) (cuts []move) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range moves {
		m := &moves[i]
		if !d.ready && m.row() > d.built {
			continue // the builder comes to it
		}
		if bucketsOf(d.of, m.sec.state.Section).apply(m) {
			cuts = append(cuts, *m)
		}
	}
	return cuts
}

// replace takes over what was built from all rows.
func (d *digests) replace(of map[merge.Section]*buckets) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.of, d.ready = of, true
}

// read calls fn with the buckets of a section, which it must not keep. It
// reports false, and calls nothing, while they do not hold every row.
func (d *digests) read(sec merge.Section, fn func(b *buckets)) (ready bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if !d.ready {
		return false
	}
	b := d.of[sec]
	if b == nil {
		b = newBuckets()
	}
	fn(b)
	return true
}

// bucketsOf returns the buckets of a section, new ones when it has none.
func bucketsOf(of map[merge.Section]*buckets, sec merge.Section) *buckets {
	b := of[sec]
	if b == nil {
		b = newBuckets()
		of[sec] = b
	}
	return b
}
