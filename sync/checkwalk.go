package sync

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// walk is how far the check of one section has come.
type walk struct {
	section merge.Section
	// All before at is equal. ends are the places up to which it is asked of at a
	// time, of which those not after at are done.
	at      store.Position
	ends    []store.Position
	isEqual bool // also what comes after at, to the end of the section
	// narrow is a span that differs, asked of alone; as a list when it is worth it.
	narrow *store.Span
	list   bool
	depth  int
	// found is what the last answer differs in first. Its key is asked of again at
	// quietAt: it differs for good if nothing has moved by then.
	found      *Difference
	confirming bool
	key        merge.Key
	quietAt    time.Time
	mine       store.SectionState
	theirHead  uint64
	moves      int // how often something had moved
	rounds     int

	asked []store.Span
	salt  []byte
}

// newWalk cuts a section to parts of a size that is read in one turn.
func (e *Engine) newWalk(section merge.Section) (*walk, error) {
	w := &walk{section: section}
	n := e.store.State(section).Count/auditCountGoal + 1
	err := e.store.View(func(r *store.Reader) error {
		parts, err := r.Parts(section, store.Span{}, int(min(n, checkPartsMax)))
		for _, p := range parts {
			w.ends = append(w.ends, p.UpTo)
		}
		return err
	})
	return w, err
}

func (w *walk) isOver() bool { return w.isEqual && w.narrow == nil && !w.confirming }

// isEndless reports whether something moves again and again, or a peer answers
// without getting anywhere.
func (w *walk) isEndless() bool {
	return w.moves > checkMovesMax || w.rounds > checkRoundsMax+len(w.ends)
}

// next returns the spans that are to be asked of, consecutive.
func (w *walk) next() []store.Span {
	switch {
	case w.confirming:
		return []store.Span{spanOf(w.key)}
	case w.narrow != nil:
		return []store.Span{*w.narrow}
	}
	w.ends = slices.DeleteFunc(w.ends, func(end store.Position) bool { return end != "" && end <= w.at })
	var spans []store.Span
	after := w.at
	for _, end := range w.ends[:min(len(w.ends), checkSpansMax)] {
		spans = append(spans, store.Span{After: after, UpTo: end})
		after = end
	}
	return spans
}

// isList reports whether the question asks for a list of everything.
func (w *walk) isList() bool { return w.confirming || w.narrow != nil && w.list }

// fill writes the next question.
func (w *walk) fill(m *Recon, r *store.Reader) error {
	w.asked, w.salt = w.next(), m.Salt
	w.rounds++
	m.After = []byte(w.asked[0].After)
	bounds := chain{last: string(m.After)}
	for _, span := range w.asked {
		s := ReconSpan{Mode: spanList}
		if !w.isList() {
			held, err := state(r, w.section, span, m.Salt, true)
			if err != nil {
				return err
			}
			s.Mode, s.Count, s.Print = spanCompare, uint64(held.Count), held.print
		}
		s.Shared, s.Rest = bounds.end(span.UpTo)
		m.Spans = append(m.Spans, s)
	}
	return nil
}

// take reads an answer up to the first thing in it that differs. Errors:
// ErrProtocol, those of the store.
func (w *walk) take(r *store.Reader, m *ReconAnswer) error {
	var c chain
	spans, err := c.spans(w.asked[0].After, m.Spans)
	if err == nil && (len(spans) == 0 || !within(spans[len(spans)-1].UpTo, w.asked[len(w.asked)-1].UpTo)) {
		err = fmt.Errorf("%w: answer about other than was asked", ErrProtocol)
	}
	if err != nil {
		return err
	}
	items, err := m.listed(w.section)
	if err != nil {
		return err
	}
	for i := 1; i < len(items); i++ {
		if items[i].pos <= items[i-1].pos {
			return fmt.Errorf("%w: list is not in order at %s", ErrProtocol, items[i].key)
		}
	}
	a := walkAnswer{walk: w, reader: r, items: items}
	w.found = nil
	for i, span := range spans {
		for _, q := range w.asked {
			region := overlap(span, q)
			if region.IsEmpty() {
				continue
			}
			if stop, err := a.region(region, q, &m.Spans[i]); stop || err != nil {
				return err
			}
		}
	}
	w.passed(spans[len(spans)-1].UpTo)
	return nil
}

// within reports whether a place is not after the end of a span.
func within(p, end store.Position) bool { return end == "" || p != "" && p <= end }

// overlap returns what two spans have in common, which may be nothing.
func overlap(a, b store.Span) store.Span {
	both := store.Span{After: max(a.After, b.After), UpTo: a.UpTo}
	if !within(a.UpTo, b.UpTo) {
		both.UpTo = b.UpTo
	}
	return both
}

// passed notes that everything up to a place is equal, as far as was asked.
func (w *walk) passed(upTo store.Position) {
	switch {
	case w.confirming:
	case w.narrow != nil && upTo != w.narrow.UpTo:
		w.narrow.After = upTo
	default:
		w.at, w.isEqual, w.narrow = upTo, upTo == "", nil
	}
}

// resume goes on after a key that did not differ any more.
func (w *walk) resume() {
	w.confirming = false
	w.moves++
	w.narrow, w.depth = nil, 0
	w.at = max(w.at, spanOf(w.key).UpTo)
}

// walkAnswer is one answer that is being read.
type walkAnswer struct {
	*walk
	reader *store.Reader
	items  []listed
}

// region takes what was said of a part of a question. It reports whether it
// differs.
func (a *walkAnswer) region(span, asked store.Span, said *ReconSpan) (differs bool, err error) {
	if said.Mode == spanCompare && !a.isList() {
		return a.compared(span, asked, said)
	}
	there := a.within(span)
	if !a.isList() && len(there) == 0 && span == asked {
		return false, nil // equal
	}
	return a.unlike(span, there)
}

// unlike looks for the first key that differs in a span of which the peer holds
// what it listed.
func (a *walkAnswer) unlike(span store.Span, there []listed) (differs bool, err error) {
	key, differs, err := a.firstUnlike(span, there)
	if !differs || err != nil {
		return false, err
	}
	a.narrow = nil
	a.found, err = a.difference(key, there)
	return true, err
}

// compared takes the print of a part. Of one that differs it finds the first
// key when the peer holds nothing there, and asks of it alone otherwise.
func (a *walkAnswer) compared(span, asked store.Span, said *ReconSpan) (differs bool, err error) {
	held, err := state(a.reader, a.section, span, a.salt, true)
	if err != nil || uint64(held.Count) == said.Count && bytes.Equal(held.print, said.Print) {
		return false, err
	}
	a.at = span.After
	if said.Count == 0 {
		return a.unlike(span, nil)
	}
	a.depth++
	a.narrow = &span
	// A part that is told as it was asked of would be so again.
	a.list = held.Count == 0 || said.Count <= listCountMax || span == asked || a.depth >= depthMax
	return true, nil
}

// within returns what was listed of a span.
func (a *walkAnswer) within(span store.Span) []listed {
	after := func(p store.Position) int {
		i, found := slices.BinarySearchFunc(a.items, p, func(t listed, p store.Position) int { return cmp.Compare(t.pos, p) })
		if found {
			i++
		}
		return i
	}
	from := after(span.After)
	if span.UpTo == "" {
		return a.items[from:]
	}
	return a.items[from:max(from, after(span.UpTo))]
}

// firstUnlike compares what is held here of a span with all that the peer holds
// of it, both by position, and returns the first key that differs.
func (a *walkAnswer) firstUnlike(span store.Span, theirs []listed) (key merge.Key, differs bool, err error) {
	err = a.reader.Items(a.section, span, func(item store.Item) bool {
		switch {
		case len(theirs) > 0 && theirs[0].pos < item.Position:
			key, differs = theirs[0].key, true
		case len(theirs) == 0 || theirs[0].pos > item.Position || !theirs[0].is(a.salt, item.Hash):
			key, differs = item.Key, true
		default:
			theirs = theirs[1:]
		}
		return !differs
	})
	if err == nil && !differs && len(theirs) > 0 {
		key, differs = theirs[0].key, true
	}
	return key, differs, err
}

// difference tells which versions of a key one side alone holds.
func (a *walkAnswer) difference(key merge.Key, there []listed) (*Difference, error) {
	held, err := a.reader.Held(key)
	if err != nil {
		return nil, err
	}
	theirs := slices.Clone(there)
	theirs = slices.DeleteFunc(theirs, func(t listed) bool { return t.key != key })
	d := &Difference{Key: key}
	for _, h := range held {
		isIt := func(t listed) bool { return t.Writer == h.Writer && t.is(a.salt, h.Hash) }
		if slices.ContainsFunc(theirs, isIt) {
			theirs = slices.DeleteFunc(theirs, isIt)
		} else {
			d.OnlyHere = append(d.OnlyHere, HeldVersion{Version: h.Version})
		}
	}
	for _, t := range theirs {
		d.OnlyThere = append(d.OnlyThere, HeldVersion{Version: t.Version})
	}
	d.OnlyHere = d.OnlyHere[:min(len(d.OnlyHere), differenceMax)]
	d.OnlyThere = d.OnlyThere[:min(len(d.OnlyThere), differenceMax)]
	err = a.reader.ParkedIn(a.section, spanOf(key), func(k merge.Key, item merge.Hash) bool {
		for i := range d.OnlyThere {
			d.OnlyThere[i].Parked = d.OnlyThere[i].Parked || k == key && theirs[i].is(a.salt, item)
		}
		return true
	})
	return d, err
}
