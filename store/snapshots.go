package store

import "sync"

// snapshots numbers the transactions of a badger engine, in the order of their
// commits, and knows what views still see. Badger would number them itself, but
// then a view waits for the transaction that is being synced: here it sees the
// one before. Safe for concurrent use.
type snapshots struct {
	mu     sync.Mutex     // guards all following fields
	newest uint64         // the last transaction that is durable
	open   map[uint64]int // views, by the transaction that they see as the last
}

// begin returns what a view sees as the last transaction.
func (s *snapshots) begin() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[s.newest]++
	return s.newest
}

// end is the end of a view.
func (s *snapshots) end(seen uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[seen]--; s.open[seen] == 0 {
		delete(s.open, seen)
	}
}

// next returns the number of the next transaction.
func (s *snapshots) next() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest + 1
}

// advance makes a transaction the last. It returns the one before which no view
// sees anything: what was replaced up to it may go.
func (s *snapshots) advance(to uint64) (oldest uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest = to
	oldest = to
	for seen := range s.open {
		oldest = min(oldest, seen)
	}
	return oldest
}
