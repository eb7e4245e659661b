package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// model is the naive twin of a store: all versions that were ever admitted,
// from which what the store must say is computed anew.
type model struct {
	admitted  map[merge.Key][]merge.Version
	records   map[merge.Hash]merge.Record
	parked    map[merge.Hash]store.Parked
	history   map[merge.Hash]bool
	parkedMax int
	writerMax int
	peerMax   int
	local     map[string]string
	cursors   map[string]store.Cursor
}

func newModel(parkedMax, writerMax, peerMax int) *model {
	return &model{
		admitted: map[merge.Key][]merge.Version{}, records: map[merge.Hash]merge.Record{},
		parked: map[merge.Hash]store.Parked{}, history: map[merge.Hash]bool{},
		parkedMax: parkedMax, writerMax: writerMax, peerMax: peerMax,
		local: map[string]string{}, cursors: map[string]store.Cursor{},
	}
}

func (m *model) held(k merge.Key) []merge.Version { return merge.Resolve(m.admitted[k]) }

// admit adds one version and says what the store must count it as. One that
// was parked is kept in history when it is covered.
func (m *model) admit(rec merge.Record) store.Result {
	k, v := rec.Key, rec.Version()
	_, wasParked := m.parked[v.Hash]
	delete(m.parked, v.Hash)
	before := m.held(k)
	m.records[v.Hash] = rec
	if !slices.ContainsFunc(m.admitted[k], func(o merge.Version) bool { return o.Hash == v.Hash }) {
		m.admitted[k] = append(m.admitted[k], v)
	}
	after := m.held(k)
	has := func(versions []merge.Version, h merge.Hash) bool {
		return slices.ContainsFunc(versions, func(o merge.Version) bool { return o.Hash == h })
	}
	for _, o := range before {
		if !has(after, o.Hash) {
			m.history[o.Hash] = true
		}
	}
	switch {
	case has(before, v.Hash):
		return store.Result{Known: 1}
	case has(after, v.Hash):
		return store.Result{Applied: 1}
	}
	if wasParked {
		m.history[v.Hash] = true
	}
	return store.Result{Covered: 1}
}

// park adds one version to the parked, if there is room.
func (m *model) park(p store.Parked) store.Result {
	h, writer := p.Record.Hash(), p.Record.Envelope.LastWriterID
	for _, v := range m.held(p.Record.Key) {
		if v.Hash == h {
			return store.Result{Known: 1}
		}
	}
	if earlier, there := m.parked[h]; there {
		p.From = earlier.From
	} else {
		own, theirs := 0, 0
		for _, o := range m.parked {
			if o.Record.Envelope.LastWriterID == writer {
				own++
			}
			if o.From == p.From {
				theirs++
			}
		}
		if len(m.parked) >= m.parkedMax || own >= m.writerMax || theirs >= m.peerMax {
			return store.Result{Refused: 1}
		}
	}
	m.parked[h] = p
	return store.Result{Parked: 1}
}

// keys returns every key with an admitted version, in the order of the store.
func (m *model) keys(sec merge.Section) []merge.Key {
	var keys []merge.Key
	for k := range m.admitted {
		if k.Section() == sec {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b merge.Key) int { return cmp.Compare(a.Order(), b.Order()) })
	return keys
}

// check compares everything that a snapshot says with the twin.
func (m *model) check(s *store.Store) error {
	return s.View(func(r *store.Reader) error {
		sections := map[merge.Section]bool{}
		for k := range m.admitted {
			sections[k.Section()] = true
			if err := m.checkKey(r, k); err != nil {
				return err
			}
		}
		for sec := range sections {
			if err := errors.Join(m.checkFeed(r, sec), m.checkRange(r, sec)); err != nil {
				return err
			}
		}
		if got := len(s.Sections()); got != len(sections) {
			return fmt.Errorf("%d sections, want %d", got, len(sections))
		}
		return errors.Join(m.checkConflicts(r), m.checkParked(r), m.checkEvents(r), m.checkPrivate(r))
	})
}

func (m *model) checkKey(r *store.Reader, k merge.Key) error {
	held, err := r.Held(k)
	if err != nil {
		return err
	}
	want := m.held(k)
	if !slices.EqualFunc(store.Versions(held), want, sameVersion) {
		return fmt.Errorf("%s holds %v, want %v", k, store.Versions(held), want)
	}
	for _, v := range want {
		rec, err := r.Record(k, v.Writer)
		original := m.records[v.Hash]
		if err != nil || string(rec.Encode()) != string(original.Encode()) {
			return fmt.Errorf("record of %s by %s differs: %w", k, v.Writer, err)
		}
	}
	head, err := r.Head(k)
	if err != nil || head.Hash() != want[len(want)-1].Hash {
		return fmt.Errorf("head of %s differs: %w", k, err)
	}
	past, err := r.History(k)
	if err != nil {
		return err
	}
	for _, p := range past {
		if !m.history[p.Hash] {
			return fmt.Errorf("history of %s has %s at %s, which was never covered", k, p.Writer, p.Stamp)
		}
		if _, err := r.Image(store.Ref{Key: k, Writer: p.Writer, Hash: p.Hash}); err != nil {
			return err
		}
	}
	wantPast := 0
	for _, v := range m.admitted[k] {
		if m.history[v.Hash] {
			wantPast++
		}
	}
	if len(past) != wantPast {
		return fmt.Errorf("history of %s has %d versions, want %d", k, len(past), wantPast)
	}
	return nil
}

// sameVersion compares all fields.
func sameVersion(a, b merge.Version) bool {
	return merge.Compare(a, b) == 0 && a.Deleted == b.Deleted && a.SyncVersion == b.SyncVersion && slices.Equal(a.Basis, b.Basis)
}

// checkFeed holds the feed to the held versions, each once and at rising
// places, and the state of the section to their count and sum.
func (m *model) checkFeed(r *store.Reader, sec merge.Section) error {
	want := store.SectionState{Section: sec}
	missing := map[merge.Hash]bool{}
	for _, k := range m.keys(sec) {
		for _, v := range m.held(k) {
			missing[v.Hash] = true
			want.Count++
			want.Sum = want.Sum.Add(v.Hash)
		}
	}
	last := uint64(0)
	var failed error
	err := r.Feed(sec, 0, func(e store.FeedEntry) bool {
		if !missing[e.Hash] || e.Seq <= last {
			failed = fmt.Errorf("feed of %s at %d after %d: %s by %s", sec, e.Seq, last, e.Key, e.Writer)
		}
		delete(missing, e.Hash)
		last = e.Seq
		return failed == nil
	})
	if err := errors.Join(failed, err); err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("feed of %s lacks %d versions", sec, len(missing))
	}
	got, err := r.State(sec)
	want.Head = got.Head
	if err != nil || got != want || got.Head < last {
		return fmt.Errorf("state of %s is %+v, want %+v and a head of at least %d: %w", sec, got, want, last, err)
	}
	return nil
}

// checkRange walks the section key by key, each time from the last one on.
func (m *model) checkRange(r *store.Reader, sec merge.Section) error {
	after := ""
	for _, want := range m.keys(sec) {
		var got merge.Key
		err := r.Range(sec, after, func(k merge.Key, _ []store.Held) bool {
			got = k
			return false
		})
		if err != nil || got != want {
			return fmt.Errorf("range of %s after %q gives %s, want %s: %w", sec, after, got, want, err)
		}
		after = want.Order()
	}
	return r.Range(sec, after, func(k merge.Key, _ []store.Held) bool {
		after = k.Order()
		return false
	})
}

func (m *model) checkConflicts(r *store.Reader) error {
	want := map[merge.Key]bool{}
	for k := range m.admitted {
		if len(m.held(k)) > 1 {
			want[k] = true
		}
	}
	var wrong error
	err := r.Conflicts(func(k merge.Key, held []store.Held) bool {
		if !want[k] || len(held) != len(m.held(k)) {
			wrong = fmt.Errorf("%s is listed as a conflict of %d", k, len(held))
		}
		delete(want, k)
		return wrong == nil
	})
	if len(want) > 0 {
		wrong = fmt.Errorf("%d conflicts are not listed", len(want))
	}
	return errors.Join(wrong, err)
}

func (m *model) checkParked(r *store.Reader) error {
	got := 0
	var wrong error
	err := r.Parked(func(p store.Parked) bool {
		got++
		want, ok := m.parked[p.Record.Hash()]
		if !ok || want.Reason != p.Reason || want.Path != p.Path || want.From != p.From || string(want.Record.Encode()) != string(p.Record.Encode()) {
			wrong = fmt.Errorf("%s by %s is parked for %s by %s of %q, want %s by %s of %q", p.Record.Key,
				p.Record.Envelope.LastWriterID, p.Reason, p.Path, p.From, want.Reason, want.Path, want.From)
		}
		return wrong == nil
	})
	if got != len(m.parked) {
		wrong = errors.Join(wrong, fmt.Errorf("%d versions are parked, want %d", got, len(m.parked)))
	}
	return errors.Join(wrong, err)
}

// checkEvents folds the state stream and compares the outcome with the heads.
func (m *model) checkEvents(r *store.Reader) error {
	heads := map[merge.Key]merge.Hash{}
	last := uint64(0)
	var wrong error
	err := r.Events(0, func(e store.Event) bool {
		if e.Seq != last+1 {
			wrong = fmt.Errorf("event %d follows %d", e.Seq, last)
		}
		last = e.Seq
		heads[e.Ref.Key] = e.Ref.Hash
		return wrong == nil
	})
	if err := errors.Join(wrong, err); err != nil {
		return err
	}
	for k := range m.admitted {
		held := m.held(k)
		if head := held[len(held)-1]; heads[k] != head.Hash {
			return fmt.Errorf("the events do not end in the head of %s", k)
		}
	}
	newest, err := r.EventHead()
	if newest != last || len(heads) != len(m.admitted) {
		return fmt.Errorf("event head %d after %d events of %d keys: %w", newest, last, len(heads), err)
	}
	return err
}

// checkPrivate compares what never leaves the machine.
func (m *model) checkPrivate(r *store.Reader) error {
	for name, want := range m.local {
		got, err := r.Local(name)
		if want == "" && errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil || string(got) != want {
			return fmt.Errorf("local %q is %q, want %q: %w", name, got, want, err)
		}
	}
	for peer, want := range m.cursors {
		got, err := r.Cursor(merge.InstanceID(peer), merge.Section{Family: "skill"})
		if err != nil || got != want {
			return fmt.Errorf("cursor of %s is %+v, want %+v: %w", peer, got, want, err)
		}
	}
	return nil
}
