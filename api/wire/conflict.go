package wire

import "time"

// Conflict is a write that lost to a concurrent one and is kept until somebody
// settles it. A record with several losers makes one Conflict of each.
type Conflict struct {
	// Kind is that of the record, such as "skill".
	Kind string `json:"kind"`
	// Key is the record's key within kind and scope: the slug of a skill, the id
	// of a memory item or session. One of several parts, such as the session and
	// the id of a turn, has them between slashes; a slash or percent sign within
	// a part is then written %2F or %25.
	Key    string  `json:"key"`
	Scope  Scope   `json:"scope"`
	Winner Version `json:"winner"`
	Loser  Version `json:"loser"`
}

// The standings of a version.
const (
	StandingHead     = "head"     // what ordinary readers see
	StandingConflict = "conflict" // lost to a concurrent write
	StandingCovered  = "covered"  // replaced by a later write
)

// Version is one version of a record.
type Version struct {
	// Hash identifies the version in the whole fleet, in hex.
	Hash string `json:"hash"`
	Envelope
	// Standing is "head", "conflict" or "covered".
	Standing string `json:"standing"`
	// CoveredAt is when this node moved a covered version to its history.
	CoveredAt *time.Time `json:"covered_at,omitempty"`
	// One of these is the content, of a tombstone what remains of it. All are
	// absent for other kinds, and for content that breaks its kind's rules.
	Skill   *Skill      `json:"skill,omitempty"`
	Memory  *MemoryItem `json:"memory,omitempty"`
	Session *Session    `json:"session,omitempty"`
	Turn    *Turn       `json:"turn,omitempty"`
	Outcome *Outcome    `json:"outcome,omitempty"`
}

// ConflictList is every conflict, by key.
type ConflictList struct {
	SchemaVersion int        `json:"schema_version"`
	Conflicts     []Conflict `json:"conflicts"`
	// NextCursor is that of MemoryList.
	NextCursor string `json:"next_cursor,omitempty"`
}

// History is every version that the answering node still has of a record, newest
// first. Nodes differ in the covered ones.
type History struct {
	SchemaVersion int `json:"schema_version"`
	// Kind, Key and Scope are those of the record, as in a Conflict.
	Kind     string    `json:"kind"`
	Key      string    `json:"key"`
	Scope    Scope     `json:"scope"`
	Versions []Version `json:"versions"`
	// NextCursor is that of MemoryList.
	NextCursor string `json:"next_cursor,omitempty"`
}
