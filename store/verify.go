package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fleetsync/fleetd/merge"
)

// Verify reads the whole store while nothing else can commit and proves that
// its parts agree: every held version has its record, its place in the feed
// and its item in the digest, every version in history has its record, and
// there are no others; blobs are referred to as often as their rows say, those
// that are complete are what their hashes say, and the others are wanted; counts, sums and counters are what the rows say, in
// memory and on disk. It costs a read of every record. Errors: ErrCorrupt
// joined with one error for each disagreement, up to a hundred; that of ctx,
// ErrClosed, the engine's.
func (s *Store) Verify(ctx context.Context) error {
	req := newRequest(PathLocal)
	req.prepare = func() error {
		if err := s.settleDoubt(); err != nil {
			return err
		}
		return s.view(nil, func(r *Reader) error {
			v := newVerifier(r)
			if err := v.run(); err != nil {
				return err
			}
			return errors.Join(v.found...)
		})
	}
	return s.submit(ctx, req)
}

// verifier walks a snapshot and gathers what does not agree.
type verifier struct {
	r       *Reader
	end     tail
	counted map[merge.Section]SectionState
	parked  *parkedCount
	refs    map[blobRef]uint64 // that the versions hold
	// What v/ says that there must be.
	held, past, conflicts, retracted int
	found                            []error
}

const disagreementsMax = 100

func newVerifier(r *Reader) *verifier {
	return &verifier{r: r, counted: map[merge.Section]SectionState{}, parked: newParkedCount(), refs: map[blobRef]uint64{}}
}

func (v *verifier) wrong(format string, args ...any) {
	if len(v.found) < disagreementsMax {
		v.found = append(v.found, fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...)))
	}
}

// note keeps an error that damaged bytes caused and returns any other.
func (v *verifier) note(err error) error {
	if errors.Is(err, ErrCorrupt) {
		v.found = append(v.found, err)
		return nil
	}
	return err
}

func (v *verifier) run() error {
	var err error
	if v.end, err = loadTail(v.r.tx); err != nil {
		return err
	}
	if memory := v.r.store.end(); memory.seq != v.end.seq || memory.event != v.end.event {
		v.wrong("tail is %+v on disk, %+v in memory", v.end, memory)
	}
	for _, step := range [...]func() error{v.keys, v.rowCounts, v.sections, v.digests, v.events, v.quarantine, v.blobs} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// keys walks v/ and looks up everything that its rows promise.
func (v *verifier) keys() error {
	return scan(v.r.tx, []byte(prefixVersions), nil, false, func(key, value []byte) (bool, error) {
		return true, v.note(v.rowOf(key, value))
	})
}

// rowOf looks up everything that one row of v/ promises.
func (v *verifier) rowOf(key, value []byte) error {
	n, order, err := splitRowKey(prefixVersions, key, 0)
	if err != nil {
		return err
	}
	k, err := v.r.parseKey(n, order)
	if err != nil {
		v.wrong("row %q: %v", key, err)
		return nil
	}
	versions, err := decodeRow(value)
	if err != nil {
		return err
	}
	return errors.Join(v.note(v.key(n, k, &versions)), v.note(v.history(n, k, &versions)))
}

func (v *verifier) key(n ordinal, k merge.Key, versions *row) error {
	if want := merge.Resolve(Versions(versions.held)); len(want) != len(versions.held) {
		v.wrong("%s holds %d versions, %d of them uncovered", k, len(versions.held), len(want))
	}
	sec := k.Section()
	state := v.counted[sec]
	for i := range versions.held {
		h := &versions.held[i]
		v.held++
		state.Digest = state.Add(h.Hash)
		state.Head = max(state.Head, h.Seq)
		if err := v.version(k, h); err != nil {
			return err
		}
		value, err := get(v.r.tx, feedKey(nil, n, h.Seq))
		if err != nil {
			return missing(err, "feed row %d of %s", h.Seq, k)
		}
		fed, writer, err := decodeFeed(sec, value)
		if err != nil || fed != k || writer != h.Writer {
			v.wrong("feed row %d is %s by %s, want %s by %s (%v)", h.Seq, fed, writer, k, h.Writer, err)
		}
	}
	v.counted[sec] = state
	if head := versions.head(); head != nil {
		if err := v.headEvent(k, head); err != nil {
			return err
		}
	}
	_, err := get(v.r.tx, appendRowKey(nil, prefixConflict, n, k))
	if len(versions.held) > 1 {
		v.conflicts++
		return missing(err, "conflict row of %s", k)
	}
	if !errors.Is(err, ErrNotFound) {
		v.wrong("conflict row of %s, which holds %d versions (%v)", k, len(versions.held), err)
	}
	return nil
}

// version reads the record of a version, held or past.
func (v *verifier) version(k merge.Key, h *Held) error {
	rec, err := v.r.load(k, h)
	if err != nil {
		return err
	}
	want := rec.Version()
	if merge.Compare(want, h.Version) != 0 || want.Deleted != h.Deleted || want.SyncVersion != h.SyncVersion ||
		len(want.Basis) != len(h.Basis) || len(rec.Encode()) != h.Size || h.Seq > v.end.seq || h.Event > v.end.event {
		v.wrong("%s seq %d: the row does not describe its record", k, h.Seq)
	}
	v.refer(k, h, &rec)
	return nil
}

// history looks at the keys that say they have one; a row of any other shows
// in rowCounts.
func (v *verifier) history(n ordinal, k merge.Key, versions *row) error {
	if versions.history == 0 {
		return nil
	}
	past, err := scanPast(v.r.tx, n, k)
	if err != nil {
		return err
	}
	if len(past) != versions.history {
		v.wrong("%s has %d versions in history, its row says %d", k, len(past), versions.history)
	}
	v.past += len(past)
	if slices.ContainsFunc(past, func(p Past) bool { return p.Retracted != 0 }) {
		v.retracted++
		if _, err := get(v.r.tx, retractedKey(n, k)); err != nil {
			return missing(err, "row of the retracted versions of %s", k)
		}
	}
	for i := range past {
		if err := v.version(k, &past[i].Held); err != nil {
			return err
		}
	}
	return nil
}

// headEvent checks that the newest event of a key is there and shows its head.
func (v *verifier) headEvent(k merge.Key, head *Held) error {
	value, err := get(v.r.tx, eventKey(nil, head.Event))
	if err != nil {
		return missing(err, "event %d of the head of %s", head.Event, k)
	}
	e, _, order, err := decodeEvent(head.Event, value)
	if err != nil {
		return err
	}
	if order != k.Order() || e.Ref.Hash != head.Hash {
		v.wrong("event %d does not show the head of %s", head.Event, k)
	}
	return nil
}

// rowCounts closes the circle: everything promised was found, so equal numbers
// leave no row that nothing promises.
func (v *verifier) rowCounts() error {
	for _, c := range [...]struct {
		prefix string
		want   int
	}{
		{prefixRecord, v.held + v.past},
		{prefixFeed, v.held},
		{prefixHistory, v.past},
		{prefixConflict, v.conflicts},
		{prefixRetracted, v.retracted},
	} {
		got := 0
		err := scan(v.r.tx, []byte(c.prefix), nil, false, func(_, _ []byte) (bool, error) {
			got++
			return true, nil
		})
		if err := v.note(err); err != nil {
			return err
		}
		if got != c.want {
			v.wrong("%d rows under %q, want %d", got, c.prefix, c.want)
		}
	}
	return nil
}

func (v *verifier) sections() error {
	states, err := loadSections(v.r.tx)
	if err != nil {
		return v.note(err)
	}
	for _, state := range states {
		counted := v.counted[state.Section]
		if memory := v.r.store.State(state.Section); memory != state {
			v.wrong("section %s is %+v on disk, %+v in memory", state.Section, state, memory)
		}
		if counted.Digest != state.Digest || counted.Head > state.Head || state.Head > v.end.seq {
			v.wrong("section %s is %+v, its rows say %+v", state.Section, state, counted)
		}
	}
	return nil
}

// digests holds each bucket in memory to its rows.
func (v *verifier) digests() error {
	for _, state := range v.r.store.sections.list() {
		for from, more := Position(""), true; more; more = from != "" {
			var err error
			if from, err = v.buckets(state.Section, from, scrubRowsMax); err != nil {
				return err
			}
		}
	}
	return nil
}

// buckets holds so many buckets of a section to their rows, and returns where
// the next begins; empty at the end, and while they are still to be built, from
// these rows.
func (v *verifier) buckets(sec merge.Section, from Position, limit int) (next Position, err error) {
	var list []bucket
	v.r.store.digests.read(sec, func(b *buckets) {
		at := b.find(from)
		list = slices.Clone(b.list[at:min(at+limit+1, len(b.list))])
	})
	for i := range list {
		b, end := &list[i], Position("")
		if i+1 < len(list) {
			end = list[i+1].from[:list[i+1].bound] // also holds bound to what it promises
		}
		if i == limit {
			return b.from, nil
		}
		rows, err := v.r.digestRows(sec, &Span{b.from, end})
		if err != nil {
			return "", v.note(err)
		}
		if rows != b.Digest {
			v.wrong("section %s holds %d versions from %q on, its digest says %d", sec, rows.Count, b.from, b.Count)
		}
	}
	return "", nil
}

func (v *verifier) events() error {
	last := uint64(0)
	err := v.r.Events(0, func(e Event) bool {
		last = e.Seq
		return true
	})
	if last > v.end.event {
		v.wrong("event %d is beyond the newest, %d", last, v.end.event)
	}
	return v.note(err)
}

// quarantine counts q/ and checks that nothing in it is held as well.
func (v *verifier) quarantine() error {
	var failed error
	err := v.r.Parked(func(p Parked) bool {
		size := len(p.Record.Encode()) + parkedHeadBytes(p.From)
		v.parked.add(p.Record.Envelope.LastWriterID, p.From, room{1, size})
		var versions row
		versions, failed = v.r.row(p.Record.Key)
		for i := range versions.held {
			if versions.held[i].Hash == p.Record.Hash() {
				v.wrong("%s is held and parked", p.Record.Key)
			}
		}
		return failed == nil
	})
	if err := errors.Join(v.note(err), v.note(failed)); err != nil {
		return err
	}
	memory := v.r.store.parked
	if memory.room != v.parked.room || !maps.Equal(memory.byWriter, v.parked.byWriter) || !maps.Equal(memory.byPeer, v.parked.byPeer) {
		v.wrong("parked are %d versions of %d bytes, memory says %d of %d",
			v.parked.records, v.parked.bytes, memory.records, memory.bytes)
	}
	return nil
}
