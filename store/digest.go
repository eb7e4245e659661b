package store

import (
	"slices"
	"sort"

	"github.com/fleetsync/fleetd/merge"
)

// Digest says what a set of versions is, without naming them: their number and
// the sum of their item hashes.
type Digest struct {
	Count int64
	Sum   Sum
}

// Add returns d with one more item.
func (d Digest) Add(item merge.Hash) Digest { return Digest{d.Count + 1, d.Sum.Add(item)} }

// Remove returns d with one item less.
func (d Digest) Remove(item merge.Hash) Digest { return Digest{d.Count - 1, d.Sum.Sub(item)} }

// Join returns the digest of both sets.
func (d Digest) Join(o Digest) Digest { return Digest{d.Count + o.Count, d.Sum.Join(o.Sum)} }

// buckets are the digests of consecutive parts of one section, in memory: what
// makes the digest of any span cheap. They are never stored, since whatever is
// stored beside the rows can drift from them.
//
// A bucket begins at a key whose name says so ([beginsBucket]), one in 64 of
// all, and not at a count: so two stores that hold nearly the same keys cut them
// at the same places, and a span that one asks for is made of whole buckets of
// the other. A bucket that grows far beyond that, by chance or because somebody
// chose the keys, is cut at any key.
type buckets struct {
	list []bucket // by from; the first begins at ""
	last Position // nothing held comes after it
}

type bucket struct {
	from Position
	// bound is how many bytes of from already come after everything before the
	// bucket. No version is at from itself: it is the place before those of a key.
	bound int
	Digest
}

// beginsBucket reports whether a bucket begins at a key: a property of its name
// alone (FNV-1a, finished by a multiplication so that the low bits depend on all
// bytes).
func beginsBucket(order string) bool {
	h := uint64(14695981039346656037)
	for i := range len(order) {
		h = (h ^ uint64(order[i])) * 1099511628211
	}
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return h>>32&bucketMask == 0
}

func newBuckets() *buckets { return &buckets{list: []bucket{{}}} }

// append adds a version that comes after all others.
func (b *buckets) append(order string, pos Position, item merge.Hash) {
	end := &b.list[len(b.list)-1]
	if begin := keyPosition(order); end.Count > 0 && b.last < begin && (beginsBucket(order) || end.Count >= bucketMax) {
		b.list = append(b.list, bucket{from: begin, bound: commonLength(b.last, begin) + 1})
		end = &b.list[len(b.list)-1]
	}
	end.Digest = end.Add(item)
	b.last = pos
}

// apply takes over one move. It reports whether the bucket of the version
// should be cut: at a place that only the rows tell the sums of.
func (b *buckets) apply(m *move) (cut bool) {
	if !m.leaves && m.pos > b.last {
		b.append(m.order, m.pos, m.item)
		return false
	}
	i := b.find(m.pos)
	at := &b.list[i]
	if m.leaves {
		at.Digest = at.Remove(m.item)
		if at.Count == 0 && i > 0 {
			b.list = slices.Delete(b.list, i, i+1)
		}
		return false
	}
	at.Digest = at.Add(m.item)
	if i+1 < len(b.list) {
		next := &b.list[i+1]
		next.bound = max(next.bound, commonLength(m.pos, next.from)+1)
	}
	// A power of two: what could not be cut is not tried again with each version.
	tooLarge := at.Count > bucketMax && at.Count&(at.Count-1) == 0
	return tooLarge || at.from != keyPosition(m.order) && beginsBucket(m.order)
}

// find returns the bucket in which a position lies.
func (b *buckets) find(p Position) int {
	return sort.Search(len(b.list), func(i int) bool { return b.list[i].from > p }) - 1
}

// replace puts finer buckets in the place of one, which holds the same.
func (b *buckets) replace(i int, finer *buckets) {
	finer.list[0].from, finer.list[0].bound = b.list[i].from, b.list[i].bound
	b.list = slices.Replace(b.list, i, i+1, finer.list...)
}

// total returns the digest of the whole section.
func (b *buckets) total() (d Digest) {
	for i := range b.list {
		d = d.Join(b.list[i].Digest)
	}
	return d
}

// cover is how buckets make up a span: whole ones, and at either end maybe a
// part of one, which only the rows tell.
type cover struct {
	whole       []bucket
	left, right *Span // of which only the rows tell; nil for none
}

func (c *cover) edges() []Span {
	var edges []Span
	for _, s := range [...]*Span{c.left, c.right} {
		if s != nil {
			edges = append(edges, *s)
		}
	}
	return edges
}

// cover returns what makes up a span.
func (b *buckets) cover(s Span) cover {
	var c cover
	begin, aligned := b.cut(s.After)
	if !aligned {
		c.left = &Span{s.After, b.endOf(begin)}
		begin++
	}
	end := len(b.list)
	if s.UpTo != "" {
		end, aligned = b.cut(s.UpTo)
		if !aligned && end < begin { // both in one bucket
			return cover{left: &s}
		}
		if !aligned {
			c.right = &Span{b.list[end].from, s.UpTo}
		}
	}
	if begin < end {
		c.whole = b.list[begin:end]
	}
	return c
}

// cut returns the bucket that begins at a position. When none does, aligned is
// false and the bucket is the one that the position cuts in two.
func (b *buckets) cut(p Position) (i int, aligned bool) {
	i = b.find(p)
	switch {
	case b.list[i].from == p:
		return i, true
	case i+1 < len(b.list) && b.list[i+1].from[:b.list[i+1].bound] <= p:
		return i + 1, true
	case p >= b.last:
		return len(b.list), true
	}
	return i, false
}

// endOf returns the place where a bucket ends, as the end of a span.
func (b *buckets) endOf(i int) Position {
	if i+1 == len(b.list) {
		return ""
	}
	return b.list[i+1].from
}
