package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/merge"
)

// Item is one held version at its position in the section.
type Item struct {
	Position Position
	Key      merge.Key
	Held
}

// Part is one of several consecutive spans: it begins where the one before
// ends.
type Part struct {
	UpTo Position
	Digest
}

// DigestHead returns a place in the feed such that whatever was committed up to
// it, and is held, is in the digests that this Reader gives: a commit shows in
// its snapshot a moment before it shows in them. Errors: ErrCorrupt.
func (r *Reader) DigestHead(sec merge.Section) (uint64, error) {
	state, err := r.State(sec)
	return min(state.Head, r.store.State(sec).Head), err
}

// Digest returns what a span of a section holds, with everything that was held
// when the Reader was made; what was committed since may be in it or not. It
// costs a walk over the buckets in memory, and a read of at most two of them.
// Errors: ErrNotReady, ErrCorrupt.
func (r *Reader) Digest(sec merge.Section, s Span) (Digest, error) {
	if s.IsEmpty() {
		return Digest{}, nil
	}
	var whole Digest
	var edges []Span
	ready := r.store.digests.read(sec, func(b *buckets) {
		c := b.cover(s)
		for i := range c.whole {
			whole = whole.Join(c.whole[i].Digest)
		}
		edges = c.edges()
	})
	if !ready {
		return Digest{}, ErrNotReady
	}
	for i := range edges {
		d, err := r.digestRows(sec, &edges[i])
		if err != nil {
			return Digest{}, err
		}
		whole = whole.Join(d)
	}
	return whole, nil
}

// digestRows is Digest from the rows alone; of nil it is that of nothing.
func (r *Reader) digestRows(sec merge.Section, s *Span) (d Digest, err error) {
	if s == nil {
		return d, nil
	}
	err = r.hashes(sec, *s, func(_ []byte, _ string, item merge.Hash) { d = d.Add(item) })
	return d, err
}

// Parts divides a span into at most n parts that hold about as many versions
// each. The last ends where the span does. Errors: as Digest.
func (r *Reader) Parts(sec merge.Section, s Span, n int) ([]Part, error) {
	var parts []Part
	var left, right *Span
	ready := r.store.digests.read(sec, func(b *buckets) {
		c := b.cover(s)
		left, right = c.left, c.right
		parts = partsOf(c.whole, n)
	})
	if !ready {
		return nil, ErrNotReady
	}
	var whole int64
	for i := range parts {
		whole += parts[i].Count
	}
	if len(parts) < n && whole <= partRowsMax || len(parts) < 2 {
		return r.partsOfRows(sec, s, n)
	}
	before, err := r.digestRows(sec, left)
	if err != nil {
		return nil, err
	}
	after, err := r.digestRows(sec, right)
	if err != nil {
		return nil, err
	}
	parts[0].Digest = parts[0].Join(before)
	last := &parts[len(parts)-1]
	last.Digest, last.UpTo = last.Join(after), s.UpTo
	return parts, nil
}

// partsOf joins buckets to at most n parts.
func partsOf(whole []bucket, n int) []Part {
	var total, sofar int64
	for i := range whole {
		total += whole[i].Count
	}
	var parts []Part
	for i := range whole {
		if i == 0 || sofar*int64(n) >= total*int64(len(parts)) {
			if i > 0 {
				parts[len(parts)-1].UpTo = whole[i].from[:whole[i].bound]
			}
			parts = append(parts, Part{})
		}
		last := &parts[len(parts)-1]
		last.Digest = last.Join(whole[i].Digest)
		sofar += whole[i].Count
	}
	return parts
}

// partsOfRows is Parts from the rows alone.
func (r *Reader) partsOfRows(sec merge.Section, s Span, n int) ([]Part, error) {
	var items []merge.Hash
	var ends []int  // of each item in positions
	var text []byte // positions, one after the other
	err := r.hashes(sec, s, func(order []byte, writer string, item merge.Hash) {
		text = append(append(append(text, order...), positionSeparator...), writer...)
		items, ends = append(items, item), append(ends, len(text))
	})
	if err != nil {
		return nil, err
	}
	position := func(i int) Position {
		begin := 0
		if i > 0 {
			begin = ends[i-1]
		}
		return Position(text[begin:ends[i]])
	}
	n = max(1, min(n, len(items)))
	parts := make([]Part, n)
	for i := range parts {
		from, to := i*len(items)/n, (i+1)*len(items)/n
		for _, item := range items[from:to] {
			parts[i].Digest = parts[i].Add(item)
		}
		if i > 0 {
			parts[i-1].UpTo = between(position(from-1), position(from))
		}
	}
	parts[n-1].UpTo = s.UpTo
	return parts, nil
}

// hashes calls fn for each version that a span holds, by position, with what a
// digest needs of it: of the rest nothing is decoded. The bytes of the order key
// are valid during the call.
func (r *Reader) hashes(sec merge.Section, s Span, fn func(order []byte, writer string, item merge.Hash)) error {
	return r.rows(sec, s, func(order, value []byte) (bool, error) {
		items, err := decodeHashes(value)
		if err != nil {
			return false, err
		}
		cut := s.cuts(order)
		for _, item := range items {
			if !cut || s.Contains(keyPosition(string(order))+Position(item.writer)) {
				fn(order, item.writer, item.hash)
			}
		}
		return true, nil
	})
}

// Items calls fn for each version that a span holds, by position, until fn
// returns false. Errors: ErrCorrupt.
func (r *Reader) Items(sec merge.Section, s Span, fn func(item Item) (more bool)) error {
	return r.rows(sec, s, func(order, value []byte) (more bool, err error) {
		versions, err := decodeRow(value)
		if err != nil {
			return false, err
		}
		k, err := parseOrder(sec, string(order))
		if err != nil {
			return false, err
		}
		more = true
		eachByWriter(string(order), versions.held, func(pos Position, h *Held) bool {
			switch {
			case s.endsBefore(pos):
				more = false
			case s.Contains(pos):
				more = fn(Item{Position: pos, Key: k, Held: *h})
			}
			return more
		})
		return more, nil
	})
}

// rows calls fn for the rows of the keys that may have versions within a span,
// until fn returns false. The slices are valid during the call.
func (r *Reader) rows(sec merge.Section, s Span, fn func(order, value []byte) (more bool, err error)) error {
	n, ok := r.table.of(sec)
	if !ok || s.IsEmpty() {
		return nil
	}
	prefix := appendSectionKey(nil, prefixVersions, n)
	return scan(r.tx, prefix, slices.Concat(prefix, []byte(s.firstRow())), false, func(key, value []byte) (bool, error) {
		if len(key) < len(prefix)+len(terminator) {
			return false, fmt.Errorf("%w: key %q", ErrCorrupt, key)
		}
		if s.UpTo != "" && string(key[len(prefix):]) > string(s.UpTo) { // the place before the key's versions
			return false, nil
		}
		return fn(key[len(prefix):len(key)-len(terminator)], value)
	})
}

// eachByWriter calls fn for the versions of a key by position, until fn returns
// false.
func eachByWriter(order string, held []Held, fn func(pos Position, h *Held) (more bool)) {
	begin := keyPosition(order)
	if len(held) > 1 {
		held = slices.Clone(held)
		slices.SortFunc(held, func(a, b Held) int { return strings.Compare(string(a.Writer), string(b.Writer)) })
	}
	for i := range held {
		if !fn(begin+Position(held[i].Writer), &held[i]) {
			return
		}
	}
}
