package wire

// Scope places a record on the instance, project and workspace axis. The empty
// object is the global scope. A scope with an instance never leaves its
// machine.
type Scope struct {
	Instance  string `json:"instance,omitempty"`
	Project   string `json:"project,omitempty"`
	Workspace string `json:"workspace,omitempty"`
}

// Envelope is the replication metadata of a record. SyncVersion, UpdatedHLC and
// LastWriterID together name one version of it: sent back as a Token they make
// a write conditional.
type Envelope struct {
	SyncVersion int64 `json:"sync_version"`
	// UpdatedHLC is the stamp of the last write, such as "1790000000000.3":
	// milliseconds since 1970 and a counter.
	UpdatedHLC string `json:"updated_hlc"`
	// LastWriterID is the instance that made the last write.
	LastWriterID string `json:"last_writer_id"`
	// OriginInstanceID is the instance that created the record: a claim.
	OriginInstanceID string `json:"origin_instance_id"`
	// Deleted marks a tombstone. Only conflicts show tombstones.
	Deleted bool `json:"deleted,omitempty"`
}

// Token returns what makes a write conditional on this version.
func (e Envelope) Token() Token {
	return Token{SyncVersion: e.SyncVersion, UpdatedHLC: e.UpdatedHLC, LastWriterID: e.LastWriterID}
}

// Token is the compare-and-set token of a write. The zero Token writes
// unconditionally; MustNotExist, which stands alone, creates, and is a conflict
// when the record is live; else the write is refused as a conflict unless the
// stored record still is that version. SyncVersion alone is enough for most,
// but a merge may bring another version of the same number.
type Token struct {
	SyncVersion  int64  `json:"sync_version,omitempty"`
	UpdatedHLC   string `json:"updated_hlc,omitempty"`
	LastWriterID string `json:"last_writer_id,omitempty"`
	MustNotExist bool   `json:"must_not_exist,omitempty"`
}
