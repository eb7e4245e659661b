package sync

import (
	"bytes"
	"sort"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// division makes of one answer what follows from it.
type division struct {
	reader  *store.Reader
	pull    *pull
	asked   []question
	message *ReconAnswer
	ask     []question // by position
	refs    []Ref
	tags    []tag // of refs
}

func (d *division) take(spans []store.Span) error {
	differing, err := d.compare(spans)
	if err != nil {
		return err
	}
	for i := range differing {
		if err := d.follow(&differing[i], fanout(len(differing))); err != nil {
			return err
		}
	}
	if err := d.items(); err != nil {
		return err
	}
	// What the answer did not come to is asked again, with what is held by then.
	if end := spans[len(spans)-1].UpTo; end != "" {
		for _, q := range d.asked {
			if q.UpTo == "" || q.UpTo > end {
				q.After, q.held = max(q.After, end), nil
				d.ask = append(d.ask, q)
			}
		}
	}
	return nil
}

// differingSpan is one of which the peer holds other versions than this node.
type differingSpan struct {
	store.Span
	held   stated // here
	theirs uint64 // the number of versions there
	parts  *siblings
}

// compare returns the spans of an answer that differ.
func (d *division) compare(spans []store.Span) (differing []differingSpan, err error) {
	rc := d.pull.ranges
	of := map[*question]*siblings{}
	for i, span := range spans {
		told := &d.message.Spans[i]
		if told.Mode != spanCompare || told.Count == 0 {
			continue
		}
		q := d.question(span)
		if q.list { // it is to list: were it to divide, that might have no end
			continue
		}
		if of[q] == nil {
			of[q] = &siblings{}
		}
		of[q].parts++
		mine, err := state(d.reader, d.pull.section, span, rc.salt, rc.exact)
		if err != nil {
			return nil, err
		}
		if uint64(mine.Count) != told.Count || !bytes.Equal(mine.print, told.Print) {
			of[q].differing++
			differing = append(differing, differingSpan{span, mine, told.Count, of[q]})
		}
	}
	return differing, nil
}

// follow decides what to do about a span that differs, which is divided into n
// parts if at all.
func (d *division) follow(s *differingSpan, n int) error {
	span, theirs, dense := s.Span, s.theirs, s.parts.isDense()
	depth := d.question(span).depth + 1
	lacking := s.held.Count == 0
	if lacking {
		err := d.reader.ParkedIn(d.pull.section, span, func(merge.Key, merge.Hash) bool {
			lacking = false
			return false
		})
		if err != nil {
			return err
		}
	}
	switch {
	case lacking && theirs >= gapCountMin:
		d.pull.ranges.gaps = append(d.pull.ranges.gaps, span)
		return nil
	case lacking || theirs <= listCountMax || dense && theirs <= denseCountMax || depth >= depthMax:
		n := int(min(theirs, refsMax))
		q := question{Span: span, depth: depth, list: true, tags: tagsPerListed * n, items: n}
		if !lacking && !dense {
			q.items = min(n, listedLikely)
		}
		d.ask = append(d.ask, q)
		return nil
	}
	parts, err := d.reader.Parts(d.pull.section, span, n)
	if err != nil {
		return err
	}
	after := span.After
	for _, p := range parts {
		d.ask = append(d.ask, question{Span: store.Span{After: after, UpTo: p.UpTo}, depth: depth, held: &p.Digest})
		after = p.UpTo
	}
	return nil
}

// question returns the one that a span of the answer belongs to.
func (d *division) question(span store.Span) *question {
	at := sort.Search(len(d.asked), func(i int) bool { return d.asked[i].UpTo == "" || d.asked[i].UpTo > span.After })
	return &d.asked[min(at, len(d.asked)-1)]
}

// siblings counts the parts into which the peer divided a span, and those that
// differ.
type siblings struct{ parts, differing int }

// isDense reports whether so much differs that dividing further would only tell
// the same of each part.
func (s *siblings) isDense() bool { return s.parts >= denseParts && s.differing == s.parts }

// items gathers the versions that the peer told of and that are neither held nor
// covered nor parked here.
func (d *division) items() error {
	list, err := d.message.listed(d.pull.section)
	if err != nil {
		return err
	}
	for i := range list {
		l := &list[i]
		known, err := l.isKnown(d.reader, d.pull.ranges.salt)
		if err != nil {
			return err
		}
		if !known {
			d.refs = append(d.refs, Ref{Order: []byte(l.key.Order()), Writer: l.Writer})
			d.tags = append(d.tags, l.tag)
		}
	}
	return d.byRefs()
}

// byRefs has the versions asked for by their keys when they lie so far apart
// that looking for their tags would cost more.
func (d *division) byRefs() error {
	if len(d.refs) == 0 {
		return nil
	}
	span := store.Span{After: store.Position(d.refs[0].before()), UpTo: store.Position(d.refs[len(d.refs)-1].position())}
	between, err := d.reader.Digest(d.pull.section, span)
	if between.Count > taggedSpread*int64(len(d.refs)) {
		d.tags = nil
	}
	return err
}
