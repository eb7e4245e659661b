package wire

// WithdrawRequest names a version of a skill to be taken back.
type WithdrawRequest struct {
	// Version is "head", or STAMP@NAME: its stamp, and the name or id of its writer. Empty
	// is the head.
	Version string `json:"version,omitempty"`
	// Note says why, for people: printable, at most 256 bytes.
	Note string `json:"note,omitempty"`
}

// Withdrawal is what taking a version of a skill back did.
type Withdrawal struct {
	SchemaVersion int    `json:"schema_version"`
	Slug          string `json:"slug"`
	Scope         Scope  `json:"scope"`
	Note          string `json:"note,omitempty"`
	// By is who issued it: the name of the node, or "root" for the root key.
	By string `json:"by"`
	// Versions are those that count no more: the one that was named, and all others of the
	// skill that the node had and that say the same.
	Versions []HeldVersion `json:"versions"`
	// Content is the digest of what they say, in hex: the same for the same body and check.
	Content string `json:"content"`
	// Retracted counts the versions that the node holds no more, and Restored those that
	// they had covered and that it holds again.
	Retracted int `json:"retracted"`
	Restored  int `json:"restored"`
	// Head is what the skill says now; null when nothing is left of it.
	Head *Version `json:"head"`
	// Told are the members that hear of it now, Later those that do when they come back, by
	// name.
	Told  []string `json:"told"`
	Later []string `json:"later"`
}
