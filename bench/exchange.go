package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

const (
	// idleTick is how far time moves when nothing is under way.
	idleTick = 100 * time.Millisecond
	// idleMax is how long two sides may be idle and unequal: many heartbeats.
	idleMax = 2 * time.Minute
	// signaturesMax is the batch in which a node checks signatures.
	signaturesMax = 256
)

// side is one of two nodes that meet: the engine over a store, with all that a
// node does for it but the network.
type side struct {
	id     merge.InstanceID
	store  *store.Store
	engine *fleetsync.Engine
	codec  *fleetsync.Codec
}

// exchange carries messages between two sides in the frames of the wire, one
// after the other, so that what is measured is work alone. Time is its own:
// what passes really, and what both sides only wait for.
type exchange struct {
	corpus   *corpus
	verifier fleet.Verifier
	sides    [2]*side
	now      time.Time

	flight [2][][]byte // frames under way to each side
	sent   tally
	// waves counts how often all that was under way arrived: half a round trip
	// each. equalAt is how many it took until both held the same.
	waves, equalAt int
	// records is the CPU time that checking signatures and storing took.
	records time.Duration
}

// newExchange returns an exchange between stores that are not connected yet.
func newExchange(c *corpus, a, b *store.Store) (*exchange, error) {
	x := &exchange{corpus: c, verifier: fleet.NewVerifier(rand.Reader), now: time.Now(), sent: tally{}}
	for i, st := range [2]*store.Store{a, b} {
		codec, err := fleetsync.NewCodec()
		if err != nil {
			return nil, err
		}
		s := &side{id: c.writers[i].ID(), store: st, codec: codec}
		s.engine = fleetsync.New(fleetsync.Config{
			Self: s.id, Fleet: c.fleet, EventType: state.Indexer{}.EventType,
			Rand: rand.Reader, Gossip: true, Now: x.now,
		}, st, c)
		x.sides[i] = s
	}
	return x, nil
}

// connect lets both sides meet.
func (x *exchange) connect() {
	for i, s := range x.sides {
		s.engine.Connected(x.sides[1-i].id)
	}
}

// disconnect takes them apart for a time.
func (x *exchange) disconnect(away time.Duration) {
	for i, s := range x.sides {
		s.engine.Disconnected(x.sides[1-i].id)
	}
	x.pass(away)
}

// forget begins to count anew.
func (x *exchange) forget() {
	x.sent, x.waves, x.equalAt, x.records = tally{}, 0, 0, 0
}

// settle carries messages until both sides hold the same and know it.
func (x *exchange) settle() error {
	for idle := time.Duration(0); idle < idleMax; idle += idleTick {
		before := x.waves
		if err := x.carry(); err != nil {
			return err
		}
		if x.waves > before {
			idle = 0
		}
		if x.equal() && x.inSync() {
			return nil
		}
		x.pass(idleTick)
	}
	return fmt.Errorf("two sides are not equal after %s: %d and %d versions", idleMax, x.count(0), x.count(1))
}

// carry delivers messages until none is under way.
func (x *exchange) carry() error {
	for {
		for i := range x.sides {
			if err := x.carryOut(i); err != nil {
				return err
			}
		}
		if len(x.flight[0])+len(x.flight[1]) == 0 {
			return nil
		}
		began := time.Now()
		x.waves++
		for i := range x.sides {
			frames := x.flight[i]
			x.flight[i] = nil
			for _, frame := range frames {
				if err := x.deliver(i, frame); err != nil {
					return err
				}
			}
		}
		if x.equalAt == 0 && x.equal() {
			x.equalAt = x.waves
		}
		x.pass(time.Since(began))
	}
}

// deliver gives one frame to a side.
func (x *exchange) deliver(to int, framed []byte) error {
	s := x.sides[to]
	frame, err := fleetsync.ReadFrame(bytes.NewReader(framed))
	if err != nil {
		return err
	}
	m, err := s.codec.Decode(frame)
	if err != nil {
		return err
	}
	s.engine.Receive(x.sides[1-to].id, m)
	return x.carryOut(to)
}

// carryOut does what a node does with an outbox, until it is empty.
func (x *exchange) carryOut(at int) error {
	s := x.sides[at]
	for {
		out := s.engine.Drain()
		if len(out.Send)+len(out.Answer)+len(out.Verify)+len(out.Apply)+len(out.Blame) == 0 {
			return nil
		}
		for _, b := range out.Blame {
			return fmt.Errorf("a side is blamed: %w", b.Err)
		}
		began := cpuTime()
		for _, v := range out.Verify {
			s.engine.Verified(v, x.verify(v.Records))
		}
		for _, b := range out.Apply {
			res, err := x.apply(s, b)
			if err != nil {
				return err
			}
			s.engine.Applied(b.ID, res, nil)
		}
		if len(out.Verify)+len(out.Apply) > 0 {
			x.records += cpuTime() - began
		}
		for _, send := range out.Send {
			if err := x.post(at, send.Message); err != nil {
				return err
			}
		}
		for _, answer := range out.Answer {
			reply := answer.Read()
			if err := x.post(at, reply.Message); err != nil {
				return err
			}
			s.engine.Answered(answer, reply)
		}
	}
}

// post puts one message on its way to the other side.
func (x *exchange) post(from int, m fleetsync.Message) error {
	frame, err := x.sides[from].codec.Encode(m)
	if err != nil {
		return err
	}
	x.flight[1-from] = append(x.flight[1-from], frame)
	return x.sent.add(m, frame)
}

func (x *exchange) verify(records []*merge.Record) []bool {
	var ok []bool
	for from := 0; from < len(records); from += signaturesMax {
		ok = append(ok, x.verifier.Verify(records[from:min(from+signaturesMax, len(records))])...)
	}
	return ok
}

func (x *exchange) apply(s *side, b fleetsync.ApplyBatch) (store.Result, error) {
	if b.Reconsider {
		return s.store.Reconsider(context.Background(), fleetsync.Judging(x.corpus))
	}
	return s.store.Merge(context.Background(), b.Batch)
}

// pass moves time on.
func (x *exchange) pass(d time.Duration) {
	x.now = x.now.Add(d)
	for _, s := range x.sides {
		s.engine.Tick(x.now)
	}
}

// equal reports whether both sides hold the same.
func (x *exchange) equal() bool {
	for _, mine := range x.sides[0].store.Sections() {
		theirs := x.sides[1].store.State(mine.Section)
		if theirs.Count != mine.Count || theirs.Sum != mine.Sum {
			return false
		}
	}
	return len(x.sides[0].store.Sections()) == len(x.sides[1].store.Sections())
}

func (x *exchange) inSync() bool {
	for _, s := range x.sides {
		for _, p := range s.engine.Peers() {
			if !p.InSync || p.Pulling {
				return false
			}
		}
	}
	return true
}

func (x *exchange) count(i int) (n int64) {
	for _, s := range x.sides[i].store.Sections() {
		n += s.Count
	}
	return n
}

func (x *exchange) close() error {
	return errors.Join(x.sides[0].store.Close(), x.sides[1].store.Close())
}
