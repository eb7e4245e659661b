package store

import (
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// Reason says why a version is parked. The numbers are stored and never
// reused.
type Reason uint8

const (
	// ReasonAuthority means that nobody known has admitted the writer yet.
	ReasonAuthority Reason = 1 + iota
	// ReasonFuture means that the stamp lies too far ahead of this machine's
	// time.
	ReasonFuture
	// ReasonBanned means that the fleet's statements close the writer or the
	// stamp.
	ReasonBanned
	// ReasonFloor means that a collected tombstone stands above it.
	ReasonFloor
)

// String returns the word that status shows.
func (r Reason) String() string {
	switch r {
	case ReasonAuthority:
		return "authority"
	case ReasonFuture:
		return "future"
	case ReasonBanned:
		return "banned"
	case ReasonFloor:
		return "floor"
	}
	return "unknown"
}

// Parked is a version that is durable here but not held: it neither shows nor
// covers until it is judged again.
type Parked struct {
	Record merge.Record
	Reason Reason
	// Path is how it came; Merge sets it.
	Path Path
}

// parkedHeadBytes is what q/ holds before the record: reason and path.
const parkedHeadBytes = 2

// appendParked appends the value of q/: reason1, path1, record.
func appendParked(dst []byte, p *parkWrite) []byte {
	dst = append(dst, byte(p.Reason), byte(p.Path))
	return append(dst, p.packed.stored[:p.packed.size()]...)
}

// decodeParked is the inverse of appendParked. Errors: ErrCorrupt.
func decodeParked(b []byte) (Parked, error) {
	if len(b) < parkedHeadBytes || b[0] == 0 {
		return Parked{}, fmt.Errorf("%w: parked row of %d bytes", ErrCorrupt, len(b))
	}
	rec, err := merge.Decode(b[parkedHeadBytes:])
	if err != nil {
		return Parked{}, fmt.Errorf("%w: parked record: %w", ErrCorrupt, err)
	}
	return Parked{Record: rec, Reason: Reason(b[0]), Path: Path(b[1])}, nil
}

// parkedCount counts the rows of q/, in the store, or, in a stage, what a
// transaction changes of them.
type parkedCount struct {
	records  int
	bytes    int
	byWriter map[merge.InstanceID]int
}

func newParkedCount() *parkedCount { return &parkedCount{byWriter: map[merge.InstanceID]int{}} }

func (c *parkedCount) clear() {
	c.records, c.bytes = 0, 0
	clear(c.byWriter)
}

func (c *parkedCount) add(writer merge.InstanceID, records, bytes int) {
	c.records += records
	c.bytes += bytes
	if c.byWriter[writer] += records; c.byWriter[writer] == 0 {
		delete(c.byWriter, writer)
	}
}

func (c *parkedCount) adopt(delta *parkedCount) {
	c.bytes += delta.bytes
	for writer, n := range delta.byWriter {
		c.add(writer, n, 0)
	}
}

// loadParked counts the rows of q/. Errors: ErrCorrupt.
func loadParked(tx Txn) (*parkedCount, error) {
	count := newParkedCount()
	err := scan(tx, []byte(prefixParked), nil, false, func(_, value []byte) (bool, error) {
		p, err := decodeParked(value)
		if err == nil {
			count.add(p.Record.Envelope.LastWriterID, 1, len(value))
		}
		return true, err
	})
	return count, err
}

// park stages one version for q/, unless it is known or there is no room.
func (g *stage) park(req *request, p *parkWrite) error {
	ks, err := g.key(p.Record.Key)
	if err != nil {
		return err
	}
	item := p.Record.Hash()
	for i := range ks.row.held {
		if ks.row.held[i].Hash == item {
			req.result.Known++
			return nil
		}
	}
	if ks.sec == nil {
		ks.sec = g.section(p.Record.Key.Section())
	}
	key := parkedKey(nil, ks.sec.ordinal, p.Record.Key, item)
	stored, err := g.getRow(key)
	if err != nil {
		return err
	}
	writer, size := p.Record.Envelope.LastWriterID, p.packed.size()+parkedHeadBytes
	switch {
	case stored == nil && !g.hasRoom(writer, size):
		req.result.Refused++
		return nil
	case stored == nil:
		g.countParked(writer, 1, size)
	}
	g.setRow(key, appendParked(nil, p))
	req.result.Parked++
	return nil
}

func (g *stage) hasRoom(writer merge.InstanceID, size int) bool {
	have, cfg := g.s.parked, &g.s.cfg
	return have.records+g.parked.records < cfg.ParkedMax &&
		have.byWriter[writer]+g.parked.byWriter[writer] < cfg.ParkedPerWriterMax &&
		have.bytes+g.parked.bytes+size <= parkedBytesMax
}

// hasParked reports whether any version of a writer is parked.
func (g *stage) hasParked(writer merge.InstanceID) bool {
	return g.s.parked.byWriter[writer]+g.parked.byWriter[writer] > 0
}

func (g *stage) countParked(writer merge.InstanceID, records, bytes int) {
	g.parked.add(writer, records, bytes)
	g.undo = append(g.undo, func() { g.parked.add(writer, -records, -bytes) })
}

// free stages the removal of a record from q/; it reports false when it is not
// there any more.
func (g *stage) free(rec *merge.Record) (parked bool, err error) {
	sec := g.lookup(rec.Key.Section())
	if sec == nil {
		return false, nil
	}
	key := parkedKey(nil, sec.ordinal, rec.Key, rec.Hash())
	stored, err := g.getRow(key)
	if err != nil || stored == nil {
		return false, err
	}
	g.countParked(rec.Envelope.LastWriterID, -1, checksumBytes-len(stored))
	g.setRow(key, nil)
	return true, nil
}

// Parked calls fn for every parked version, by section in order of its first
// appearance, then by order key and item hash, until fn returns false. Errors:
// ErrCorrupt.
func (r *Reader) Parked(fn func(p Parked) (more bool)) error {
	return r.parkedFrom(nil, func(_ []byte, p Parked) bool { return fn(p) })
}

func (r *Reader) parkedFrom(from []byte, fn func(key []byte, p Parked) (more bool)) error {
	return scan(r.tx, []byte(prefixParked), from, false, func(key, value []byte) (bool, error) {
		p, err := decodeParked(value)
		if err != nil {
			return false, err
		}
		k, err := r.parseParkedKey(key)
		if errors.Is(err, errUnseen) {
			return true, nil
		}
		if err == nil && k != p.Record.Key {
			err = fmt.Errorf("%w: parked record of %s under %s", ErrCorrupt, p.Record.Key, k)
		}
		if err != nil {
			return false, err
		}
		return fn(key, p), nil
	})
}

func (r *Reader) parseParkedKey(key []byte) (merge.Key, error) {
	n, order, err := splitRowKey(prefixParked, key, len(merge.Hash{}))
	if err != nil {
		return merge.Key{}, err
	}
	return r.parseKey(n, order)
}
