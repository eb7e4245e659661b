package simulation

import "time"

// queueMax bounds the messages that wait on one link; further ones vanish. A
// node's queue for a peer has the same bound.
const queueMax = 64

// link is one direction between two replicas.
type link struct {
	weather  Weather
	cuts     int   // that are going on: messages vanish
	down     bool  // likewise, of a line that flaps
	clogged  bool  // messages wait
	lossy    spell // the probability of a further loss
	corrupt  spell // that of damage
	throttle spell // bytes a second
	hoard    hoard
	waiting  []waiting // for their turn, or for the link to be free
	turn     uint64    // numbers the transfers of waiting[0]; 0 when there is none
	turns    uint64
	last     time.Time // when the newest ordered message arrives
}

// spell is something that is wrong for a while.
type spell struct {
	value float64
	until time.Time
}

// at returns the value, 0 when the spell is over.
func (s spell) at(now time.Time) float64 {
	if s.value == 0 || !now.Before(s.until) {
		return 0
	}
	return s.value
}

// hoard is that a link keeps copies of the next messages, which arrive once
// more long after.
type hoard struct {
	count int
	after time.Duration
}

// parcel is one message on its way over a link.
type parcel struct {
	size int
	loss float64
	// arrive takes a copy that arrives; spoilt says that it was damaged.
	arrive func(spoilt bool)
	// late takes a copy that arrives long after.
	late func()
}

// waiting is a message in the queue of a link.
type waiting struct {
	parcel
	again func() // tells who observes that it goes on
}

// rate is what the link carries, in bytes a second; 0 for any amount.
func (l *link) rate(now time.Time) int64 {
	rate := int64(l.throttle.at(now))
	if w := l.weather.Bandwidth; w > 0 && (rate == 0 || w < rate) {
		rate = w
	}
	return rate
}

// heal ends what is wrong with a link, but for what waits on it.
func (l *link) heal(w Weather) {
	l.weather = w
	l.cuts, l.down, l.clogged = 0, false, false
	l.lossy, l.corrupt, l.throttle, l.hoard = spell{}, spell{}, spell{}, hoard{}
}

// carry sends a message over a link, now or when it is its turn.
func (n *Network) carry(l *link, p parcel) {
	switch {
	case !l.clogged && len(l.waiting) == 0 && l.rate(n.clock.Now()) == 0:
		n.pass(l, p)
		return
	case len(l.waiting) >= queueMax:
		n.cover.fault(FaultOverflow)
		return
	case l.clogged:
		n.cover.fault(FaultClog)
	case len(l.waiting) > 0:
		n.cover.fault(FaultThrottle)
	}
	l.waiting = append(l.waiting, waiting{p, n.watch.postponed()})
	n.pump(l)
}

// pump lets what waits on a link pass, each after the time that its bytes take.
func (n *Network) pump(l *link) {
	for !l.clogged && l.turn == 0 && len(l.waiting) > 0 {
		next := l.waiting[0]
		rate := l.rate(n.clock.Now())
		if rate == 0 {
			l.waiting = l.waiting[1:]
			next.again()
			n.pass(l, next.parcel)
			continue
		}
		l.turns++
		turn := l.turns
		l.turn = turn
		n.clock.After(time.Duration(int64(next.size)*int64(time.Second)/rate), func() {
			if l.turn != turn {
				return // the link became faster or slower meanwhile
			}
			l.turn = 0
			l.waiting = l.waiting[1:]
			next.again()
			n.pass(l, next.parcel)
			n.pump(l)
		})
	}
}

// changed lets what waits on a link go on as it is now.
func (n *Network) changed(l *link) {
	l.turn = 0
	n.pump(l)
}

// pass lets a message onto a link: copies of it arrive in their time.
func (n *Network) pass(l *link, p parcel) {
	w := &l.weather
	switch now := n.clock.Now(); {
	case l.cuts > 0 || l.down:
		n.cover.fault(FaultCut)
		return
	case n.dice.chance(p.loss):
		n.cover.fault(FaultLoss)
		return
	case n.storm.chance(l.lossy.at(now)):
		n.cover.fault(FaultLossy)
		return
	}
	if l.hoard.count > 0 {
		l.hoard.count--
		n.keep(l.hoard.after, p.late)
	}
	copies := 1
	if n.dice.chance(w.Duplicate) {
		n.cover.fault(FaultDuplicate)
		copies = 2
	}
	for range copies {
		d := n.delay(l)
		overdue := n.overdue(l, d)
		spoilt := n.storm.chance(max(w.Corrupt, l.corrupt.at(n.clock.Now())))
		n.clock.After(d, func() {
			if !overdue() {
				p.arrive(spoilt)
			}
		})
	}
}

// delay is how long one copy of a message takes.
func (n *Network) delay(l *link) time.Duration {
	w := &l.weather
	d := n.dice.duration(w.LatencyMin, w.LatencyMax)
	if n.dice.chance(w.Stray) {
		n.cover.fault(FaultStray)
		return d + n.dice.duration(0, w.StrayMax)
	}
	at := n.clock.Now().Add(d)
	switch {
	case at.After(l.last):
		l.last = at
	case w.Ordered:
		d = l.last.Sub(n.clock.Now())
	default:
		n.cover.fault(FaultReorder)
	}
	return d
}

// overdue returns what tells, on arrival, whether a message was a stray of the
// time before the healing: those are lost with it.
func (n *Network) overdue(l *link, d time.Duration) func() bool {
	era, stray := n.era, d > l.weather.LatencyMax
	return func() bool { return stray && n.era != era }
}
