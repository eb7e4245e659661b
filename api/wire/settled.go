package wire

// RestoreRequest names the version to be restored.
type RestoreRequest struct {
	// Hash is that of the version in hex, or as much of its beginning as no other
	// version of the record has.
	Hash string `json:"hash"`
}

// Settled is the outcome of keeping or restoring a version of a record.
type Settled struct {
	SchemaVersion int `json:"schema_version"`
	// Kind, Key and Scope are those of the record, as in a Conflict.
	Kind  string `json:"kind"`
	Key   string `json:"key"`
	Scope Scope  `json:"scope"`
	// From is the version whose content is the record's now, and Version the one
	// that says so: what was written, or the head when that said it already.
	From    Version `json:"from"`
	Version Version `json:"version"`
	// Written says that a version was written.
	Written bool `json:"written"`
}
