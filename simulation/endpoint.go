package simulation

import (
	"github.com/fleetsync/fleetd/state"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// Replica is an endpoint of the network: what a node's host and streams tell
// its engine.

func (r *Replica) running() uint64 {
	if r.process == nil {
		return 0
	}
	return r.process.number
}

func (r *Replica) connected(peer int) {
	r.note("sees %d come", peer)
	r.process.engine.Connected(r.cluster.replicas[peer].ID())
	r.drain()
}

func (r *Replica) disconnected(peer int) {
	r.note("sees %d go", peer)
	r.process.engine.Disconnected(r.cluster.replicas[peer].ID())
	r.drain()
}

func (r *Replica) receive(from int, frame []byte) {
	m, err := r.cluster.codec.DecodeFrame(frame)
	if err != nil {
		r.cluster.fail(InvariantWire, "replica %d cannot decode a frame of %d: %v", r.number, from, err)
		return
	}
	r.cluster.observer.received(r, from, m)
	r.cluster.watch.received(r.number, from, m.Type(), len(frame))
	r.process.engine.Receive(r.cluster.replicas[from].ID(), m)
	r.drain()
}

// gossip does what a node does with a message before it reaches the engine and
// other peers: decode it, and check every signature.
func (r *Replica) gossip(from int, g rumour) {
	c := r.cluster
	batch, err := fleetsync.DecodeGossip(g.data, c.charter.fleet, state.Indexer{}.EventType)
	if err != nil {
		c.fail(InvariantWire, "replica %d cannot decode gossip of %d: %v", r.number, from, err)
		return
	}
	for i, ok := range c.notary.verify(batch.Records) {
		if !ok {
			c.fail(InvariantAuthority, "replica %d got gossip of %d with a bad signature of %s", r.number, from, batch.Records[i].Key)
			return
		}
	}
	r.note("hears of %d by gossip: %d records, %d announced", from, len(batch.Records), len(batch.Announced))
	c.watch.heard(r.number, from, len(g.data))
	if len(batch.Announced) > 0 {
		c.cover.sometimes(SometimesAnnounced)
	}
	c.network.forward(r.number, g)
	r.process.engine.Gossip(c.replicas[from].ID(), batch)
	r.drain()
}
