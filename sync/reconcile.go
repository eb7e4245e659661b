package sync

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// reconciliation is what a pull by ranges has still to do: spans of its section
// by position, none of which overlap. It walks from the beginning of the
// section to its end, so that what waits stays small.
type reconciliation struct {
	ask   []question // to be asked of
	asked []question // of these an answer is awaited
	salt  []byte     // of that question
	// gaps hold nothing here and much at the peer: they are fetched by pages, a few
	// at a time. What is left of those at hand is open.
	gaps []store.Span
	open []*gap
	// from is the place in the peer's feed that every answer took into account.
	from    store.Cursor
	exact   bool // an audit: prints of every item
	partial bool // something was left out: no cursor may follow

	lent     int        // gaps that other peers are asked for
	lender   *pull      // the pull that lent the one gap of this
	borrowed store.Span // what it was
}

// question is one span that is compared, or listed.
type question struct {
	store.Span
	depth int  // divisions that led to it
	list  bool // the peer holds few versions in it
	tags  int  // with at most so many tags: more would cost more than they save
	items int  // so many versions are likely to be listed
	held  *store.Digest
}

func (e *Engine) reconcile(pl *pull, span store.Span, exact bool) {
	pl.mode = byRanges
	pl.ranges = &reconciliation{ask: []question{{Span: span}}, exact: exact}
}

// askRanges sends the next question, or asks for the next page of a gap. At the
// end the cursor moves to where the peer's feed was when it began.
func (e *Engine) askRanges(pl *pull) {
	rc := pl.ranges
	switch {
	case len(rc.ask) > 0:
		if rc.awaited() == 0 {
			e.askRecon(pl)
		}
	case len(rc.open)+len(rc.gaps) > 0:
		e.askPages(pl)
	case rc.lent > 0: // whoever gives a gap back goes on with this
	default:
		pl.ended = true
		if rc.lender == nil && !rc.exact && !rc.partial && rc.from != (store.Cursor{}) {
			pl.steps = append(pl.steps, &step{pull: pl, peer: pl.peer.id, cursor: e.cursorMove(pl, rc.from)})
			e.emitReady(pl.steps[0])
		}
	}
}

func (e *Engine) askRecon(pl *pull) {
	m := &Recon{ID: e.newID(), Section: pl.section.ID(), Salt: e.salt(), Exact: pl.ranges.exact}
	var asked int
	err := e.store.View(func(r *store.Reader) (err error) {
		asked, err = fillRecon(m, r, pl.section, pl.ranges.ask)
		return err
	})
	if err != nil { // this node cannot read its own store; the peer is not at fault
		if !errors.Is(err, store.ErrNotReady) {
			e.counters.StoreErrors++
		}
		pl.peer.notBefore = e.now.Add(e.cfg.HeartbeatEvery)
		e.abort(pl)
		return
	}
	rc := pl.ranges
	rc.asked, rc.ask, rc.salt = rc.ask[:asked:asked], rc.ask[asked:], m.Salt
	e.request(pl, m)
}

// salt returns what makes the hashes of one message its own.
func (e *Engine) salt() []byte {
	salt := make([]byte, saltBytes)
	if _, err := io.ReadFull(e.cfg.Rand, salt); err != nil {
		panic("sync: randomness ended: " + err.Error())
	}
	return salt
}

// fillRecon writes as many questions as one message takes, and returns how many.
func fillRecon(m *Recon, r *store.Reader, section merge.Section, ask []question) (asked int, err error) {
	m.After = []byte(ask[0].After)
	bounds, at, size, items := chain{last: string(m.After)}, ask[0].After, 0, 0
	put := func(upTo store.Position, s ReconSpan) {
		s.Shared, s.Rest = bounds.shorten(string(upTo))
		if upTo == "" {
			s.Shared, s.Rest = 0, nil
		}
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

func (e *Engine) onReconAnswer(p *peer, m *ReconAnswer) {
	if p.pull == nil || p.pull.ranges == nil || len(p.pull.ranges.asked) == 0 {
		return
	}
	asked := p.pull.ranges.asked
	spans, isWhole, broken := m.answers(asked)
	pl := e.awaited(p, m.ID, !isWhole)
	if pl == nil || !e.ofThisLife(pl, m.Incarnation) {
		return
	}
	if broken != nil {
		e.breach(pl, broken)
		return
	}
	rc := pl.ranges
	if rc.from == (store.Cursor{}) {
		rc.from = store.Cursor{Store: p.store, Incarnation: p.incarnation, Seq: m.Head}
	}
	rc.asked = nil
	d := division{engine: e, pull: pl, asked: asked, message: m}
	err := e.store.View(func(r *store.Reader) error {
		d.reader = r
		return d.take(spans)
	})
	switch {
	case errors.Is(err, ErrProtocol):
		e.breach(pl, err)
		return
	case err != nil:
		e.counters.StoreErrors++
		p.notBefore = e.now.Add(e.cfg.HeartbeatEvery)
		e.abort(pl)
		return
	}
	rc.ask = append(d.ask, rc.ask...)
	slices.SortFunc(rc.ask, func(a, b question) int { return cmp.Compare(a.After, b.After) })
	rc.bound()
	if len(d.refs) > 0 {
		pl.steps = append(pl.steps, &step{pull: pl, peer: p.id, refs: d.refs, tags: d.tags, salt: rc.salt, asked: asked})
	}
	e.advance(pl)
}

// answers returns the spans of an answer to questions, and whether it answers
// all of them. Errors: ErrProtocol.
func (m *ReconAnswer) answers(asked []question) (spans []store.Span, isWhole bool, err error) {
	var c chain
	if spans, err = c.spans(asked[0].After, m.Spans); err != nil {
		return nil, false, err
	}
	if len(spans) == 0 {
		return nil, false, fmt.Errorf("%w: answer about nothing", ErrProtocol)
	}
	end, last := spans[len(spans)-1].UpTo, asked[len(asked)-1].UpTo
	if end != last && last != "" && (end == "" || end > last) {
		return nil, false, fmt.Errorf("%w: answer about more than was asked", ErrProtocol)
	}
	return spans, end == last, nil
}

// bound leaves to another exchange what is too much for this one.
func (rc *reconciliation) bound() {
	if len(rc.ask) > waitingMax {
		rc.ask, rc.partial = rc.ask[:waitingMax], true
	}
	if len(rc.gaps) > waitingMax {
		rc.gaps, rc.partial = rc.gaps[:waitingMax], true
	}
}

// division makes of one answer what follows from it.
type division struct {
	engine  *Engine
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
	var orders chain
	for i := range d.message.Items {
		item := &d.message.Items[i]
		order, err := orders.restore(item.Shared, item.Rest)
		if err != nil {
			return err
		}
		key, err := merge.ParseOrder(d.pull.section, order)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		stamp, err := hlc.Unpack(item.Stamp)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		writer := d.message.Writers[item.Writer]
		known, err := isKnown(d.reader, key, merge.Version{Writer: writer, Stamp: stamp}, func(h merge.Hash) bool {
			t := tagOf(d.pull.ranges.salt, h)
			return bytes.Equal(t[:], item.Tag)
		})
		if err != nil {
			return err
		}
		if !known {
			d.refs = append(d.refs, Ref{Order: []byte(order), Writer: writer})
			d.tags = append(d.tags, tag(item.Tag))
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

// isKnown is Known for a version whose item hash is told by a tag alone.
func isKnown(r *store.Reader, key merge.Key, v merge.Version, isIt func(merge.Hash) bool) (known bool, err error) {
	held, err := r.Held(key)
	if err != nil {
		return false, err
	}
	for _, h := range held {
		// Two versions of one writer and stamp differ in their hashes alone, as those
		// of a machine that runs twice: only the record tells which covers which.
		isTwin := h.Writer == v.Writer && h.Stamp == v.Stamp
		if isIt(h.Hash) || !isTwin && merge.Covers(h.Version, v) {
			return true, nil
		}
	}
	at := store.NewPosition(key, "")
	err = r.ParkedIn(key.Section(), store.Span{After: at, UpTo: at + "\xff"}, func(k merge.Key, item merge.Hash) bool {
		known = k == key && isIt(item)
		return !known
	})
	return known, err
}

// askAgain puts questions back whose answers will not come, or were dropped. What
// followed from those answers goes: it would be asked of twice.
func (rc *reconciliation) askAgain(questions []question) {
	for _, q := range questions {
		if slices.ContainsFunc(rc.ask, func(o question) bool { return o.covers(q.Span) }) {
			continue
		}
		rc.ask = slices.DeleteFunc(rc.ask, func(o question) bool { return q.covers(o.Span) })
		rc.gaps = slices.DeleteFunc(rc.gaps, q.covers)
		q.held = nil
		at, _ := slices.BinarySearchFunc(rc.ask, q.After, func(o question, p store.Position) int { return cmp.Compare(o.After, p) })
		rc.ask = slices.Insert(rc.ask, at, q)
	}
}

// covers reports whether a span lies within that of the question.
func (q *question) covers(s store.Span) bool {
	return s.After >= q.After && (q.UpTo == "" || s.UpTo != "" && s.UpTo <= q.UpTo)
}
