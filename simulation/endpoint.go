package simulation

import (
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
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

// reachable reports whether a connection can begin.
func (r *Replica) reachable() bool { return r.process != nil && !r.process.stopped }

func (r *Replica) connected(peer int) {
	r.turn(r.process, func() {
		r.note("sees %d come", peer)
		r.process.engine.Connected(r.cluster.replicas[peer].ID())
		r.drain()
	})
}

func (r *Replica) disconnected(peer int) {
	r.turn(r.process, func() {
		r.note("sees %d go", peer)
		if r.elsewhere(peer) {
			return
		}
		r.process.engine.Disconnected(r.cluster.replicas[peer].ID())
		r.drain()
	})
}

func (r *Replica) receive(from int, frame []byte) {
	r.turn(r.process, func() { r.take(from, frame) })
}

// take decodes one frame and gives it to the engine.
func (r *Replica) take(from int, frame []byte) {
	m, err := r.cluster.codec.DecodeFrame(frame)
	sender := r.cluster.replicas[from]
	newer := sender.dialect != nil
	if sender.adversary != nil {
		sender.adversary.took(frame)
	}
	switch {
	case err != nil && r.cluster.suspect(from):
		if !errors.Is(err, fleetsync.ErrUnknownMessage) {
			r.blamed(from, err)
		}
		return
	case errors.Is(err, fleetsync.ErrUnknownMessage) && newer:
		r.cluster.cover.fault(FaultNewerMessage)
		return
	case err != nil:
		r.cluster.fail(InvariantWire, "replica %d cannot decode a frame of %d: %v", r.number, from, err)
		return
	case newer:
		r.cluster.cover.fault(FaultNewerField)
	}
	r.cluster.observer.received(r, from, m, frame)
	r.cluster.watch.received(r.number, from, m.Type(), len(frame))
	if r.turnsAway(from, m) {
		return
	}
	r.hears(from, m)
	r.process.engine.Receive(r.cluster.replicas[from].ID(), m)
	r.skipped()
	r.drain()
}

func (r *Replica) gossip(from int, g *rumour) {
	r.turn(r.process, func() { r.hear(from, g) })
}

// hear does what a node does with a gossip message before it reaches the engine
// and other peers: decode it, and check every signature.
func (r *Replica) hear(from int, g *rumour) {
	c := r.cluster
	if sender := c.replicas[from]; sender.adversary != nil {
		sender.adversary.took(g.data)
	}
	batch, err := r.checkGossip(g.data)
	switch {
	case errors.Is(err, merge.ErrUnsupported):
		c.cover.fault(FaultNewerAlgorithm)
		return
	case err != nil && c.suspect(from):
		r.note("rejects gossip of %d: %v", from, err)
		return
	case err != nil:
		c.fail(InvariantWire, "replica %d gets bad gossip of %d: %v", r.number, from, err)
		return
	}
	news, err := r.news(&batch)
	if err != nil || !news {
		r.note("ignores gossip of %d: %v", from, err)
		return
	}
	r.note("hears of %d by gossip: %d records, %d announced", from, len(batch.Records), len(batch.Announced))
	c.watch.heard(r.number, from, len(g.data))
	if len(batch.Announced) > 0 {
		c.cover.sometimes(SometimesAnnounced)
	}
	c.network.forward(r.number, from, g)
	r.process.engine.Gossip(c.replicas[from].ID(), batch)
	r.drain()
}

// checkGossip decodes gossip and judges what needs no store.
func (r *Replica) checkGossip(data []byte) (fleetsync.GossipBatch, error) {
	c := r.cluster
	batch, err := fleetsync.DecodeGossip(data, c.charter.fleet, state.Indexer{}.EventType)
	if err != nil {
		return batch, err
	}
	for _, rec := range batch.Records {
		if err := fleet.Check(rec, c.charter.fleet); err != nil {
			return batch, err
		}
	}
	for i, ok := range c.notary.verify(batch.Records) {
		if !ok {
			return batch, fmt.Errorf("bad signature of %s", batch.Records[i].Key)
		}
	}
	return batch, nil
}

// skipped counts the records that the engine could not judge.
func (r *Replica) skipped() {
	for n := r.process.engine.Counters().Unsupported; r.process.skipped < n; r.process.skipped++ {
		r.cluster.cover.fault(FaultNewerAlgorithm)
	}
}

// welcomes reports whether a replica lets a peer connect.
func (r *Replica) welcomes(peer int) bool {
	return r.process != nil && !r.process.scores.banished(peer, r.cluster.clock.Now())
}

// news reports whether gossip says anything that is not known. What does not
// goes to nobody, so that old gossip ends where it comes to.
func (r *Replica) news(batch *fleetsync.GossipBatch) (news bool, err error) {
	news = len(batch.Announced) > 0
	err = r.Store().View(func(s *store.Reader) error {
		for _, rec := range batch.Records {
			known, err := fleetsync.Known(s, rec.Key, rec.Version())
			if err != nil {
				return err
			}
			news = news || !known
		}
		return nil
	})
	return news, err
}

// spoilt gives damaged bytes to the decoders, which a connection would keep
// from them: they must refuse them, or read something without harm. What they
// read of records must not pass for what somebody signed.
func (r *Replica) spoilt(from int, data []byte, gossip bool) {
	c := r.cluster
	records, err := r.decodeSpoilt(data, gossip)
	r.note("gets %d damaged bytes of %d: %v", len(data), from, err)
	for i, ok := range c.notary.verify(records) {
		if ok && c.model.versions[records[i].Hash()] == nil {
			c.fail(InvariantAuthority, "replica %d takes a damaged %s of %d for signed", r.number, records[i].Key, from)
		}
	}
}

func (r *Replica) decodeSpoilt(data []byte, gossip bool) (records []*merge.Record, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			r.cluster.fail(InvariantWire, "decoding %x panics: %v", data, fault)
		}
	}()
	if gossip {
		batch, err := fleetsync.DecodeGossip(data, r.cluster.charter.fleet, state.Indexer{}.EventType)
		return batch.Records, err
	}
	m, err := r.cluster.codec.DecodeFrame(data)
	if err != nil {
		return nil, err
	}
	for _, wire := range wiresOf(m) {
		rec, err := merge.Decode(wire)
		if err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
		records = append(records, &rec)
	}
	if _, err := r.cluster.codec.Encode(m); err != nil {
		r.cluster.fail(InvariantWire, "what was decoded of %x cannot be encoded: %v", data, err)
	}
	return records, nil
}

// wiresOf returns the records of a message.
func wiresOf(m fleetsync.Message) [][]byte {
	switch m := m.(type) {
	case *fleetsync.ChangesPage:
		return m.Records
	case *fleetsync.Records:
		return m.Records
	case *fleetsync.Page:
		return m.Records
	}
	return nil
}
