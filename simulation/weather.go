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
	// Bandwidth is what one link carries, in bytes a second; 0 for any amount.
	// Messages wait for those before them, up to a bound, beyond which they
	// vanish.
	Bandwidth int64
	// Corrupt is the probability that a message is damaged. Every byte of a
	// connection is authenticated, so no engine sees it: the connection ends.
	Corrupt float64
}

// calm is the weather after all faults have stopped.
func calm() Weather {
	return Weather{LatencyMin: 2 * time.Millisecond, LatencyMax: 40 * time.Millisecond, Ordered: true}
}
