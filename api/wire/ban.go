package wire

import "time"

// BanRequest says what a member wrote that counts no more.
type BanRequest struct {
	// Member is the name or id of a member. What succeeded it is meant, too.
	Member string `json:"member"`
	// From is the first stamp that counts no more, such as 1790000000000.0. When it is
	// absent and To too, it is the one after the last that this node holds of the member.
	From string `json:"from,omitempty"`
	// To is the last stamp that counts no more. When it is absent the ban is for ever: the
	// member is none any more.
	To string `json:"to,omitempty"`
	// Note says why, for people: printable, at most 256 bytes.
	Note string `json:"note,omitempty"`
	// DryRun asks for what would follow, and for nothing to be done.
	DryRun bool `json:"dry_run,omitempty"`
}

// Ban is what a ban did, or would do.
type Ban struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	Name          string `json:"name"`
	// From and To are the first and the last stamp that count no more; To is absent in a
	// ban for ever.
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	Note string `json:"note,omitempty"`
	// By is who issued it: the name of the node, or "root" for the root key.
	By string `json:"by"`
	// DryRun says that nothing was done.
	DryRun bool `json:"dry_run"`
	// Versions counts those of the range that the node had, covered ones too.
	Versions int `json:"versions"`
	// Statements counts the member's own statements, such as grants, that count no more.
	Statements int `json:"statements"`
	// Retracted counts the versions that the node holds no more, and Restored those that
	// they had covered and that it holds again.
	Retracted int `json:"retracted"`
	Restored  int `json:"restored"`
	// Told are the members that hear of it now, Later those that do when they come back, by
	// name.
	Told  []string `json:"told"`
	Later []string `json:"later"`
}

// Revocation is a ban of a member.
type Revocation struct {
	// From and To are the first and the last stamp that count no more; To is absent in a
	// ban for ever.
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	Note string `json:"note,omitempty"`
	// By is the name of who issued it, "root" for the root key, and At when.
	By string    `json:"by"`
	At time.Time `json:"at"`
}
