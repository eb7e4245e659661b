package store

import (
	"context"
	"sync"
)

// Eventcount is a number that rises and can be waited for, as the newest event of
// a stream. The zero value stands at 0. It is safe for concurrent use.
type Eventcount struct {
	mu     sync.Mutex // guards all following fields
	at     uint64
	closed bool
	moved  chan struct{} // closed when at rises or closed is set; nil when nobody waits
}

// Load returns the number.
func (c *Eventcount) Load() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Advance raises the number; one that is not larger changes nothing.
func (c *Eventcount) Advance(to uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if to > c.at {
		c.at = to
		c.wake()
	}
}

// Close ends all waiting, now and later.
func (c *Eventcount) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.wake()
}

// Closed reports whether Close was called.
func (c *Eventcount) Closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Await returns once the number is larger than after: at once when it is.
// Errors: that of ctx, ErrClosed.
func (c *Eventcount) Await(ctx context.Context, after uint64) error {
	for {
		moved, err := c.movedSince(after)
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

// movedSince returns what is closed when the number rises; nil when it is larger
// already.
func (c *Eventcount) movedSince(after uint64) (<-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, ErrClosed
	case c.at > after:
		return nil, nil //nolint:nilnil // nothing to wait for
	case c.moved == nil:
		c.moved = make(chan struct{})
	}
	return c.moved, nil
}

// wake lets those who wait look again. The caller holds mu.
func (c *Eventcount) wake() {
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}
