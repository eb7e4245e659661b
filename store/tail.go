package store

import (
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
)

// tail is the end of the store's counters: one row, written in every
// transaction.
type tail struct {
	seq   uint64        // newest place in the feed
	event uint64        // newest event of the state stream
	stamp hlc.Timestamp // newest stamp issued or observed
}

func appendTail(dst []byte, t tail) []byte {
	dst = appendUint64(dst, t.seq)
	dst = appendUint64(dst, t.event)
	return t.stamp.AppendBinary(dst)
}

// loadTail reads the row, which every store has. Errors: ErrCorrupt.
func loadTail(tx Txn) (tail, error) {
	value, err := get(tx, []byte(keyTail))
	if err != nil {
		return tail{}, missing(err, "tail")
	}
	d := decoder{rest: string(value)}
	t := tail{seq: d.uint64(), event: d.uint64(), stamp: d.stamp()}
	if !d.done() {
		return tail{}, fmt.Errorf("%w: tail of %d bytes", ErrCorrupt, len(value))
	}
	return t, nil
}

// Head returns the newest place in the feed: what is held does not change
// without it.
func (s *Store) Head() uint64 { return s.end().seq }

// moveTail takes over the counters of a durable transaction.
func (s *Store) moveTail(t tail) {
	s.mu.Lock()
	s.tail = t
	s.mu.Unlock()
	s.events.Advance(t.event)
}

// end returns the counters after the last transaction.
func (s *Store) end() tail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail
}
