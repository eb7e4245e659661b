package node

import (
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// gossipTracer counts what the router drops, which it does without a word.
type gossipTracer struct{ counts *gossipCounts }

var _ pubsub.RawTracer = (*gossipTracer)(nil)

// DropRPC implements pubsub.RawTracer: the queue of a peer was full.
func (t *gossipTracer) DropRPC(rpc *pubsub.RPC, _ peer.ID) {
	t.counts.undelivered.Add(uint64(max(1, len(rpc.GetPublish()))))
}

// UndeliverableMessage implements pubsub.RawTracer: this node did not read.
func (t *gossipTracer) UndeliverableMessage(*pubsub.Message) { t.counts.unread.Add(1) }

// RejectMessage implements pubsub.RawTracer.
func (t *gossipTracer) RejectMessage(_ *pubsub.Message, reason string) {
	switch reason {
	case pubsub.RejectValidationQueueFull, pubsub.RejectValidationThrottled:
		t.counts.throttled.Add(1)
	case pubsub.RejectValidationIgnored:
		t.counts.ignored.Add(1)
	default:
		t.counts.rejected.Add(1)
	}
}

// The rest of pubsub.RawTracer is of no interest.

func (t *gossipTracer) OnNewOutboundStream(peer.ID, protocol.ID)             {}
func (t *gossipTracer) OnClosedOutboundStream(peer.ID)                       {}
func (t *gossipTracer) Join(string)                                          {}
func (t *gossipTracer) Leave(string)                                         {}
func (t *gossipTracer) Graft(peer.ID, string)                                {}
func (t *gossipTracer) Prune(peer.ID, string)                                {}
func (t *gossipTracer) ValidateMessage(*pubsub.Message)                      {}
func (t *gossipTracer) DeliverMessage(*pubsub.Message)                       {}
func (t *gossipTracer) DuplicateMessage(*pubsub.Message)                     {}
func (t *gossipTracer) ThrottlePeer(peer.ID)                                 {}
func (t *gossipTracer) RecvRPC(*pubsub.RPC)                                  {}
func (t *gossipTracer) SendRPC(*pubsub.RPC, peer.ID)                         {}
func (t *gossipTracer) SendRPCCompleted(*pubsub.RPC, peer.ID, time.Duration) {}
