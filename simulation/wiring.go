package simulation

import (
	"bytes"
	"crypto/sha256"
	"slices"
)

// streamStart are the dice of when replicas start.
const streamStart uint64 = 1<<61 + 2

// wire lets those replicas connect of which one dials the other.
func (c *Cluster) wire() {
	n := len(c.replicas)
	dials := make([]replicaSet, n)
	for i := range c.replicas {
		dials[i] = c.dials(i)
	}
	for b := range n {
		for a := range b {
			if dials[a].has(b) || dials[b].has(a) {
				c.network.wire(a, b, c.atlas.weather(a, b), c.atlas.weather(b, a))
			}
		}
	}
}

// dials returns whom a replica dials: all that the topology allows it, of many
// those that a node chooses.
func (c *Cluster) dials(number int) replicaSet {
	type scored struct {
		number int
		score  [sha256.Size]byte
	}
	var all []scored
	for other := range c.replicas {
		if other != number && c.plan.Topology.wires(number, other, len(c.replicas)) {
			all = append(all, scored{number: other})
		}
	}
	if d := c.plan.Degree; d > 0 && d < len(all) {
		self := string(c.replicas[number].ID())
		for i := range all {
			all[i].score = sha256.Sum256([]byte(self + string(c.replicas[all[i].number].ID())))
		}
		slices.SortFunc(all, func(a, b scored) int { return bytes.Compare(a.score[:], b.score[:]) })
		all = all[:d]
	}
	chosen := newReplicaSet(len(c.replicas))
	for _, s := range all {
		chosen.add(s.number)
	}
	return chosen
}
