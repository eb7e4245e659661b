package sync

import (
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Outbox is what an engine wants done. The driver carries it out in any order
// between the kinds, but keeps the order within Apply.
type Outbox struct {
	Send    []Send
	Answer  []Answer
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

// Answer is a request of a peer that is to be answered. The driver calls Read,
// sends the message that it returns to To, and then calls Engine.Answered,
// also when it sends nothing. Until then the peer may ask little more, so a
// driver that reads when the peer is ready to take it holds few pages a peer.
type Answer struct {
	To   PeerID
	id   uint64 // of the engine
	read func() Reply

	section merge.Section
}

// Read reads the store for the answer; it never returns without a message.
// Safe to call on any goroutine.
func (a Answer) Read() Reply { return a.read() }

// Reply is what was read for an Answer.
type Reply struct {
	Message Message
	cost    int   // bytes read and sent
	err     error // ErrProtocol, or that of the store
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

// ApplyBatch asks for one store operation: AddChunk when Chunk is set, judging
// parked versions again when Reconsider is, else a Merge of Batch. The answer is
// Engine.Applied with the same ID, with no result of a chunk but its error.
type ApplyBatch struct {
	ID         uint64
	Batch      store.Batch
	Reconsider bool
	Chunk      *store.Chunk
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
