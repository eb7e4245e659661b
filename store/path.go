package store

import "github.com/fleetsync/fleetd/merge"

// Path says by which way a version came to this store. The numbers are stored
// in events and never reused.
type Path uint8

const (
	// PathLocal is a write of this instance.
	PathLocal Path = 1 + iota
	// PathGossip is a gossip message.
	PathGossip
	// PathFeed is a partner's feed.
	PathFeed
	// PathReconcile is a range reconciliation or a page transfer.
	PathReconcile
	// PathRestore is a restored backup or an import.
	PathRestore
	// PathRetract is a change of the fleet's statements.
	PathRetract
)

// String returns the word that events and logs show.
func (p Path) String() string {
	switch p {
	case PathLocal:
		return "local"
	case PathGossip:
		return "gossip"
	case PathFeed:
		return "feed"
	case PathReconcile:
		return "reconcile"
	case PathRestore:
		return "restore"
	case PathRetract:
		return "retract"
	}
	return "unknown"
}

// Ref names one version of a key.
type Ref struct {
	Key    merge.Key
	Writer merge.InstanceID
	Hash   merge.Hash
}

// Event is one entry of the state stream: the head of a key changed.
type Event struct {
	// Seq numbers the events of this store, dense from 1 in commit order.
	Seq uint64
	// Type is what the Indexer calls the change; empty without an Indexer.
	Type string
	Path Path
	// Ref is the new head.
	Ref Ref
	// Gone says that the key has no head any more, since the statements admit none:
	// Ref is the one that it had.
	Gone bool
}

// Commit tells what one caller's part of a transaction changed. Its slices are
// shared: they must not be changed.
type Commit struct {
	Path Path
	// Records are the versions that are held since, in commit order.
	Records []merge.Record
	// Covered are the versions that are not held any more.
	Covered []Ref
	// Events are the entries that the state stream gained.
	Events []Event
	// Seq is the newest place in the feed of this store after the transaction.
	Seq uint64
}
