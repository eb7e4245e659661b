package store

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/fleetsync/fleetd/merge"
)

// SectionState is what a store holds of one section, as one pair: the digest
// belongs to exactly this head.
type SectionState struct {
	Section merge.Section
	// Head is the newest place in the feed at which the section changed; 0 when
	// it never held anything.
	Head uint64
	// Digest is that of all held versions.
	Digest
	// Suspect says that, when the digests of this opening or of an earlier one were
	// built, the rows on the disk were not what the store had written: something is
	// damaged or missing and must be fetched from peers.
	Suspect bool
}

// ordinals is the section table as a Reader sees it. It is immutable: a new
// section makes a new table, which shares what it can with the one before.
type ordinals struct {
	names []merge.Section // by ordinal - 1
	known *sectionNumbers // of these names, and of those of later tables
	late  map[merge.Section]ordinal
}

// of returns the ordinal of a section; ok is false for one that the table lacks.
func (o *ordinals) of(sec merge.Section) (n ordinal, ok bool) {
	if n = o.known.of(sec); n > 0 && uint64(n) <= uint64(len(o.names)) {
		return n, true
	}
	n, ok = o.late[sec]
	return n, ok
}

// sectionNumbers leads from sections to their ordinals. It only grows. Safe for
// concurrent use.
type sectionNumbers struct {
	mu sync.RWMutex // guards all following fields
	by map[merge.Section]ordinal
}

// of returns the ordinal of a section, 0 when it has none.
func (s *sectionNumbers) of(sec merge.Section) ordinal {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.by[sec]
}

func (s *sectionNumbers) add(sec merge.Section, n ordinal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by[sec] = n
}

// section returns the section of an ordinal. Errors: ErrCorrupt.
func (o *ordinals) section(sec ordinal) (merge.Section, error) {
	if sec == 0 || uint64(sec) > uint64(len(o.names)) {
		return merge.Section{}, fmt.Errorf("%w: section ordinal %d", ErrCorrupt, sec)
	}
	return o.names[sec-1], nil
}

// asOf returns the table with the sections that a snapshot has beyond it. A
// commit shows in the engine a moment before it shows in memory, and rows of an
// index name keys of sections that are new: those must be found. Errors:
// ErrCorrupt, the engine's.
func (o *ordinals) asOf(tx Txn) (*ordinals, error) {
	grown := o
	for {
		value, err := get(tx, appendSectionKey(nil, prefixSection, ordinal(len(grown.names)+1)))
		if errors.Is(err, ErrNotFound) {
			return grown, nil
		}
		if err != nil {
			return nil, err
		}
		state, err := decodeSectionRow(value)
		if err != nil {
			return nil, err
		}
		if grown == o {
			grown = &ordinals{names: slices.Clone(o.names), known: o.known, late: map[merge.Section]ordinal{}}
		}
		grown.names = append(grown.names, state.Section)
		grown.late[state.Section] = ordinal(len(grown.names))
	}
}

// sectionTable is the store's memory of its sections. Safe for concurrent use.
type sectionTable struct {
	mu     sync.RWMutex // guards all following fields
	table  *ordinals
	states []SectionState // by ordinal - 1
}

func newSectionTable(states []SectionState) *sectionTable {
	table := &ordinals{known: &sectionNumbers{by: map[merge.Section]ordinal{}}}
	for i := range states {
		table.known.add(states[i].Section, ordinal(i+1))
		table.names = append(table.names, states[i].Section)
	}
	return &sectionTable{states: states, table: table}
}

// ordinals returns the table as it is now.
func (t *sectionTable) ordinals() *ordinals {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.table
}

func (t *sectionTable) list() []SectionState {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var held []SectionState
	for _, state := range t.states {
		if state.Head > 0 {
			held = append(held, state)
		}
	}
	return held
}

func (t *sectionTable) state(sec merge.Section) (SectionState, ordinal) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, ok := t.table.of(sec)
	if !ok {
		return SectionState{Section: sec}, 0
	}
	return t.states[n-1], n
}

// next returns the ordinal of the next new section.
func (t *sectionTable) next() ordinal {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return ordinal(len(t.states) + 1)
}

// adopt takes over what a transaction wrote, in ascending order of new
// ordinals.
func (t *sectionTable) adopt(changed []*stagedSection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := t.table.names
	for _, c := range changed {
		if uint64(c.ordinal) <= uint64(len(t.states)) {
			t.states[c.ordinal-1] = c.state
			continue
		}
		t.states = append(t.states, c.state)
		t.table.known.add(c.state.Section, c.ordinal)
		names = append(names, c.state.Section) // beyond what older tables see
	}
	if len(names) > len(t.table.names) {
		t.table = &ordinals{names: names, known: t.table.known}
	}
}

// replace takes over what was read from the engine.
func (t *sectionTable) replace(fresh *sectionTable) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.table, t.states = fresh.table, fresh.states
}

// prove puts in the place of each state what fn makes of it.
func (t *sectionTable) prove(fn func(n ordinal, written SectionState) SectionState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.states {
		t.states[i] = fn(ordinal(i+1), t.states[i])
	}
}

// appendSectionRow appends the stored form of a section: text id, head8,
// count8, sum32, suspect1.
func appendSectionRow(dst []byte, s *SectionState) []byte {
	dst = appendText(dst, s.Section.ID())
	dst = appendUint64(dst, s.Head)
	dst = appendUint64(dst, uint64(s.Count))
	sum := s.Sum.Bytes()
	dst = append(dst, sum[:]...)
	if s.Suspect {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// decodeSectionRow is the inverse of appendSectionRow. Errors: ErrCorrupt.
func decodeSectionRow(b []byte) (SectionState, error) {
	d := decoder{rest: string(b)}
	id := d.text()
	s := SectionState{Head: d.uint64(), Digest: Digest{int64(d.uint64()), sumOf(d.hash())}}
	suspect := d.byte()
	s.Suspect = suspect == 1
	section, err := merge.ParseSectionID(id)
	if err != nil || !d.done() || suspect > 1 || s.Count < 0 {
		return SectionState{}, fmt.Errorf("%w: section row of %d bytes", ErrCorrupt, len(b))
	}
	s.Section = section
	return s, nil
}

// loadSections reads the section table. Errors: ErrCorrupt.
func loadSections(tx Txn) ([]SectionState, error) {
	var states []SectionState
	err := scan(tx, []byte(prefixSection), nil, false, func(key, value []byte) (bool, error) {
		state, err := decodeSectionRow(value)
		if err != nil {
			return false, err
		}
		states = append(states, state)
		if want := appendSectionKey(nil, prefixSection, ordinal(len(states))); string(want) != string(key) {
			return false, fmt.Errorf("%w: section table has a gap at %d", ErrCorrupt, len(states))
		}
		return true, nil
	})
	return states, err
}
