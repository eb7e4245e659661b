package sync

import "github.com/fleetsync/fleetd/merge"

// Checked is what a check of one peer has found.
type Checked struct {
	Peer PeerID
	// Sections are those that were compared, in their order.
	Sections []CheckedSection
	// Unfinished says why there may be more; empty when everything was compared.
	Unfinished string
}

// CheckedSection is how one section compares.
type CheckedSection struct {
	Section merge.Section
	Outcome Outcome
	// Here and There are how many versions are held, there as far as it told.
	Here, There uint64
	// First is the first key, in their order, that differs; nil unless the outcome
	// is OutcomeDiffers.
	First *Difference
}

// Outcome says how a section compares with that of a peer.
type Outcome string

// The outcomes.
const (
	OutcomeEqual   Outcome = "equal"
	OutcomeDiffers Outcome = "differs"
	// OutcomeChanging: it is written to, or being pulled, faster than a difference
	// can be told from what is under way.
	OutcomeChanging Outcome = "changing"
	// OutcomeNotShared: the peer keeps it to itself.
	OutcomeNotShared Outcome = "not shared"
	// OutcomeDamagedHere and OutcomeDamagedThere: a side cannot read its own rows.
	OutcomeDamagedHere  Outcome = "damaged here"
	OutcomeDamagedThere Outcome = "damaged there"
)

// Difference is a key of which two nodes hold other versions.
type Difference struct {
	Key merge.Key
	// OnlyHere and OnlyThere are versions that one side alone holds, the first few.
	// A version in both differs in its content alone.
	OnlyHere, OnlyThere []HeldVersion
}

// HeldVersion names a version that is held.
type HeldVersion struct {
	merge.Version      // its hash is known of what is held here alone
	Parked        bool // this node keeps it parked, and so does not hold it
}

// What a check says when it does not come to its end.
const (
	UnfinishedLost     = "it is not connected"
	UnfinishedSilent   = "it does not answer"
	UnfinishedBusy     = "it is busy"
	UnfinishedNotReady = "this node still reads its own store"
	UnfinishedBroken   = "its answers break the protocol"
	UnfinishedEnded    = "there was no more time"
	UnfinishedTwice    = "it is being compared already"
)
