package wire

// The outcomes of a Change.
const (
	ChangeRestored  = "restored"  // it says again what it said before
	ChangeDeleted   = "deleted"   // the writer had created it
	ChangeSettled   = "settled"   // the writer's version was a conflict of another's
	ChangeUnchanged = "unchanged" // it says already what it would be restored to
	ChangeLeft      = "left"      // it could not be undone
)

// Change is what undoing a writer does, or would do, to one record.
type Change struct {
	// Kind, Key and Scope are those of the record, as in a Conflict.
	Kind    string `json:"kind"`
	Key     string `json:"key"`
	Scope   Scope  `json:"scope"`
	Outcome string `json:"outcome"`
	// Reason says why a record was left; of one that was restored, what is to be
	// known.
	Reason string `json:"reason,omitempty"`
	// Was is the version to be undone.
	Was Version `json:"was"`
	// Now is the version that was written, of a plan the one whose content would
	// be; absent for none.
	Now *Version `json:"now,omitempty"`
}

// ChangeList is what undoing a writer does, or would do.
type ChangeList struct {
	SchemaVersion int `json:"schema_version"`
	// Writer is the instance, and Since the stamp from which on its writes count:
	// "0.0" for all.
	Writer  string   `json:"writer"`
	Since   string   `json:"since"`
	Changes []Change `json:"changes"`
}
