package simulation

import (
	"container/heap"
	"time"
)

// epoch is when every simulation begins: an arbitrary instant after the first
// release, so that stamps look like real ones.
func epoch() time.Time { return time.Date(2027, time.March, 1, 8, 0, 0, 0, time.UTC) }

// Clock is virtual time and the queue of what will happen in it. Events at one
// instant happen in the order in which they were scheduled, so a run depends
// on nothing but its seed. It belongs to one goroutine.
type Clock struct {
	now    time.Time
	serial uint64
	queue  eventQueue
	jumped time.Duration
}

type event struct {
	at     time.Time
	serial uint64
	do     func()
}

// NewClock returns a clock at the simulation's epoch with nothing to do.
func NewClock() *Clock { return &Clock{now: epoch()} }

// Now returns the virtual time.
func (c *Clock) Now() time.Time { return c.now }

// Elapsed returns the virtual time since the epoch, jumps included.
func (c *Clock) Elapsed() time.Duration { return c.now.Sub(epoch()) }

// Jumped returns how much of Elapsed was passed in jumps.
func (c *Clock) Jumped() time.Duration { return c.jumped }

// After schedules do to happen in d; a negative d means now.
func (c *Clock) After(d time.Duration, do func()) {
	c.serial++
	heap.Push(&c.queue, event{at: c.now.Add(max(d, 0)), serial: c.serial, do: do})
}

// RunFor lets d pass and everything in it happen.
func (c *Clock) RunFor(d time.Duration) {
	until := c.now.Add(d)
	for len(c.queue) > 0 && !c.queue[0].at.After(until) {
		next := heap.Pop(&c.queue).(event)
		c.now = next.at
		next.do()
	}
	c.now = until
}

// Jump lets d pass in which nobody does anything, as when every machine
// sleeps: what was to happen happens d later.
func (c *Clock) Jump(d time.Duration) {
	c.now = c.now.Add(d)
	c.jumped += d
	for i := range c.queue {
		c.queue[i].at = c.queue[i].at.Add(d)
	}
}

// eventQueue is a heap by time, then by order of scheduling.
type eventQueue []event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	if !q[i].at.Equal(q[j].at) {
		return q[i].at.Before(q[j].at)
	}
	return q[i].serial < q[j].serial
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *eventQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = event{}
	*q = old[:len(old)-1]
	return last
}
