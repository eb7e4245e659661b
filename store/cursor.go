package store

import (
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// Cursor is a position in the feed of another store, or of this one as
// somebody else knows it.
type Cursor struct {
	Store       ID
	Incarnation Incarnation
	Seq         uint64
}

// CursorMove sets this store's position in a peer's feed of a section.
type CursorMove struct {
	Peer    merge.InstanceID
	Section merge.Section
	Cursor  Cursor
}

func appendCursor(dst []byte, c Cursor) []byte {
	dst = append(dst, c.Store[:]...)
	dst = appendUint64(dst, uint64(c.Incarnation))
	return appendUint64(dst, c.Seq)
}

func decodeCursor(b []byte) (Cursor, error) {
	d := decoder{rest: string(b)}
	var c Cursor
	copy(c.Store[:], d.bytes(uint64(len(c.Store))))
	c.Incarnation, c.Seq = Incarnation(d.uint64()), d.uint64()
	if !d.done() {
		return Cursor{}, fmt.Errorf("%w: cursor of %d bytes", ErrCorrupt, len(b))
	}
	return c, nil
}

func (g *stage) moveCursor(m *CursorMove) {
	key := peerKey(m.Peer, g.section(m.Section).ordinal)
	g.finish(key, appendCursor(nil, m.Cursor))
}

// Cursor returns this store's position in a peer's feed of a section. Errors:
// ErrNotFound when there is none, ErrCorrupt.
func (r *Reader) Cursor(peer merge.InstanceID, sec merge.Section) (Cursor, error) {
	n, ok := r.table.of(sec)
	if !ok {
		return Cursor{}, ErrNotFound
	}
	value, err := get(r.tx, peerKey(peer, n))
	if err != nil {
		return Cursor{}, err
	}
	return decodeCursor(value)
}

// CursorState is what a store says of a position in its own feed.
type CursorState uint8

const (
	// CursorUnknown belongs to another store, or to an opening that this one
	// does not remember, as after a restored backup. Reconcile.
	CursorUnknown CursorState = iota
	// CursorValid says that what comes after it in the feed is all that is
	// missing.
	CursorValid
	// CursorBeyond lies after the end of its opening: this store has lost what
	// it had written last. Go on from that end, and reconcile.
	CursorBeyond
)

// CheckCursor judges a position in this store's feed as a partner remembers
// it. The end is the last place of the cursor's opening, for CursorBeyond.
// Errors: ErrCorrupt.
func (r *Reader) CheckCursor(c Cursor) (state CursorState, end uint64, err error) {
	if c.Store != r.store.id {
		return CursorUnknown, 0, nil
	}
	newest, err := loadTail(r.tx)
	if err != nil {
		return CursorUnknown, 0, err
	}
	end, known := endOf(r.store.openings, c.Incarnation, newest.seq)
	switch {
	case !known:
		return CursorUnknown, 0, nil
	case c.Seq > end:
		return CursorBeyond, end, nil
	}
	return CursorValid, end, nil
}
