package store

import (
	"errors"
	"slices"

	"github.com/fleetsync/fleetd/merge"
)

// stage gathers what one transaction will write, so that a member of a group
// can be undone alone, a row that several members change is written once, and
// the engine is given everything at the end. It is used by the committing
// goroutine alone, again and again.
type stage struct {
	s       *Store
	tx      Txn
	arena   arena
	ops     []op
	tail    tail
	fatal   error // the engine failed: the group cannot go on
	written bool  // everything was handed to the engine

	keys     map[merge.Key]*keyState
	touched  []*keyState // changed, in the order of their first change
	sections map[merge.Section]*stagedSection
	changed  []*stagedSection // to be written, new ones in order of ordinal
	next     ordinal          // of the next new section
	vacant   vacant
	rows     map[string][]byte
	parked   *parkedCount
	blobs    *stagedBlobs
	// retracted is by how much the rows of i/ 3 become more.
	retracted int

	// states is where new key states come from, a block at a time.
	states []keyState

	moves []move // of the members that succeeded

	// What the member in hand did so far.
	undo    []func()
	saved   []savedKey
	effects []effect
}

// op is one write; a nil value is a delete.
type op struct{ key, value []byte }

// effect is what one version does to the digest of its section.
type effect struct {
	move
	// seq is the place of a version that is held since, or one that stands for
	// nothing but the change; 0 when another's tells of it.
	seq uint64
}

type stagedSection struct {
	ordinal ordinal
	state   SectionState
	staged  bool // in stage.changed
}

// keyState is a key's row as the transaction has it so far.
type keyState struct {
	key    merge.Key
	sec    *stagedSection // nil while the section has no ordinal
	stored []byte         // the value in the engine, nil when there is none
	row    row
	// changed says that a member of this group changed the row.
	changed bool
	// head is the record of the head, when this group brought it.
	head *merge.Record
	// past are the history rows that this group adds.
	past []Past
	// rejudged says that the key was computed anew: its rows in h/ are not those of
	// the engine.
	rejudged bool
}

// savedKey is a key as it was before the member in hand changed it.
type savedKey struct {
	ks      *keyState
	before  keyState
	touched int // length of stage.touched
}

func newStage(s *Store) *stage {
	return &stage{
		s: s, keys: map[merge.Key]*keyState{}, sections: map[merge.Section]*stagedSection{},
		rows: map[string][]byte{}, parked: newParkedCount(), blobs: newStagedBlobs(),
	}
}

// begin forgets the last transaction.
func (g *stage) begin(tx Txn) {
	g.tx, g.fatal, g.vacant = tx, nil, vacant{}
	g.arena.reset()
	clear(g.ops)
	clear(g.touched)
	clear(g.changed)
	clear(g.moves)
	g.ops, g.touched, g.changed, g.moves = g.ops[:0], g.touched[:0], g.changed[:0], g.moves[:0]
	g.forget()
	clear(g.keys)
	clear(g.sections)
	clear(g.rows)
	g.parked.clear()
	g.blobs.clear()
	g.retracted = 0
	g.tail = g.s.end()
	g.next = g.s.sections.next()
	clear(g.states)
	g.states = g.states[:0]
}

// member stages one request, or records why it cannot be.
func (g *stage) member(req *request) {
	ops, end := len(g.ops), g.tail
	g.forget()
	req.result, req.commit, req.blob, req.judged, req.restored = Result{}, Commit{Path: req.path}, BlobState{}, 0, 0
	if req.err = g.apply(req); req.err != nil {
		g.rollback()
		g.ops, g.tail = g.ops[:ops], end
		req.result, req.commit = Result{}, Commit{}
		return
	}
	for i := range g.effects {
		e := &g.effects[i]
		g.moves = append(g.moves, e.move)
		if e.leaves {
			e.sec.state.Digest = e.sec.state.Remove(e.item)
		} else {
			e.sec.state.Digest = e.sec.state.Add(e.item)
		}
		e.sec.state.Head = max(e.sec.state.Head, e.seq)
	}
}

// forget lets go of what the last member did.
func (g *stage) forget() {
	clear(g.undo)
	clear(g.saved)
	g.undo, g.saved, g.effects = g.undo[:0], g.saved[:0], g.effects[:0]
}

// rollback undoes what the member in hand did to keys, rows and counts.
func (g *stage) rollback() {
	for _, undo := range slices.Backward(g.undo) {
		undo()
	}
	for _, k := range slices.Backward(g.saved) {
		*k.ks = k.before
		g.touched = g.touched[:k.touched]
	}
}

// apply stages everything of one request.
func (g *stage) apply(req *request) error {
	if err := g.validate(req); err != nil {
		return err
	}
	if err := g.noteJudgedBy(req); err != nil {
		return err
	}
	if err := g.findVacant(req.entries); err != nil {
		return err
	}
	for i := range req.entries {
		if err := g.insert(req, &req.entries[i]); err != nil {
			return err
		}
	}
	for i := range req.parks {
		if err := g.park(req, &req.parks[i]); err != nil {
			return err
		}
	}
	for i := range req.chunks {
		if err := g.chunk(req, &req.chunks[i]); err != nil {
			return err
		}
	}
	if err := g.rejudgeAll(req); err != nil {
		return err
	}
	for _, w := range req.locals {
		g.setRow(append([]byte(prefixLocal), w.name...), w.value)
	}
	// What was refused must be asked for again.
	if req.cursor != nil && !req.unclean && req.result.Refused == 0 {
		g.moveCursor(req.cursor)
	}
	return nil
}

// set stages a value that is complete with its checksum.
func (g *stage) set(key, stored []byte) { g.ops = append(g.ops, op{key, stored}) }

func (g *stage) delete(key []byte) { g.ops = append(g.ops, op{key: key}) }

// get reads one value as the engine has it, with its checksum. Errors:
// ErrNotFound; any other ends the group.
func (g *stage) get(key []byte) ([]byte, error) {
	stored, err := g.tx.Get(key)
	if err != nil && !errors.Is(err, ErrNotFound) {
		g.fatal = err
	}
	return stored, err
}

// stored is get for a row of v/.
func (g *stage) stored(key []byte) ([]byte, error) {
	if g.vacant.has(key) {
		return nil, ErrNotFound
	}
	return g.get(key)
}

// lookup returns the section's state in this transaction, nil when the store
// does not know the section.
func (g *stage) lookup(sec merge.Section) *stagedSection {
	if st := g.sections[sec]; st != nil {
		return st
	}
	state, n := g.s.sections.state(sec)
	if n == 0 {
		return nil
	}
	st := &stagedSection{ordinal: n, state: state}
	g.sections[sec] = st
	return st
}

// section is lookup that gives a new section its ordinal and has the section
// written. An ordinal stays even when the member that needed it is undone.
func (g *stage) section(sec merge.Section) *stagedSection {
	st := g.lookup(sec)
	if st == nil {
		st = &stagedSection{ordinal: g.next, state: SectionState{Section: sec}}
		g.next++
		g.sections[sec] = st
	}
	g.mark(st)
	return st
}

// mark has a section written.
func (g *stage) mark(st *stagedSection) {
	if !st.staged {
		st.staged = true
		g.changed = append(g.changed, st)
	}
}

// key returns the state of a key. Errors: ErrCorrupt, the engine's.
func (g *stage) key(k merge.Key) (*keyState, error) {
	if ks := g.keys[k]; ks != nil {
		return ks, nil
	}
	if len(g.states) == cap(g.states) {
		g.states = make([]keyState, 0, 64)
	}
	g.states = append(g.states, keyState{key: k})
	ks := &g.states[len(g.states)-1]
	if sec := g.lookup(k.Section()); sec != nil {
		ks.sec = sec
		key := appendRowKey(g.arena.room(rowKeySize(prefixVersions, k, 0)), prefixVersions, sec.ordinal, k)
		g.arena.keep(key)
		stored, err := g.stored(key)
		switch {
		case err == nil:
			value, err := openValue(key, stored)
			if err != nil {
				return nil, err
			}
			if ks.row, err = decodeRow(value); err != nil {
				return nil, err
			}
			ks.stored = stored
		case !errors.Is(err, ErrNotFound):
			return nil, err
		}
	}
	g.keys[k] = ks
	return ks, nil
}

// change marks a key as changed and remembers how it was.
func (g *stage) change(ks *keyState) {
	g.saved = append(g.saved, savedKey{ks, *ks, len(g.touched)})
	if !ks.changed {
		ks.changed = true
		g.touched = append(g.touched, ks)
	}
	if ks.sec == nil {
		ks.sec = g.section(ks.key.Section())
	}
	g.mark(ks.sec)
}
