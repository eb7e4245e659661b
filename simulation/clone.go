package simulation

import (
	"maps"

	"github.com/fleetsync/fleetd/merge"
)

// Machines that were copied, disk and key, and run beside the original for a
// while. To everybody else they are one instance, which is here at one time and
// there at another: nobody is connected with both at once. Machines that lie are
// not copied, and copies do not lie: the lie of one would be held against both.

// clone copies a machine to a spare one, and starts it there.
func (c *Cluster) clone(r, spare *Replica) {
	if r.process == nil || r.number == 0 || r.clone != nil || r.adversary != nil || spare.started > 0 || spare.gone || !spare.admitted() || !r.member() {
		return
	}
	r.note("is copied to r%d", spare.number)
	spare.identity, spare.dialect = r.identity, r.dialect
	spare.disk = newDisk(spare.disk.dice, c.cover)
	spare.disk.restore(r.disk.Memory)
	spare.sharing = r.sharing
	spare.skew, spare.strayed, spare.muteUntil = r.skew, r.strayed, r.muteUntil
	spare.started, spare.newest = 1<<20, maps.Clone(r.newest) // its processes are others
	c.model.newest[spare.number], c.model.reached[spare.number] = c.model.newest[r.number], c.model.reached[r.number]
	r.clone = &clones{original: r, copied: spare, wrote: map[merge.Key]int{}}
	spare.clone = r.clone
	c.network.alias(r.number, spare.number)
	spare.launch()
}

// clones are a machine and its copy.
type clones struct {
	original, copied *Replica
	// wrote is by key which of both wrote it first since the copy was made.
	wrote map[merge.Key]int
	// worked says of each that it wrote something.
	worked [2]bool
}

// isClone reports whether a replica is the copy of another.
func (r *Replica) isClone() bool { return r.clone != nil && r.clone.copied == r }

// copies notes a write of a machine that has a copy, or is one. Of keys that
// both write, the later version covers the other unseen.
func (m *model) copies(r *Replica, key merge.Key) {
	p := r.clone
	if p == nil {
		return
	}
	if first, written := p.wrote[key]; written && first != r.number {
		m.cloned[key] = true
	} else {
		p.wrote[key] = r.number
	}
	self := 0
	if r.isClone() {
		self = 1
	}
	if !p.worked[self] && p.worked[1-self] && !p.copied.gone {
		m.cluster.cover.fault(FaultClone)
	}
	p.worked[self] = true
}

// route returns the number of the machine that answers to an identity at one
// replica: where it has a copy, the one that is connected.
func (r *Replica) route(id merge.InstanceID) int {
	to := r.cluster.numberOf(id)
	if to < 0 {
		return to
	}
	if p := r.cluster.replicas[to].clone; p != nil && r.cluster.network.linked(r.number, p.copied.number) {
		return p.copied.number
	}
	return to
}

// elsewhere reports whether a replica still takes itself to be connected with an
// identity when the connection with one machine of it has ended.
func (r *Replica) elsewhere(peer int) bool {
	p := r.cluster.replicas[peer].clone
	if p == nil {
		return false
	}
	return r.cluster.network.believes(r.number, p.original.number+p.copied.number-peer)
}
