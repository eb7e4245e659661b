package sync

import (
	"bytes"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// recon compares the spans of a question with the own store. A span that
// differs is divided once; few versions are listed at once.
func (r *responder) recon(m *Recon) (Message, error) {
	head, err := r.reader.DigestHead(r.section)
	if err != nil {
		return nil, err
	}
	a := reconAnswerer{
		responder: r, question: m, at: store.Position(m.After), writers: map[merge.InstanceID]uint64{},
		answer: &ReconAnswer{ID: m.ID, Spans: []ReconSpan{}, Head: head, Incarnation: uint64(r.opened)},
	}
	a.bounds.last = string(m.After)
	var c chain
	spans, err := c.spans(a.at, m.Spans)
	if err != nil {
		return nil, err
	}
	held, differing, err := a.compare(spans)
	if err != nil {
		return nil, err
	}
	a.parts = fanout(differing)
	for i, span := range spans {
		if a.isFull() {
			break
		}
		if err := a.span(span, &m.Spans[i], held[i]); err != nil {
			return nil, err
		}
		if a.cut {
			break
		}
	}
	a.flush()
	return a.answer, nil
}

// reconAnswerer fills one answer.
type reconAnswerer struct {
	*responder
	question *Recon
	answer   *ReconAnswer
	parts    int            // into which what differs is divided
	at       store.Position // how far the answer has come
	untold   bool           // of the last of it no span was written
	cut      bool           // the answer became full within a span
	bounds   chain
	orders   chain
	writers  map[merge.InstanceID]uint64
	size     int
}

// compare returns what is held of the spans to be compared, nil for what is
// equal, and how many are not.
func (a *reconAnswerer) compare(spans []store.Span) (held []*stated, differing int, err error) {
	held = make([]*stated, len(spans))
	for i, span := range spans {
		asked := &a.question.Spans[i]
		if asked.Mode != spanCompare {
			continue
		}
		mine, err := state(a.reader, a.section, span, a.question.Salt, a.question.Exact)
		if err != nil {
			return nil, 0, err
		}
		a.cost += spanCost
		if a.question.Exact {
			a.cost += int(mine.Count) * scanCost
		}
		if uint64(mine.Count) != asked.Count || !bytes.Equal(mine.print, asked.Print) {
			held[i] = &mine
			differing++
		}
	}
	return held, differing, nil
}

// span answers one span; held is what is held of one that differs.
func (a *reconAnswerer) span(span store.Span, asked *ReconSpan, held *stated) error {
	switch {
	case asked.Mode == spanList:
		return a.list(span, asked.Print)
	case held == nil:
		a.skip(span.UpTo)
		return nil
	case held.Count > 0 && (held.Count <= listedAtOnceMax || asked.Count == 0 && held.Count < gapCountMin):
		return a.list(span, nil)
	case held.Count <= listCountMax:
		a.tell(span.UpTo, *held)
		return nil
	}
	n := a.parts
	if asked.Count == 0 { // all of it is to be fetched: parts are for several at a time
		least := max(gapCountMin, int64(gapPagesMin*a.bytesMax>>10))
		n = int(min(max(held.Count/least, 1), int64(n)))
	}
	if n == 1 {
		a.tell(span.UpTo, *held)
		return nil
	}
	parts, err := a.reader.Parts(a.section, span, n)
	if err != nil {
		return err
	}
	a.cost += spanCost * len(parts)
	after := span.After
	for _, p := range parts {
		part := stated{p.Digest, printOf(a.question.Salt, p.Digest)}
		if a.question.Exact {
			if part, err = state(a.reader, a.section, store.Span{After: after, UpTo: p.UpTo}, a.question.Salt, true); err != nil {
				return err
			}
		}
		a.tell(p.UpTo, part)
		after = p.UpTo
	}
	return nil
}

// skip moves on to a position: there is nothing to be compared up to there.
func (a *reconAnswerer) skip(upTo store.Position) {
	a.at, a.untold = upTo, true
}

// flush writes what was skipped, as one span.
func (a *reconAnswerer) flush() {
	if a.untold {
		a.put(ReconSpan{Mode: spanSkip})
	}
}

// tell says what is held of a span that begins where the answer has come to.
func (a *reconAnswerer) tell(upTo store.Position, held stated) {
	a.flush()
	a.at = upTo
	a.put(ReconSpan{Mode: spanCompare, Count: uint64(held.Count), Print: held.print})
}

func (a *reconAnswerer) put(s ReconSpan) {
	s.Shared, s.Rest = a.bounds.end(a.at)
	a.answer.Spans = append(a.answer.Spans, s)
	a.untold = false
	a.size += spanOverhead + len(s.Rest) + len(s.Print)
}

// list lists what is held in a span, but for what has one of the tags.
func (a *reconAnswerer) list(span store.Span, tags []byte) error {
	known := make(map[tag]bool, len(tags)/tagBytes)
	for ; len(tags) > 0; tags = tags[tagBytes:] {
		known[tag(tags)] = true
	}
	err := a.reader.Items(a.section, span, func(item store.Item) bool {
		a.cost += scanCost
		t := tagOf(a.question.Salt, item.Hash)
		if known[t] {
			return true
		}
		if a.isFull() {
			a.cut = true
			return false
		}
		a.item(&item, t)
		a.skip(item.Position)
		return true
	})
	if !a.cut {
		a.skip(span.UpTo)
	}
	return err
}

func (a *reconAnswerer) item(item *store.Item, t tag) {
	n, known := a.writers[item.Writer]
	if !known {
		n = uint64(len(a.answer.Writers))
		a.writers[item.Writer] = n
		a.answer.Writers = append(a.answer.Writers, item.Writer)
		a.size += len(item.Writer)
	}
	shared, rest := a.orders.shorten(item.Key.Order())
	a.answer.Items = append(a.answer.Items, ReconItem{
		Shared: shared, Rest: rest, Writer: n, Stamp: item.Stamp.Pack(), Tag: t[:],
	})
	a.size += itemOverhead + len(rest)
}

// isFull reports whether the answer should end here.
func (a *reconAnswerer) isFull() bool {
	return len(a.answer.Spans)+a.parts > spansMax || len(a.answer.Items) == refsMax || a.size >= min(reconBytesMax, a.bytesMax)
}
