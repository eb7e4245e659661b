package simulation

import "time"

// Weather says how the network treats messages. The zero value delivers
// everything at once.
type Weather struct {
	// LatencyMin and LatencyMax bound the time of one message on one link.
	LatencyMin, LatencyMax time.Duration
	// Loss is the probability that a message vanishes, GossipLoss that of a
	// gossiped message on each hop.
	Loss, GossipLoss float64
	// Duplicate is the probability that a message arrives twice.
	Duplicate float64
	// Stray is the probability that a message is held up by up to StrayMax, so
	// that later ones overtake it.
	Stray    float64
	StrayMax time.Duration
	// Straggle is the probability that a message of a connection that has
	// ended still arrives, from a queue that nobody emptied.
	Straggle float64
	// Ordered keeps the messages of a link in order, but for strays.
	Ordered bool
}

// calm is the weather after all faults have stopped.
func calm() Weather {
	return Weather{LatencyMin: 2 * time.Millisecond, LatencyMax: 40 * time.Millisecond, Ordered: true}
}

// link is one direction between two replicas.
type link struct {
	weather Weather
	cut     bool      // messages vanish
	last    time.Time // when the newest ordered message arrives
}

// heal ends what is wrong with a link.
func (l *link) heal(w Weather) {
	l.weather = w
	l.cut = false
}

// passage is what becomes of one message: when copies of it arrive.
func (n *Network) passage(l *link, loss float64) []time.Duration {
	w := &l.weather
	if l.cut {
		n.cover.fault(FaultCut)
		return nil
	}
	if n.dice.chance(loss) {
		n.cover.fault(FaultLoss)
		return nil
	}
	copies := 1
	if n.dice.chance(w.Duplicate) {
		n.cover.fault(FaultDuplicate)
		copies = 2
	}
	delays := make([]time.Duration, 0, copies)
	for range copies {
		d := n.dice.duration(w.LatencyMin, w.LatencyMax)
		if n.dice.chance(w.Stray) {
			n.cover.fault(FaultStray)
			delays = append(delays, d+n.dice.duration(0, w.StrayMax))
			continue
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
		delays = append(delays, d)
	}
	return delays
}
