package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Plan is everything that will happen to a cluster: a value that follows from
// a seed, can be changed by hand, and gives the same run again each time. It has
// a text form, see Text. Lists by replica may be shorter than the fleet: the rest
// is zero.
type Plan struct {
	Seed uint64
	// Replicas is their number, 2 to 4,096.
	Replicas int
	// Topology says which of them can connect.
	Topology Topology
	// Degree is how many others each replica dials, chosen by rendezvous hashing
	// as a node does; others may dial it. 0 is all that the topology allows.
	Degree int
	// StartWithin is the time within which the replicas start, each at a random
	// moment; 0 starts all at once.
	StartWithin time.Duration
	// Gossip switches live replication on.
	Gossip bool
	// GossipDegree is with how many of its connections a replica exchanges
	// gossip, as in gossipsub: it floods what it writes to all, and what it
	// hears to those. 0 is all, and then nobody sends to whoever has it.
	GossipDegree int
	// HeartbeatEvery, RequestTimeout and TickEvery are what the engines and
	// their drivers run with.
	HeartbeatEvery, RequestTimeout, TickEvery time.Duration
	// Weather is the network until the cluster heals.
	Weather Weather
	// Sites are the sites of the replicas, by replica; empty: all at site 0.
	Sites []int
	// Paths are the directed lines between sites that have a weather of their
	// own; all others have Weather.
	Paths []Path
	// Skews are the errors of the replicas' clocks at their first start.
	Skews []time.Duration
	// Absent replicas start only by a Join step.
	Absent []int
	// Grants says of each replica how the others learn that it is a member.
	Grants []GrantMode
	// Limits says by replica what its grant leaves out.
	Limits []GrantLimit
	// Withheld is by replica what it does not share: a family, or what of it is in
	// one project, as "memory/web"; empty for nothing.
	Withheld []string
	// Newer are the replicas that run a later build.
	Newer []int
	// PageBytes bounds what one answer carries, from 256; 0 leaves the default.
	PageBytes int
	// ParkedMax bounds what each store keeps parked; 0 leaves the default.
	ParkedMax int
	// HistoryMax bounds the covered versions that each store keeps of a key; 0
	// leaves the default.
	HistoryMax int
	// InlineBytes is how long a text may be that is part of its record; longer ones
	// are stored and sent beside it. 0 leaves the default, 32 KiB.
	InlineBytes int
	// Steps happen in order, each After the one before.
	Steps []Step
	// Rest is how much time passes after the last step, before all faults end.
	Rest time.Duration
}

// answerRate is what a replica may be made to read and send, in bytes a second;
// 0 leaves the default.
func (p *Plan) answerRate() int { return 128 * p.PageBytes }

// Topology says which replicas can connect.
type Topology uint8

// The topologies.
const (
	Mesh Topology = iota // everybody with everybody
	Ring
	Line
	Star // everybody with the first
)

// topologies are their names.
var topologies = [...]string{"mesh", "ring", "line", "star"}

func (t Topology) String() string { return topologies[t] }

// wires reports whether a pair of n replicas is part of the topology.
func (t Topology) wires(a, b, n int) bool {
	if a > b {
		a, b = b, a
	}
	switch t {
	case Ring:
		return b-a == 1 || a == 0 && b == n-1
	case Line:
		return b-a == 1
	case Star:
		return a == 0
	default:
		return true
	}
}

// Diameter is the longest way between two of n replicas, in hops.
func (t Topology) Diameter(n int) int {
	switch t {
	case Ring:
		return max(n/2, 1)
	case Line:
		return n - 1
	case Star:
		return min(2, n-1)
	default:
		return 1
	}
}

// GrantMode says how the others learn that a replica is a member.
type GrantMode uint8

// The modes.
const (
	GrantKnown GrantMode = iota // everybody knows from the start
	GrantOwn                    // only the replica itself holds its grant
	GrantLate                   // nobody holds it until a Grant step states it
	GrantNever                  // it is a stranger that holds the fleet's statements
)

// grantModes are their names.
var grantModes = [...]string{"known", "own", "late", "never"}

func (g GrantMode) String() string { return grantModes[g] }

// Step is one thing that happens.
type Step struct {
	// After is the time since the step before.
	After time.Duration
	Act   Act
	// Replica is who it happens to, Peer the other side of a link.
	Replica, Peer int
	// For is how long a fault lasts, how late it is noticed, or how much time is
	// jumped.
	For time.Duration
	// Count is a number of records, updates, or of a key; the meaning is the
	// act's.
	Count int
	// Bytes is the size of each body that is written; 0 leaves it to the act.
	Bytes int
	// Group is a set of replicas, one bit each.
	Group uint64
}

// Act is a kind of step.
type Act string

// The acts. Work that cannot be done, as when the replica does not run, is
// skipped.
const (
	ActWrite      Act = "write"       // create or edit key Count
	ActDelete     Act = "delete"      // delete key Count
	ActBurst      Act = "burst"       // write Count new records
	ActRead       Act = "read"        // read key Count
	ActRevise     Act = "revise"      // read key Count, think For, and write it on condition that it is still so
	ActImport     Act = "import"      // write pack Peer of Count skills
	ActLarge      Act = "large"       // write Count records of up to 64 KiB
	ActPrivate    Act = "private"     // write what is not shared
	ActForeign    Act = "foreign"     // write a record of an unknown kind
	ActJudge      Act = "judge"       // count how skill Count worked out
	ActSettle     Act = "settle"      // settle a conflict
	ActTwin       Act = "twin"        // two machines write under one identity and stamp: Replica and Peer
	ActPartition  Act = "partition"   // Group, without one the first Count, and the others apart, For; noticed late
	ActAsymmetric Act = "asymmetric"  // Replica to Peer dead, For
	ActCutLine    Act = "cut line"    // the line from Replica's site to Peer's site dead in this direction, For
	ActDisconnect Act = "disconnect"  // the connection of Replica and Peer ends, and may begin again after For
	ActCrash      Act = "crash"       // Replica dies and starts again after For
	ActCrashWrite Act = "crash write" // Replica dies in one of its next updates
	ActAbsence    Act = "absence"     // Replica is away for Count more steps, and For is jumped at the end
	ActReturn     Act = "return"
	ActJump       Act = "jump" // For passes while everybody sleeps
	ActJoin       Act = "join"
	ActBackup     Act = "backup"     // Replica's disk is copied
	ActRollback   Act = "rollback"   // Replica starts with the copy in the place of its disk
	ActGrant      Act = "grant"      // the first replica states the grant of Replica
	ActSkew       Act = "skew"       // Replica's clock is wrong by For from now on
	ActSlow       Act = "slow disk"  // the committer of Replica takes up to For longer
	ActRefuse     Act = "refuse"     // the next Count updates of Replica fail
	ActFlaky      Act = "flaky disk" // each update of Replica fails with Count percent, For
	ActDoubt      Act = "doubt"      // the next Count updates of Replica happen and fail
	ActAudit      Act = "audit"      // everybody's cursors are checked
	ActBan        Act = "ban"        // the first replica bans Replica, but for all of it that it holds without the Count newest
	ActVoid       Act = "void"       // the same, up to now
	ActWithdraw   Act = "withdraw"   // the first replica withdraws the content of skill Count
	ActLift       Act = "lift"       // root takes the newest of these out of force
	ActNewer      Act = "newer"      // Replica, of a later build, writes what this one does not know; Count says what
	// What hostile members do. Count is a share of messages in percent where
	// nothing else is said.
	ActForgeHeads    Act = "forge heads"    // greetings and heartbeats of Replica say what is not so, For
	ActForgeAnswers  Act = "forge answers"  // so do its answers
	ActForgeContents Act = "forge contents" // so do its answers about contents
	ActForgeRequests Act = "forge requests" // and its requests
	ActForgeRecords  Act = "forge records"  // its answers have records that nobody signed, For
	ActForgeGossip   Act = "forge gossip"   // it gossips what no honest member would, For
	ActFlipBits      Act = "flip bits"      // its frames are damaged, For
	ActReplay        Act = "replay"         // it sends old frames again, For
	ActUnasked       Act = "answer unasked" // it answers what nobody asked, For
	ActPoison        Act = "poison"         // it writes a version of key Count that is stamped For ahead
	ActEquivocate    Act = "equivocate"     // it writes two versions of key Count under one stamp
	ActForgeBasis    Act = "forge basis"    // it writes a version of key Count that claims to have seen everything
	ActMadeUp        Act = "make up"        // Count members that do not exist write
	ActFlood         Act = "flood"          // it sends each peer Count requests a second, For
	ActClaim         Act = "claim sections" // it claims to have Count sections that nobody has, For
	ActEndless       Act = "endless pages"  // its pages never end, For
	ActPry           Act = "pry"            // it asks for what is not shared, For
	ActMute          Act = "mute"           // it answers heartbeats and nothing else, For

	ActShare      Act = "share"      // Replica shares all but a part from now on; Count says which, 0 for none
	ActUnreadable Act = "unreadable" // the next Count snapshots of Replica fail
	ActCorrupt    Act = "corrupt"    // Count percent of what Replica sends to Peer is damaged, For
	ActLossy      Act = "lossy"      // Count percent of what Replica sends to Peer vanishes, For
	ActThrottle   Act = "throttle"   // the line from Replica to Peer carries Count bytes a second, For
	ActClog       Act = "clog"       // the lines of Replica with Group jam one after the other, and free in another order, in For
	ActFlap       Act = "flap"       // the line of Replica and Peer goes down and up every few seconds, For
	ActHoard      Act = "hoard"      // the next Count messages from Replica to Peer arrive once more, For later
)

// String is one line that says what a plan is like.
func (p *Plan) String() string {
	return fmt.Sprintf("seed %d: %d replicas (%s), gossip %t, heartbeat %s, timeout %s, loss %.2f, %d steps",
		p.Seed, p.Replicas, p.Topology, p.Gossip, p.HeartbeatEvery, p.RequestTimeout, p.Weather.Loss, len(p.Steps))
}

// timed is a step at an absolute time, as planners draw them.
type timed struct {
	at   time.Duration
	step Step
}

// arrange turns absolute times into steps.
func arrange(events []timed) []Step {
	slices.SortStableFunc(events, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	steps := make([]Step, len(events))
	var last time.Duration
	for i, e := range events {
		steps[i] = e.step
		steps[i].After = e.at - last
		last = e.at
	}
	return steps
}
