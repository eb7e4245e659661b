package store

import "context"

// AwaitEvent returns once the state stream has an event after the given number:
// at once when it has. Errors: that of ctx, ErrClosed.
func (s *Store) AwaitEvent(ctx context.Context, after uint64) error {
	for {
		moved, err := s.movedSince(after)
		if moved == nil || err != nil {
			return err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// movedSince returns what is closed when the tail moves; nil when the stream has
// gone beyond a number already.
func (s *Store) movedSince(event uint64) (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.tail.event > event:
		return nil, nil //nolint:nilnil // nothing to wait for
	case s.moved == nil:
		s.moved = make(chan struct{})
	}
	return s.moved, nil
}

// moveTail takes over the counters of a durable transaction.
func (s *Store) moveTail(t tail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tail = t
	s.wake()
}

// wake lets those who wait look again. The caller holds mu.
func (s *Store) wake() {
	if s.moved != nil {
		close(s.moved)
		s.moved = nil
	}
}
