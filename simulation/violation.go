package simulation

import (
	"errors"
	"fmt"
	"strings"
)

// Invariant names what a run holds, by the numbers of the reliability model
// where it has one.
type Invariant string

// The invariants.
const (
	InvariantAgreement    Invariant = "I1 agreement"     // equal versions, equal roots, equal reads
	InvariantDurability   Invariant = "I2 durability"    // what was acknowledged is held or covered
	InvariantStamps       Invariant = "I3 stamps"        // those of an instance rise strictly
	InvariantCausality    Invariant = "I5 causality"     // a stamp follows all that its writer had applied
	InvariantClockDefence Invariant = "I6 clock defence" // nothing from far ahead is merged
	InvariantAuthority    Invariant = "I7 authority"     // nothing is merged that nothing admits
	InvariantCounters     Invariant = "I8 counters"      // they are the increments that were acknowledged
	InvariantBounds       Invariant = "I9 bounds"        // queues and maps hold no more than they may
	InvariantCorruption   Invariant = "I10 corruption"   // what a disk damages is no wrong value, but an error
	InvariantBytes        Invariant = "I11 bytes"        // held and passed on as they were written
	InvariantLiveness     Invariant = "I12 liveness"     // one fleet within Cluster.Bound
	InvariantRows         Invariant = "I14 rows"         // the rows of a store agree one to one
	InvariantReads        Invariant = "reads"            // agents read the newest that their store has, their own writes first
	InvariantStream       Invariant = "stream"           // folding the state stream gives the state
	InvariantCursors      Invariant = "cursors"          // none lies beyond what did not come
	InvariantQuiet        Invariant = "quiet"            // nothing is fetched when nothing changes
	InvariantStatus       Invariant = "status"           // what an engine says of its peers is true
	InvariantPrivacy      Invariant = "privacy"          // what is not shared is nowhere else
	InvariantBlame        Invariant = "blame"            // no honest peer is blamed
	InvariantWire         Invariant = "wire"             // what an honest peer sends is understood
	InvariantOwnStore     Invariant = "own store"        // an instance writes into its own store alone
	InvariantSoundDisk    Invariant = "sound disk"       // a disk without a fault is read
	InvariantProgress     Invariant = "progress"         // what must work on a sound machine works
	InvariantDeterminism  Invariant = "determinism"      // a plan gives the same run each time
	InvariantPanic        Invariant = "panic"            // nothing panics
	InvariantOwn          Invariant = "own check"        // what a user's own check or agent holds, see Named
)

// ErrFailed is wrapped by what Run and Check find wrong, each a *Violation.
var ErrFailed = errors.New("simulation: the fleet is wrong")

// ErrStopped is returned for a run that Options.Stop ended. It says nothing of
// the fleet.
var ErrStopped = errors.New("simulation: stopped")

// Violation is the first thing that went wrong in a run.
type Violation struct { //nolint:errname // it is what was violated; an error by the way
	Invariant Invariant
	// Check is the name of the own check that failed, see Named; empty when it has
	// none, and for every invariant but InvariantOwn.
	Check string
	// Text says what was wrong. Its first line is for people in a hurry.
	Text string
}

// likewise reports whether another run failed of the same: the invariant, and of
// own checks the name, since all of them are one invariant.
func (v *Violation) likewise(o *Violation) bool {
	return v.Invariant == o.Invariant && v.Check == o.Check
}

// Error implements error.
func (v *Violation) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrFailed, v.Invariant, v.Text)
}

// Unwrap returns ErrFailed.
func (v *Violation) Unwrap() error { return ErrFailed }

// fail notes that something went wrong; the first counts.
func (c *Cluster) fail(i Invariant, format string, args ...any) {
	c.violate(&Violation{Invariant: i, Text: fmt.Sprintf(format, args...)})
}

func (c *Cluster) violate(v *Violation) {
	// A line of a trace is one event.
	c.trace.note("!!!", "%s: %s", v.Invariant, strings.ReplaceAll(v.Text, "\n", "; "))
	c.watch.emit(Event{Kind: EventViolation, Replica: Nobody, Peer: Nobody, Text: string(v.Invariant) + ": " + v.Text})
	if c.failure == nil {
		c.failure = v
	}
}
