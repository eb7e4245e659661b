package store

import (
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// Reason says why a version may not be held. The numbers are stored and never
// reused; 0 is no reason.
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
	// ReasonWithdrawn means that the fleet has withdrawn this version by its digest.
	ReasonWithdrawn
	// ReasonClosed means that the writer has handed over to a successor before.
	ReasonClosed
)

// Reasons returns every reason.
func Reasons() []Reason {
	return []Reason{ReasonAuthority, ReasonFuture, ReasonBanned, ReasonFloor, ReasonWithdrawn, ReasonClosed}
}

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
	case ReasonWithdrawn:
		return "withdrawn"
	case ReasonClosed:
		return "closed"
	}
	return "unknown"
}

// Parked is a version that is durable here but not held: it neither shows nor
// covers until it is judged again.
type Parked struct {
	Record merge.Record
	Reason Reason
	// Path is how it came, and From the peer that delivered it first, empty for
	// nobody in particular; Merge sets them.
	Path Path
	From merge.InstanceID
}

// parkedHasPeer is set in the first byte of a row that names a peer.
const parkedHasPeer = 0x80

// appendParked appends the value of q/: reason1, with parkedHasPeer set path1
// and the peer as a text, else path1, then the record.
func appendParked(dst []byte, p *parkWrite) []byte {
	reason := byte(p.Reason)
	if p.From == "" {
		dst = append(dst, reason, byte(p.Path))
	} else {
		dst = appendText(append(dst, reason|parkedHasPeer, byte(p.Path)), string(p.From))
	}
	return append(dst, p.packed.stored[:p.packed.size()]...)
}

// size returns the length of what appendParked appends.
func (p *parkWrite) size() int { return parkedHeadBytes(p.From) + p.packed.size() }

// parkedHeadBytes is what q/ holds before a record.
func parkedHeadBytes(from merge.InstanceID) int {
	if from == "" {
		return 2
	}
	return 2 + len(appendText(nil, string(from)))
}

// decodeParked is the inverse of appendParked. Errors: ErrCorrupt.
func decodeParked(b []byte) (Parked, error) {
	d := decoder{rest: string(b)}
	reason, path := d.byte(), d.byte()
	p := Parked{Reason: Reason(reason &^ parkedHasPeer), Path: Path(path)}
	if reason&parkedHasPeer != 0 {
		p.From = merge.InstanceID(d.text())
		d.bad = d.bad || p.From == ""
	}
	if d.bad || p.Reason == 0 {
		return Parked{}, fmt.Errorf("%w: parked row of %d bytes", ErrCorrupt, len(b))
	}
	rec, err := merge.Decode([]byte(d.rest))
	if err != nil {
		return Parked{}, fmt.Errorf("%w: parked record: %w", ErrCorrupt, err)
	}
	p.Record = rec
	return p, nil
}

// room is what parked versions take.
type room struct{ records, bytes int }

func (r room) add(o room) room { return room{r.records + o.records, r.bytes + o.bytes} }

// parkedCount counts the rows of q/, in the store, or, in a stage, what a
// transaction changes of them.
type parkedCount struct {
	room
	byWriter map[merge.InstanceID]int
	byPeer   map[merge.InstanceID]room // by whom they were delivered
}

func newParkedCount() *parkedCount {
	return &parkedCount{byWriter: map[merge.InstanceID]int{}, byPeer: map[merge.InstanceID]room{}}
}

func (c *parkedCount) clear() {
	c.room = room{}
	clear(c.byWriter)
	clear(c.byPeer)
}

func (c *parkedCount) add(writer, from merge.InstanceID, more room) {
	c.room = c.room.add(more)
	c.addWriter(writer, more.records)
	c.addPeer(from, more)
}

func (c *parkedCount) addWriter(writer merge.InstanceID, records int) {
	if c.byWriter[writer] += records; c.byWriter[writer] == 0 {
		delete(c.byWriter, writer)
	}
}

func (c *parkedCount) addPeer(from merge.InstanceID, more room) {
	if c.byPeer[from] = c.byPeer[from].add(more); c.byPeer[from] == (room{}) {
		delete(c.byPeer, from)
	}
}

func (c *parkedCount) adopt(delta *parkedCount) {
	c.room = c.room.add(delta.room)
	for writer, n := range delta.byWriter {
		c.addWriter(writer, n)
	}
	for from, more := range delta.byPeer {
		c.addPeer(from, more)
	}
}

// loadParked counts the rows of q/. Errors: ErrCorrupt.
func loadParked(tx Txn) (*parkedCount, error) {
	count := newParkedCount()
	err := scan(tx, []byte(prefixParked), nil, false, func(_, value []byte) (bool, error) {
		p, err := decodeParked(value)
		if err == nil {
			count.add(p.Record.Envelope.LastWriterID, p.From, room{1, len(value)})
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
	if marked, err := g.isRetracted(ks, item); err != nil || marked {
		req.result.Known++
		return err
	}
	if ks.sec == nil {
		ks.sec = g.section(p.Record.Key.Section())
	}
	key := parkedKey(nil, ks.sec.ordinal, p.Record.Key, item)
	stored, err := g.getRow(key)
	if err != nil {
		return err
	}
	switch {
	case stored != nil: // and it takes the room of who delivered it first
		value, err := openValue(key, stored)
		if err != nil {
			return err
		}
		earlier, err := decodeParked(value)
		if err != nil {
			return err
		}
		p.From = earlier.From
	case p.again:
		return nil
	case !g.hasRoom(p):
		req.result.Refused++
		return nil
	default:
		g.countParked(p.Record.Envelope.LastWriterID, p.From, room{1, p.size()})
	}
	g.setRow(key, appendParked(nil, p))
	req.result.Parked++
	return nil
}

func (g *stage) hasRoom(p *parkWrite) bool {
	have, cfg, writer := g.s.parked, &g.s.cfg, p.Record.Envelope.LastWriterID
	all := have.room.add(g.parked.room)
	theirs := have.byPeer[p.From].add(g.parked.byPeer[p.From])
	return all.records < cfg.ParkedMax && all.bytes+p.size() <= parkedBytesMax &&
		have.byWriter[writer]+g.parked.byWriter[writer] < cfg.ParkedPerWriterMax &&
		theirs.records < cfg.ParkedPerPeerMax && theirs.bytes+p.size() <= parkedPerPeerBytesMax
}

// hasParked reports whether any version of a writer is parked.
func (g *stage) hasParked(writer merge.InstanceID) bool {
	return g.s.parked.byWriter[writer]+g.parked.byWriter[writer] > 0
}

func (g *stage) countParked(writer, from merge.InstanceID, more room) {
	g.parked.add(writer, from, more)
	g.undo = append(g.undo, func() { g.parked.add(writer, from, room{-more.records, -more.bytes}) })
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
	value, err := openValue(key, stored)
	if err != nil {
		return false, err
	}
	p, err := decodeParked(value)
	if err != nil {
		return false, err
	}
	g.countParked(rec.Envelope.LastWriterID, p.From, room{-1, -len(value)})
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
