package store

import (
	"errors"
	"fmt"
)

const feedKeyBytes = len(prefixFeed) + ordinalBytes + seqBytes

// missing turns the absence of a row that another row promises into
// ErrCorrupt, and passes other errors.
func missing(err error, format string, args ...any) error {
	if errors.Is(err, ErrNotFound) {
		return fmt.Errorf("%w: no %s", ErrCorrupt, fmt.Sprintf(format, args...))
	}
	return err
}

// setRecord stages r/ for the version that gets this seq.
func (g *stage) setRecord(ks *keyState, e *entry, seq uint64) {
	size := rowKeySize(prefixRecord, ks.key, seqBytes)
	key := appendSeqKey(g.arena.room(size), prefixRecord, ks.sec.ordinal, ks.key, seq)
	g.arena.keep(key)
	g.set(key, e.packed.under(key))
}

// setFeed stages s/ for a held version: text order key, text writer.
func (g *stage) setFeed(ks *keyState, h *Held) {
	key := feedKey(g.arena.room(feedKeyBytes), ks.sec.ordinal, h.Seq)
	g.arena.keep(key)
	n := len(ks.key.Kind) + len(ks.key.ID) + len(h.Writer) + 16
	value := appendFeed(g.arena.room(n), ks.key, h.Writer)
	g.finish(key, value)
}

// setPast stages h/ for a version that is covered now.
func (g *stage) setPast(ks *keyState, h *Held) {
	p := Past{Held: *h, CoveredAt: g.s.cfg.Now().UTC()}
	size := rowKeySize(prefixHistory, ks.key, seqBytes)
	key := appendSeqKey(g.arena.room(size), prefixHistory, ks.sec.ordinal, ks.key, h.Seq)
	g.arena.keep(key)
	g.finish(key, appendPast(g.arena.room(heldBytes(h)+8+checksumBytes), &p))
	ks.past = append(ks.past, p)
	ks.row.history++
}

// setConflict stages i/ 1: whether the key holds more than its head.
func (g *stage) setConflict(ks *keyState, conflict bool) {
	size := rowKeySize(prefixConflict, ks.key, 0)
	key := appendRowKey(g.arena.room(size), prefixConflict, ks.sec.ordinal, ks.key)
	g.arena.keep(key)
	if !conflict {
		g.delete(key)
		return
	}
	g.finish(key, g.arena.room(checksumBytes))
}

// setEvent stages e/.
func (g *stage) setEvent(ks *keyState, e *Event) {
	key := eventKey(g.arena.room(len(prefixEvent)+seqBytes), e.Seq)
	g.arena.keep(key)
	n := len(e.Type) + len(ks.key.Kind) + len(ks.key.ID) + len(e.Ref.Writer) + 80
	g.finish(key, appendEvent(g.arena.room(n), ks.sec.ordinal, e))
}

// setRow stages a row that a later member of the group may read: one of i/ 2,
// m/local/ or b/. A nil value deletes it.
func (g *stage) setRow(key, value []byte) {
	name := string(key)
	before, had := g.rows[name]
	g.undo = append(g.undo, func() {
		if had {
			g.rows[name] = before
			return
		}
		delete(g.rows, name)
	})
	if value == nil {
		g.rows[name] = nil
		g.delete(key)
		return
	}
	stored := append(g.arena.room(len(value)+checksumBytes), value...)
	stored = appendChecksum(stored, key)
	g.arena.keep(stored)
	g.rows[name] = stored
	g.set(key, stored)
}

// getRow reads such a row as this transaction has it, with its checksum; nil
// when there is none.
func (g *stage) getRow(key []byte) ([]byte, error) {
	if stored, staged := g.rows[string(key)]; staged {
		return stored, nil
	}
	stored, err := g.get(key)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return stored, err
}

// finish completes a value that was begun in the arena and stages it.
func (g *stage) finish(key, value []byte) {
	value = appendChecksum(value, key)
	g.arena.keep(value)
	g.set(key, value)
}

// flush stages the rows that are written once a transaction and hands
// everything to the engine. A transaction without a write stays empty.
func (g *stage) flush() error {
	if len(g.ops)+len(g.touched)+len(g.changed) == 0 {
		return nil
	}
	if err := g.prune(); err != nil {
		return err
	}
	if err := g.settleBlobs(); err != nil {
		return err
	}
	for _, ks := range g.touched {
		key := appendRowKey(g.arena.room(rowKeySize(prefixVersions, ks.key, 0)), prefixVersions, ks.sec.ordinal, ks.key)
		g.arena.keep(key)
		if ks.row.empty() {
			g.delete(key)
			continue
		}
		g.finish(key, appendRow(g.arena.room(rowBytes(&ks.row)+checksumBytes), &ks.row))
	}
	for _, sec := range g.changed {
		key := appendSectionKey(nil, prefixSection, sec.ordinal)
		g.finish(key, appendSectionRow(nil, &sec.state))
	}
	g.tail.stamp = g.s.clock.Last()
	g.finish([]byte(keyTail), appendTail(nil, g.tail))
	for _, o := range g.ops {
		if err := o.write(g.tx); err != nil {
			return err
		}
	}
	return nil
}

func (o *op) write(tx Txn) error {
	if o.value == nil {
		return tx.Delete(o.key)
	}
	return tx.Set(o.key, o.value)
}
