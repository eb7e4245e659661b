package sync

import (
	"io"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// PeerID names a peer: the instance id that its connection proved.
type PeerID = merge.InstanceID

// Config is what an engine needs to know of its node. Self, Fleet, EventType and
// Rand are required.
type Config struct {
	// Self is this node's instance.
	Self PeerID
	// Fleet is the fleet that it belongs to; peers of another are refused.
	Fleet merge.FleetID
	// Sharing says which sections are offered to and fetched from peers.
	Sharing Sharing
	// EventType names the event that a record makes, from its kind and whether
	// it is a delete. It is pure.
	EventType func(kind string, deleted bool) string
	// Rand feeds salts and the choice of random partners.
	Rand io.Reader
	// Gossip says whether live replication is on. Without it everything
	// arrives by heartbeats and the feed.
	Gossip bool
	// HeartbeatEvery is the interval between comparisons with partners;
	// default HeartbeatDefault.
	HeartbeatEvery time.Duration
	// RequestTimeout is how long an answer may take; default
	// RequestTimeoutDefault.
	RequestTimeout time.Duration
	// PageBytes is where answers stop being filled, in bytes of records or
	// entries; 0 and whatever is larger mean as much as fits a frame. Small pages
	// cost round trips; simulation uses them to have many.
	PageBytes int
	// AnswerRate bounds what one peer may make this node read and send, in bytes
	// a second, several seconds of it at once; default 32 MiB.
	AnswerRate int
	// Now is the time at which the engine begins; Tick moves it on. Only
	// differences count: whoever gives it must not follow a clock that is set.
	// What time of day it is, the store's clock says.
	Now time.Time
}

// Admission decides what may be merged. Implementations are safe for
// concurrent use.
type Admission interface {
	// Check refuses a record that no statement could ever admit: malformed, of
	// another fleet, unsigned. Whoever sent it broke the protocol.
	Check(r *merge.Record) error
	// Judge is what the statements known now make of the record. One that they do
	// not admit is parked, never refused; but what a floor has collected is dropped.
	store.Judge
	// Learn takes a fleet statement that Judge admitted into account; changed
	// says whether verdicts may differ now.
	Learn(r *merge.Record) (changed bool)
}
