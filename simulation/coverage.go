package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Fault names one kind of fault.
type Fault string

// The faults. A run of many seeds in which one of them never happened proves
// less than it seems to: Coverage.Missing tells.
const (
	FaultLoss            Fault = "loss"             // a message vanished
	FaultDuplicate       Fault = "duplicate"        // a message came twice
	FaultReorder         Fault = "reorder"          // a message overtook another
	FaultStray           Fault = "stray"            // a message came very late
	FaultStraggler       Fault = "straggler"        // a message outlived its connection
	FaultUnsent          Fault = "unsent"           // a message to a peer that was gone
	FaultCut             Fault = "cut"              // a message vanished in a partition
	FaultPartition       Fault = "partition"        // two groups apart
	FaultAsymmetric      Fault = "asymmetric"       // one direction dead
	FaultDisconnect      Fault = "disconnect"       // one connection ended
	FaultUnseenReconnect Fault = "unseen reconnect" // a peer restarted unnoticed
	FaultCrash           Fault = "crash"            // a process died between two writes
	FaultCrashWriting    Fault = "crash writing"    // a process died in a write
	FaultAbsence         Fault = "absence"          // away for an hour or more
	FaultDropout         Fault = "dropout"          // away for less
	FaultAbsence1        Fault = "absence 1 day"    // away for exactly so long
	FaultAbsence29       Fault = "absence 29 days"
	FaultAbsence31       Fault = "absence 31 days"
	FaultAbsence181      Fault = "absence 181 days"
	FaultAbsence365      Fault = "absence 365 days"
	FaultSleep           Fault = "sleep"            // nobody did anything for hours or more
	FaultJoin            Fault = "join"             // an empty replica joined late
	FaultMassJoin        Fault = "mass join"        // several did at once
	FaultSharing         Fault = "sharing switched" // a family was shared no longer, or again
	FaultNewerRecord     Fault = "newer record"     // one of a later build was taken in
	FaultNewerField      Fault = "newer field"      // a message of a later build
	FaultNewerAlgorithm  Fault = "newer algorithm"  // a record that only a later build can judge
	FaultNewerMessage    Fault = "newer message"    // a message of an unknown type
	FaultRollback        Fault = "rollback"         // a disk came back from a backup
	FaultLateGrant       Fault = "late grant"       // a writer nobody knows yet
	FaultStranger        Fault = "stranger"         // a writer who is never a member
	FaultBan             Fault = "ban"              // a member was banned
	FaultVoid            Fault = "void"             // what a member had written for a while was taken away
	FaultWithdrawal      Fault = "withdrawal"       // so was a version by its content
	FaultLift            Fault = "ban lifted"       // root gave back what the admin had taken away
	FaultForgedHeads     Fault = "forged heads"     // of a hostile member: a greeting or a heartbeat that is not so
	FaultForgedAnswer    Fault = "forged answer"    // an answer that is not so
	FaultForgedRanges    Fault = "forged ranges"    // an answer about ranges that is not so
	FaultForgedContent   Fault = "forged content"   // a part of a content that is not so
	FaultForgedRequest   Fault = "forged request"   // a request that makes no sense
	FaultForgedRecord    Fault = "forged record"    // a record that nobody signed
	FaultForgedGossip    Fault = "forged gossip"    // gossip that no honest member begins
	FaultFlippedBits     Fault = "flipped bits"     // a damaged frame of a sound connection
	FaultReplay          Fault = "replay"           // an old frame again
	FaultUnasked         Fault = "unasked answer"   // an answer to nothing
	FaultPoison          Fault = "poison"           // a version from the time to come
	FaultEquivocation    Fault = "equivocation"     // two versions under one stamp
	FaultForgedBasis     Fault = "forged basis"     // a version that claims to have seen everything
	FaultMadeUp          Fault = "made-up member"   // a version or a grant of one
	FaultFlood           Fault = "flood"            // one request of many
	FaultClaim           Fault = "claim"            // sections that nobody has
	FaultEndless         Fault = "endless page"     // a page that has always one after it
	FaultPry             Fault = "pry"              // a request for what is private
	FaultMute            Fault = "mute"             // a request that is never answered
	FaultSkew            Fault = "skew"             // a clock off by seconds
	FaultDrift           Fault = "drift"            // a clock off by more than DriftMax
	FaultSlowDisk        Fault = "slow disk"        // batches wait
	FaultDiskRefused     Fault = "disk refused"     // an update failed and is not there
	FaultDiskDoubt       Fault = "disk doubt"       // an update failed and is there
	FaultDiskRead        Fault = "disk read"        // a snapshot failed
	FaultTwin            Fault = "twin"             // two writes under one stamp, of a cloned machine
	FaultCorrupt         Fault = "corrupt"          // a message was damaged, and its connection ended
	FaultThrottle        Fault = "throttle"         // a message waited for those before it
	FaultOverflow        Fault = "overflow"         // a message vanished from a full queue
	FaultClog            Fault = "clog"             // a message waited for its line to be free
	FaultFlap            Fault = "flap"             // a line went down and up again
	FaultLossy           Fault = "lossy"            // a message vanished on a line that is bad one way
	FaultLate            Fault = "late"             // a message came hours to weeks later
)

// Marker names something that must happen now and then for a run to mean
// anything.
type Marker string

// The markers.
const (
	SometimesFeed           Marker = "feed pull"
	SometimesPage           Marker = "page transfer"
	SometimesDivided        Marker = "spans divided"
	SometimesListed         Marker = "span listed"
	SometimesCursorInvalid  Marker = "cursor invalid"
	SometimesGossip         Marker = "gossip applied"
	SometimesAnnounced      Marker = "gossip announced"
	SometimesParked         Marker = "parked"
	SometimesParkedFuture   Marker = "parked for the future"
	SometimesReleased       Marker = "released"
	SometimesConflict       Marker = "conflict"
	SometimesDelete         Marker = "delete"
	SometimesRevival        Marker = "revival"
	SometimesTimeout        Marker = "timeout"
	SometimesFastForward    Marker = "cursor fast-forward"
	SometimesRefused        Marker = "refused room"
	SometimesWithheld       Marker = "family withheld"
	SometimesPartWithheld   Marker = "section withheld"
	SometimesDamageNoticed  Marker = "damage noticed"
	SometimesUnacknowledged Marker = "unacknowledged write kept"
	SometimesOwnRead        Marker = "own write read"
	SometimesForeignRead    Marker = "foreign write read"
	SometimesIncomplete     Marker = "text that comes after its record"
	SometimesRevised        Marker = "compare-and-set"
	SometimesReviseRefused  Marker = "compare-and-set refused"
	SometimesImport         Marker = "import"
	SometimesBanished       Marker = "hostile member kept away"
	SometimesBusy           Marker = "busy"
	SometimesDenied         Marker = "write denied"
	SometimesJudged         Marker = "outcome counted"
	SometimesRetracted      Marker = "version taken away"
	SometimesRestored       Marker = "version given back"
)

// Coverage counts what happened. It belongs to one goroutine.
type Coverage struct {
	Faults  map[Fault]int
	Markers map[Marker]int
}

// NewCoverage returns empty counts.
func NewCoverage() *Coverage {
	return &Coverage{Faults: map[Fault]int{}, Markers: map[Marker]int{}}
}

// counter counts what happens in a run, and tells who observes it.
type counter struct {
	*Coverage
	watch *observation
}

func (c *counter) fault(f Fault) {
	c.Faults[f]++
	c.watch.fault(f)
}

func (c *counter) sometimes(m Marker) { c.Markers[m]++ }

// Add adds the counts of another run.
func (c *Coverage) Add(o *Coverage) {
	for f, n := range o.Faults {
		c.Faults[f] += n
	}
	for m, n := range o.Markers {
		c.Markers[m] += n
	}
}

// Total returns the number of faults.
func (c *Coverage) Total() int {
	total := 0
	for _, n := range c.Faults {
		total += n
	}
	return total
}

// Missing returns the faults and markers of a list that never happened.
func (c *Coverage) Missing(faults []Fault, markers []Marker) []string {
	var missing []string
	for _, f := range faults {
		if c.Faults[f] == 0 {
			missing = append(missing, "fault "+string(f))
		}
	}
	for _, m := range markers {
		if c.Markers[m] == 0 {
			missing = append(missing, "marker "+string(m))
		}
	}
	return missing
}

// String lists the counts by name.
func (c *Coverage) String() string {
	var parts []string
	for _, f := range slices.Sorted(maps.Keys(c.Faults)) {
		parts = append(parts, fmt.Sprintf("%s %d", f, c.Faults[f]))
	}
	faults := strings.Join(parts, ", ")
	parts = parts[:0]
	for _, m := range slices.Sorted(maps.Keys(c.Markers)) {
		parts = append(parts, fmt.Sprintf("%s %d", m, c.Markers[m]))
	}
	return "faults: " + faults + "\nmarkers: " + strings.Join(parts, ", ")
}

// AllFaults returns every kind of fault that a campaign of drawn plans must have
// had, each often. FaultDropout is none of them: it is what scenarios are asked
// for, and NewPlan, which draws it too, has other ways to be away.
func AllFaults() []Fault {
	return append(machineFaults(), []Fault{
		FaultLoss, FaultDuplicate, FaultReorder, FaultStray, FaultStraggler, FaultUnsent, FaultCut,
		FaultPartition, FaultAsymmetric, FaultDisconnect, FaultUnseenReconnect, FaultCrash, FaultCrashWriting,
		FaultAbsence, FaultAbsence1, FaultAbsence29, FaultAbsence31, FaultAbsence181, FaultAbsence365, FaultSleep,
		FaultMassJoin, FaultSharing, FaultNewerRecord, FaultNewerField, FaultNewerMessage,
		FaultForgedHeads, FaultForgedAnswer, FaultForgedRanges, FaultForgedContent, FaultForgedRequest, FaultForgedRecord, FaultForgedGossip, FaultFlippedBits,
		FaultReplay, FaultUnasked, FaultPoison, FaultEquivocation, FaultForgedBasis, FaultMadeUp, FaultFlood, FaultClaim,
		FaultEndless, FaultPry, FaultMute, FaultNewerAlgorithm, FaultJoin, FaultRollback, FaultLateGrant, FaultStranger, FaultBan, FaultVoid, FaultWithdrawal, FaultLift, FaultSkew, FaultDrift,
		FaultSlowDisk, FaultDiskRefused, FaultDiskDoubt, FaultDiskRead, FaultTwin,
		FaultCorrupt, FaultThrottle, FaultOverflow, FaultClog, FaultFlap, FaultLossy, FaultLate, FaultBusy,
	}...)
}

// AllMarkers returns every marker.
func AllMarkers() []Marker {
	return []Marker{
		SometimesFeed, SometimesPage, SometimesDivided, SometimesListed, SometimesCursorInvalid,
		SometimesGossip, SometimesAnnounced, SometimesParked, SometimesParkedFuture, SometimesReleased,
		SometimesConflict, SometimesDelete, SometimesRevival, SometimesTimeout, SometimesFastForward,
		SometimesUnacknowledged, SometimesDamageNoticed, SometimesRefused, SometimesWithheld, SometimesPartWithheld, SometimesOwnRead, SometimesForeignRead,
		SometimesRevised, SometimesReviseRefused, SometimesIncomplete, SometimesImport, SometimesBanished, SometimesBusy, SometimesDenied, SometimesJudged, SometimesRetracted, SometimesRestored,
	}
}
