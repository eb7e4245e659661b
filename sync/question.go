package sync

import (
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// question is one span that is compared, or listed.
type question struct {
	store.Span
	depth int  // divisions that led to it
	list  bool // the peer holds few versions in it
	tags  int  // with at most so many tags: more would cost more than they save
	items int  // so many versions are likely to be listed
	held  *store.Digest
}

// fillRecon writes as many questions as one message takes, and returns how many.
func fillRecon(m *Recon, r *store.Reader, section merge.Section, ask []question) (asked int, err error) {
	m.After = []byte(ask[0].After)
	bounds, at, size, items := chain{last: string(m.After)}, ask[0].After, 0, 0
	put := func(upTo store.Position, s ReconSpan) {
		s.Shared, s.Rest = bounds.end(upTo)
		m.Spans = append(m.Spans, s)
		at = upTo
		size += spanOverhead + len(s.Rest) + len(s.Print)
	}
	for i := range ask {
		q := &ask[i]
		if asked == questionsMax || asked > 0 && (size >= reconBytesMax || items+q.items > refsMax) {
			break // an answer that ends early has its questions asked again
		}
		items += q.items
		if q.After != at {
			put(q.After, ReconSpan{Mode: spanSkip})
		}
		s := ReconSpan{Mode: spanList}
		if q.list {
			s.Print, err = tagsOf(r, section, q, m.Salt)
		} else {
			s.Mode = spanCompare
			s.Count, s.Print, err = q.statement(r, section, m)
		}
		if err != nil {
			return 0, err
		}
		put(q.UpTo, s)
		asked++
	}
	return asked, nil
}

// statement is what the question says of its span.
func (q *question) statement(r *store.Reader, section merge.Section, m *Recon) (count uint64, print []byte, err error) {
	if q.held != nil && !m.Exact {
		return uint64(q.held.Count), printOf(m.Salt, *q.held), nil
	}
	held, err := state(r, section, q.Span, m.Salt, m.Exact)
	return uint64(held.Count), held.print, err
}

// tagsOf returns the tags of what is held or parked in the span of a question,
// none when they are too many.
func tagsOf(r *store.Reader, section merge.Section, q *question, salt []byte) ([]byte, error) {
	var tags []byte
	add := func(item merge.Hash) bool {
		t := tagOf(salt, item)
		tags = append(tags, t[:]...)
		return len(tags) <= q.tags*tagBytes
	}
	err := r.Items(section, q.Span, func(item store.Item) bool { return add(item.Hash) })
	if err == nil {
		err = r.ParkedIn(section, q.Span, func(_ merge.Key, item merge.Hash) bool { return add(item) })
	}
	if len(tags) > q.tags*tagBytes {
		return nil, err
	}
	return tags, err
}

// covers reports whether a span lies within that of the question.
func (q *question) covers(s store.Span) bool {
	return s.After >= q.After && (q.UpTo == "" || s.UpTo != "" && s.UpTo <= q.UpTo)
}
