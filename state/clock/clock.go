// Package clock is where package state reads physical time: an injected value,
// so that tests, replays and simulations decide what time it is.
package clock

import (
	"sync"
	"time"
)

// Clock is a source of physical time. Implementations are safe for concurrent
// use and return UTC. It need not be monotonic: stamps come from package hlc,
// which tolerates a clock that jumps either way.
type Clock interface {
	// Now returns the current time in UTC.
	Now() time.Time
}

// System is the wall clock of the machine. The zero value is ready.
type System struct{}

// Now implements Clock.
func (System) Now() time.Time {
	return time.Now().UTC() //nolint:forbidigo // the one adapter between the wall clock and state
}

// Manual is a clock that stands still until it is told otherwise. It is safe
// for concurrent use; the zero value stands at the zero time, NewManual sets
// another.
type Manual struct {
	mu  sync.Mutex // guards now
	now time.Time
}

// NewManual returns a clock that stands at start.
func NewManual(start time.Time) *Manual { return &Manual{now: start.UTC()} }

// Now implements Clock.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock by d, which may be negative.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// Set moves the clock to t.
func (m *Manual) Set(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = t.UTC()
}

var (
	_ Clock = System{}
	_ Clock = (*Manual)(nil)
)
