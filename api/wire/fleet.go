package wire

import "time"

// The states of a member, as the answering node sees it.
const (
	StateSelf         = "self"         // the answering node
	StateInSync       = "in_sync"      // connected, and equal when last compared
	StateSyncing      = "syncing"      // connected; exchanging, or not compared yet
	StateBehind       = "behind"       // connected; it lacks versions that this node holds
	StateAhead        = "ahead"        // connected; it holds versions that this node lacks
	StateOffline      = "offline"      // not connected
	StateIncompatible = "incompatible" // connected, but nothing can be exchanged
	StateNeverSeen    = "never_seen"   // never connected with this node
	StateRevoked      = "revoked"      // banned: it belongs to the fleet no more
	StateSucceeded    = "succeeded"    // another key took its place
	StateExpired      = "expired"      // its grants are over
)

// Member is an instance that belongs to the fleet.
type Member struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Role is "member" or "admin".
	Role  string `json:"role"`
	State string `json:"state"`
	// Told says of one that is syncing that it was in sync, and was told of what was
	// written here less than a heartbeat ago: it has just not answered since. Behind
	// and Ahead are not known then, and 0.
	Told bool `json:"told,omitempty"`
	// Behind counts the versions of this node that the member is known to lack.
	Behind uint64 `json:"behind"`
	// Ahead counts the versions of the member that this node is known to lack:
	// an upper bound.
	Ahead uint64 `json:"ahead"`
	// Since is when it was first not equal, or last seen; null when that is
	// unknown, and in sync.
	Since *time.Time `json:"since"`
	// Why says more of a state, such as why a member is not in sync.
	Why string `json:"why,omitempty"`
	// Progress is how far the answering node has come in fetching from it; absent
	// when it fetches nothing.
	Progress *Progress `json:"progress,omitempty"`
	// Addresses are where the member is said to be.
	Addresses []string `json:"addresses"`
	// Capabilities are the families that it may write, "*" for every one; none for a
	// member that only reads.
	Capabilities []string `json:"capabilities"`
	// Scopes are those in which it may write; none is every scope.
	Scopes []Scope `json:"scopes"`
	// ExpiresAt is when its grants are over; absent for never.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// Revoked is the ban for ever; absent for who is not revoked.
	Revoked *Revocation `json:"revoked,omitempty"`
	// Voids are the ranges of what it wrote that count no more.
	Voids []Revocation `json:"voids,omitempty"`
	// SuccessorID is the key that took its place; absent when there is none.
	SuccessorID string `json:"successor_id,omitempty"`
}

// IsGone reports whether the member belongs to the fleet no more.
func (m *Member) IsGone() bool {
	return m.State == StateRevoked || m.State == StateSucceeded || m.State == StateExpired
}

// Progress is how far fetching a section has come, in versions.
type Progress struct {
	Family string `json:"family"`
	Scope  Scope  `json:"scope"`
	// Received are those that have come, of Expected: what the member held more when
	// it began.
	Received uint64 `json:"received"`
	Expected uint64 `json:"expected"`
	// Join says that the node held less than half of the section when it began.
	Join bool `json:"join"`
}

// MemberList is every member, the answering node included, by name: those that
// belong to the fleet now, or all that ever did.
type MemberList struct {
	SchemaVersion int      `json:"schema_version"`
	Members       []Member `json:"members"`
}

// Status is what one node knows, without asking anybody.
type Status struct {
	SchemaVersion int `json:"schema_version"`
	// InSync says that every other member is connected and was equal when last
	// compared. A fleet of one is in sync.
	InSync bool `json:"in_sync"`
	// Verdict says the same in a sentence, and when not, which member differs,
	// by how much, since when and why.
	Verdict string `json:"verdict"`
	// ID, Name and Fleet say who answers.
	ID    string `json:"id"`
	Name  string `json:"name"`
	Fleet string `json:"fleet"`
	// Records counts the versions that this node holds of what the fleet shares.
	Records int64 `json:"records"`
	// Root is the digest of them, in hex: equal on nodes that hold the same.
	Root string `json:"root"`
	// Conflicts counts the versions that lost to a concurrent one.
	Conflicts int `json:"conflicts"`
	// Parked counts the versions that wait for authority or for their time.
	Parked int `json:"parked"`
	// ParkedFor says how many for which reason: "authority", "future" (stamped ahead
	// of time), "banned", "floor" (older than a delete that was collected), "withdrawn" or
	// "closed" (by a key that was succeeded).
	ParkedFor map[string]int `json:"parked_for,omitempty"`
	// WantedBlobs counts the contents that records refer to and that are still to be
	// fetched.
	WantedBlobs int `json:"wanted_blobs"`
	// Held counts the records that the gate for secrets holds back on this node.
	Held int `json:"held"`
	// Addresses are where this node can be reached.
	Addresses []string `json:"addresses"`
	// Store is "badger" or "memory".
	Store string `json:"store"`
	// Members are those that belong to the fleet now, and this node, by name.
	Members []Member `json:"members"`
}

// Answer is what one member said when it was asked.
type Answer struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Answered says that it replied in time.
	Answered bool `json:"answered"`
	// Equal says that its root is that of the node that asked.
	Equal bool `json:"equal"`
	// Why says why it did not answer, or is not equal.
	Why string `json:"why,omitempty"`
}

// Probe is the outcome of asking every other member for its root.
type Probe struct {
	SchemaVersion int `json:"schema_version"`
	// Converged says that at least one other member answered and that all that
	// answered are equal. A fleet of one has converged.
	Converged bool `json:"converged"`
	// Root is that of the node that asked.
	Root string `json:"root"`
	// Members are the other members, by name.
	Members []Answer `json:"members"`
}

// InvitationRequest says what an invitation offers. The zero value is the
// default: any name, 15 minutes, one use.
type InvitationRequest struct {
	// Name fixes the name of the joiner.
	Name string `json:"name,omitempty"`
	// TTLSeconds is how long the ticket is good; 0 means 15 minutes.
	TTLSeconds int64 `json:"ttl_seconds,omitempty"`
	// Uses is how many may join by it; 0 means one.
	Uses int `json:"uses,omitempty"`
	// Can are the families that the joiner may write, or "*". Null stands for
	// memory, skill and session; an empty list is a member that only reads.
	Can []string `json:"can,omitzero" nullable:"true"`
	// Scopes limit what the joiner may write: a record's scope must agree with
	// one of them in every field that it sets. None means every scope.
	Scopes []Scope `json:"scopes,omitempty"`
	// Admin makes the joiner an admin, who may write everything, invite and ban
	// members. Only a machine with the root key can.
	Admin bool `json:"admin,omitempty"`
}

// Invitation is a ticket for a new member. Whoever holds it may join.
type Invitation struct {
	SchemaVersion int       `json:"schema_version"`
	Ticket        string    `json:"ticket"`
	Name          string    `json:"name,omitempty"`
	Uses          int       `json:"uses"`
	ExpiresAt     time.Time `json:"expires_at"`
	// Addresses are those in the ticket: where the joiner has to reach.
	Addresses []string `json:"addresses"`
}

// Build says which build answers.
type Build struct {
	SchemaVersion int    `json:"schema_version"`
	Version       string `json:"version"`
	Revision      string `json:"revision,omitempty"`
	Go            string `json:"go"`
	Platform      string `json:"platform"`
}

// The names of the checks of /readyz.
const (
	// CheckNode is that the node has begun its part in the fleet.
	CheckNode = "node"
	// CheckNetwork is that it listens wherever it was told to.
	CheckNetwork = "network"
	// CheckWrites is that the store takes writes: it has not failed, and its disk
	// has room.
	CheckWrites = "writes"
	// CheckClock is that no write is refused because of this machine's clock.
	CheckClock = "clock"
	// CheckStore is that the store can be read.
	CheckStore = "store"
)

// Check is one named check of health: of /readyz node, network, writes, clock and
// store.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Detail says why not.
	Detail string `json:"detail,omitempty"`
}

// Health is the outcome of /livez or /readyz: 200 when OK, else 503. It is the
// one body that is not 2xx and not a Problem.
type Health struct {
	SchemaVersion int     `json:"schema_version"`
	OK            bool    `json:"ok"`
	Checks        []Check `json:"checks"`
}
