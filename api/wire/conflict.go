package wire

// Conflict is a write that lost to a concurrent one and is kept until somebody
// settles it. A record with several losers makes one Conflict of each.
type Conflict struct {
	// Kind is that of the record, such as "skill".
	Kind string `json:"kind"`
	// Key is the record's key within kind and scope: the slug of a skill, the
	// id of a memory item.
	Key    string  `json:"key"`
	Scope  Scope   `json:"scope"`
	Winner Version `json:"winner"`
	Loser  Version `json:"loser"`
}

// Version is one side of a Conflict.
type Version struct {
	// Hash identifies the version in the whole fleet, in hex.
	Hash string `json:"hash"`
	Envelope
	// Skill or Memory is the content, of a tombstone what remains of it. Both
	// are absent for other kinds, and for content that breaks its kind's rules.
	Skill  *Skill      `json:"skill,omitempty"`
	Memory *MemoryItem `json:"memory,omitempty"`
}

// ConflictList is every conflict, by key.
type ConflictList struct {
	SchemaVersion int        `json:"schema_version"`
	Conflicts     []Conflict `json:"conflicts"`
}
