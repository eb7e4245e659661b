package node

import "time"

// Bounds of the node. Each stands here once, with its unit and its reason;
// those of the protocols stand in sync and fleet.
const (
	// portTries is how often Init looks for a port that is free for TCP and UDP.
	portTries = 16

	// tickEvery is the resolution of the engine's timers.
	tickEvery = 100 * time.Millisecond
	// burstMax is how many inputs the engine takes before its outbox is carried
	// out, so that a flood of one kind does not delay the others.
	burstMax = 64
	// inputsMax bounds inputs that wait for the engine; senders wait then, and
	// with them the streams that they read.
	inputsMax = 256
	// commitsMax bounds local commits that wait for the engine; further ones are
	// not gossiped, and the feed brings them.
	commitsMax = 8192
	// verifyBatchMax is how many signatures are checked as one batch: larger
	// ones gain little and keep the other workers idle.
	verifyBatchMax = 256

	// answerTimeout is how long the answer to a heartbeat may take before a peer
	// is shown as not answering: one that is alive answers at once.
	answerTimeout = 2 * time.Second
	// freshFor is how long what a peer said proves that it is alive to those who
	// ask for the status.
	freshFor = 500 * time.Millisecond

	// sendQueueMax bounds messages that wait for one peer. The protocol has few
	// outstanding, and answers to requests are read when their turn comes.
	sendQueueMax = 64
	// answersPreparedMax is how many answers to one peer are read and compressed at
	// a time; each holds up to a page.
	answersPreparedMax = 2
	// frameTimeout is how long the rest of a frame may take, in both directions.
	frameTimeout = 30 * time.Second
	// streamTimeout is how long opening a stream, and a short exchange on one,
	// may take.
	streamTimeout = 10 * time.Second
	// linkRetryMin and linkRetryMax bound the pause before a stream to a
	// connected peer is opened again.
	linkRetryMin = 100 * time.Millisecond
	linkRetryMax = 5 * time.Second
	// incompatibleRetry is the pause before a peer that does not speak the
	// protocol is tried again.
	incompatibleRetry = time.Minute
	// sweepEvery is how often the table of links is compared with the network,
	// in case an event was lost.
	sweepEvery = 5 * time.Second
	// strangerTimeout is how long a connection of a peer that is no member may
	// last: time to join.
	strangerTimeout = 30 * time.Second

	// publishQueueMax bounds gossip messages that wait to be published, and the
	// queues of gossipsub, whose defaults of 32 lose a burst. A message holds up
	// to 64 KiB, so a member that stalls costs 128 MiB at most; what is dropped
	// comes by the feed.
	publishQueueMax = 2048
	// gossipWorkers is how many gossip messages are checked at a time; their
	// signatures are checked together.
	gossipWorkers = 32
	// subscriptionsMax bounds the topics that one message of a peer may name.
	subscriptionsMax = 16
	// deafChecks is how many sweeps a linked peer may be in no topic before its
	// connection is made anew, and deafPause how long it is left alone then.
	deafChecks = 4
	deafPause  = 5 * time.Minute

	// bookAddrsMax and bookAddrBytesMax bound the addresses kept of one member.
	bookAddrsMax     = 16
	bookAddrBytesMax = 256
	// bookEntriesMax bounds the members in one exchange of addresses.
	bookEntriesMax = 1024
	// exchangeBytesMax bounds one side of such an exchange; the sender keeps to
	// it by leaving out what is oldest.
	exchangeBytesMax = 512 << 10
	// exchangeEvery is how often addresses are exchanged when nothing happens.
	exchangeEvery = 10 * time.Minute
	// exchangePause is the least time between exchanges with everybody: a fleet
	// that comes up has much news, and each would go from all to all.
	exchangePause = time.Second
	// dialTimeout is how long one attempt to reach a member may take.
	dialTimeout = 10 * time.Second
	// stableAfter is how long a connection holds before it counts as good.
	stableAfter = 5 * time.Second
	// dialsMax bounds attempts in progress.
	dialsMax = 8

	// ticketAddrsMax bounds the addresses of a ticket, so that its text stays
	// short enough to be copied by hand.
	ticketAddrsMax = 8
	// invitationsMax bounds the invitations that a node keeps.
	invitationsMax = 64
	// proofMax bounds the statements that a joiner is sent, as its decoder does:
	// keys that were replaced many times have long proofs.
	proofMax = 128
	// invitationKept is how long one that is over is still told apart from an
	// unknown one.
	invitationKept = 7 * 24 * time.Hour

	// strikesMax is how many faults of a peer make it unwelcome for a while.
	strikesMax = 5
	// strikesForgotten is how long a fault counts.
	strikesForgotten = 10 * time.Minute
	// banishedFor is how long an unwelcome peer gets no connection.
	banishedFor = 5 * time.Minute
)
