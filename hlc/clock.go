package hlc

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

const (
	// DriftMax is how far a stamp may lie beyond physical time. It bounds what
	// one wrong clock can do to the fleet; five minutes admits machines that
	// have no time synchronisation but are looked at by a person.
	DriftMax = 5 * time.Minute
	// DriftWarn is the drift from which a clock is worth a warning.
	DriftWarn = 5 * time.Second
)

var (
	// ErrClockDrift is returned by Observe for a stamp beyond physical time
	// plus DriftMax. The stamp was not folded in.
	ErrClockDrift = errors.New("hlc: stamp too far ahead of this machine's time")
	// ErrClockAhead is returned by Now when the newest known stamp lies beyond
	// physical time plus DriftMax: this machine's clock was once wrong, or is
	// wrong now.
	ErrClockAhead = errors.New("hlc: own newest stamp is too far ahead of this machine's time")
)

// Clock issues stamps for one instance. It is safe for concurrent use and
// never blocks on anything but its own mutex.
type Clock struct {
	now func() time.Time

	mu   sync.Mutex // guards all following fields
	last Timestamp
}

// NewClock returns a clock that reads physical time from now and begins after
// last, the newest stamp that was persisted (zero for a new instance).
func NewClock(now func() time.Time, last Timestamp) *Clock {
	return &Clock{now: now, last: last}
}

// Now issues a stamp strictly greater than every earlier Now and Observe: the
// physical time when that is ahead, else the successor of the newest stamp.
// It returns ErrClockAhead, and issues nothing, when that successor lies
// beyond physical time plus DriftMax.
func (c *Clock) Now() (Timestamp, error) {
	wall := c.physical()
	c.mu.Lock()
	defer c.mu.Unlock()
	next, ok := c.last.next()
	if wall > next.Wall {
		next, ok = Timestamp{Wall: wall}, true
	}
	if !ok || next.Wall > wall+DriftMax.Milliseconds() {
		return Timestamp{}, tooFar(ErrClockAhead, c.last, wall)
	}
	c.last = next
	return next, nil
}

// Observe folds in a stamp that came from elsewhere, so that later stamps
// follow it. It returns ErrClockDrift, and folds in nothing, when the stamp
// lies beyond physical time plus DriftMax, and ErrSyntax when it is not valid.
func (c *Clock) Observe(remote Timestamp) error {
	if !remote.Valid() {
		return fmt.Errorf("%w: wall %d", ErrSyntax, remote.Wall)
	}
	wall := c.physical()
	c.mu.Lock()
	defer c.mu.Unlock()
	if remote.Wall > wall+DriftMax.Milliseconds() {
		return tooFar(ErrClockDrift, remote, wall)
	}
	if remote.After(c.last) {
		c.last = remote
	}
	return nil
}

// tooFar says in numbers that a stamp lies beyond what a clock bears.
func tooFar(sentinel error, t Timestamp, wall int64) error {
	now := time.UnixMilli(wall).UTC()
	return fmt.Errorf("%w: by %s, it says %s", sentinel, span(t.Wall-wall).Round(time.Second), now.Format(time.RFC3339))
}

// Last returns the newest stamp issued or observed: what the caller persists.
func (c *Clock) Last() Timestamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// Drift returns how far a valid t lies ahead of physical time now; negative
// when it lies behind. What a Duration cannot hold, 292 years, is cut to it.
func (c *Clock) Drift(t Timestamp) time.Duration {
	return span(t.Wall - c.physical())
}

// span returns milliseconds as a Duration, cut to what one can hold.
func span(ms int64) time.Duration {
	const limit = math.MaxInt64 / int64(time.Millisecond)
	return time.Duration(min(max(ms, -limit), limit)) * time.Millisecond
}

// Wall returns what this machine's clock says now, as stamps have it:
// milliseconds since 1970, 0 to WallMax.
func (c *Clock) Wall() int64 { return c.physical() }

// physical returns the time in milliseconds, held within the range that a
// stamp has, so that a clock before 1970 or after 6429 cannot break the codec.
func (c *Clock) physical() int64 {
	return min(max(c.now().UnixMilli(), 0), WallMax)
}
