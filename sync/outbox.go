package sync

import (
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Outbox is what an engine wants done. The driver carries it out in any order
// between the kinds, but keeps the order within Apply.
type Outbox struct {
	Send    []Send
	Publish []Publish
	Verify  []VerifyBatch
	Apply   []ApplyBatch
	Blame   []Blame
}

// Send is one message to one peer; best effort.
type Send struct {
	To      PeerID
	Message Message
}

// Publish is one gossip message; best effort.
type Publish struct {
	Topic string
	Data  []byte
}

// VerifyBatch asks for the signatures of records; the answer is
// Engine.Verified with the same ID.
type VerifyBatch struct {
	ID      uint64
	Records []*merge.Record
}

// ApplyBatch asks for one store operation: a Merge of Batch, or, when
// Reconsider is set, judging parked versions again. The answer is
// Engine.Applied with the same ID.
type ApplyBatch struct {
	ID         uint64
	Batch      store.Batch
	Reconsider bool
}

// Blame says that a peer broke the protocol, or cannot be talked to. What
// follows from it is for the driver.
type Blame struct {
	Peer PeerID
	Err  error
}

// Transport carries messages. Both calls are best effort: they may drop,
// delay, duplicate and reorder, and never block. Safe for concurrent use.
type Transport interface {
	Send(to PeerID, m Message)
	Publish(topic string, data []byte)
}

// Flush hands the messages of an outbox to a transport.
func (o *Outbox) Flush(t Transport) {
	for _, s := range o.Send {
		t.Send(s.To, s.Message)
	}
	for _, p := range o.Publish {
		t.Publish(p.Topic, p.Data)
	}
}
