package simulation

import "time"

// epoch is when every simulation begins: an arbitrary instant after the first
// release, so that stamps look like real ones.
func epoch() time.Time { return time.Date(2027, time.March, 1, 8, 0, 0, 0, time.UTC) }

// Clock is virtual time and the queue of what will happen in it. Events at one
// instant happen in the order in which they were scheduled, so a run depends
// on nothing but its seed. It belongs to one goroutine.
type Clock struct {
	began   time.Time     // the epoch
	now     time.Duration // since then
	jumped  time.Duration
	stopped bool
	serial  uint64
	queue   eventQueue
}

// event is something that happens at a time since the epoch.
type event struct {
	at     time.Duration
	serial uint64
	do     func()
}

// NewClock returns a clock at the simulation's epoch with nothing to do.
func NewClock() *Clock { return &Clock{began: epoch()} }

// Now returns the virtual time.
func (c *Clock) Now() time.Time { return c.began.Add(c.now) }

// Elapsed returns the virtual time since the epoch, jumps included.
func (c *Clock) Elapsed() time.Duration { return c.now }

// Jumped returns how much of Elapsed was passed in jumps.
func (c *Clock) Jumped() time.Duration { return c.jumped }

// After schedules do to happen in d; a negative d means now.
func (c *Clock) After(d time.Duration, do func()) {
	c.serial++
	c.queue.push(event{at: c.now + max(d, 0), serial: c.serial, do: do})
}

// RunFor lets d pass and everything in it happen.
func (c *Clock) RunFor(d time.Duration) {
	until := c.now + d
	for len(c.queue) > 0 && c.queue[0].at <= until && !c.stopped {
		next := c.queue.pop()
		c.now = next.at
		next.do()
	}
	c.now = until
}

// stop lets nothing happen any more; time still passes.
func (c *Clock) stop() { c.stopped = true }

// Jump lets d pass in which nobody does anything, as when every machine
// sleeps: what was to happen happens d later.
func (c *Clock) Jump(d time.Duration) {
	c.now += d
	c.jumped += d
	for i := range c.queue {
		c.queue[i].at += d
	}
}

// eventQueue is a heap by time, then by order of scheduling. The children of i
// are those from eventFan*i+1 on; container/heap would allocate for each event.
type eventQueue []event

const eventFan = 4

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.serial < o.serial
}

func (q *eventQueue) push(e event) {
	*q = append(*q, e)
	h := *q
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / eventFan
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

func (q *eventQueue) pop() event {
	h := *q
	first, last := h[0], h[len(h)-1]
	h[len(h)-1] = event{}
	h = h[:len(h)-1]
	*q = h
	if len(h) > 0 {
		h.sink(last)
	}
	return first
}

// sink puts an event where the first was.
func (q eventQueue) sink(e event) {
	i := 0
	for {
		least := eventFan*i + 1
		if least >= len(q) {
			break
		}
		for child := least + 1; child < min(eventFan*(i+1)+1, len(q)); child++ {
			if q[child].before(&q[least]) {
				least = child
			}
		}
		if !q[least].before(&e) {
			break
		}
		q[i] = q[least]
		i = least
	}
	q[i] = e
}
