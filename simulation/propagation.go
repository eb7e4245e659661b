package simulation

import (
	"slices"
	"time"
)

// Propagation is how long writes took until every member that was not away
// held them, or held what covers them, in virtual time without jumps. What a
// member writes while it is away counts from its return.
type Propagation struct {
	// Writes are the acknowledged ones of what all members share.
	Writes int
	// Times are those of the writes that are everywhere, as they came there; not
	// of those made while all others were away.
	Times []time.Duration
	// CatchUps are how long members that came back to the network took until they
	// held all that they lacked then of what the others that were there held. Who
	// lacked nothing does not count.
	CatchUps []time.Duration
	// Conflicts counts the writes that lost to a concurrent one.
	Conflicts int
}

// Quantile returns the time within which a part q of the writes that are
// everywhere came there, q from 0 to 1; 0 when there are none.
func (p Propagation) Quantile(q float64) time.Duration {
	if len(p.Times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(p.Times))
	rank := int(q*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}

// Divergence returns how many pairs of a member and a version there are in
// which the member lacks the version, of all that the members together hold and
// share; members that never started do not count. It is 0 without
// Options.Sample.
func (c *Cluster) Divergence() int {
	if c.spread == nil {
		return 0
	}
	c.spread.catchUp()
	return c.spread.missing
}

// Propagation returns what was measured so far; nothing without
// Options.Sample.
func (c *Cluster) Propagation() Propagation {
	if c.spread == nil {
		return Propagation{}
	}
	p := c.spread.result
	p.Times, p.CatchUps = slices.Clone(p.Times), slices.Clone(p.CatchUps)
	return p
}
