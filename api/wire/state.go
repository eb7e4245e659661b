package wire

import "encoding/json"

// ImportBytesMax bounds the body of one import, in bytes: the longest turn fits
// beside its session, even when JSON escapes all of both.
const ImportBytesMax = RequestBytesMax + 1<<20

// ImportRequest is a part of an exported state, whatever part. Turns need their
// sessions in it, also when an earlier part had them.
type ImportRequest struct {
	// DryRun asks what would be done.
	DryRun bool `json:"dry_run,omitempty"`
	// Snapshot is in the form of the export.
	Snapshot json.RawMessage `json:"snapshot"`
}

// ImportReply says what an import has done, or would do.
type ImportReply struct {
	SchemaVersion int          `json:"schema_version"`
	DryRun        bool         `json:"dry_run"`
	Sessions      ImportCounts `json:"sessions"`
	Turns         ImportCounts `json:"turns"`
	Skills        ImportCounts `json:"skills"`
	Items         ImportCounts `json:"items"`
	// Held counts the records among those created and updated that the gate for
	// secrets holds back on this machine.
	Held    int             `json:"held"`
	Refused []ImportRefusal `json:"refused"`
}

// ImportCounts counts records of one kind: those that were not live here, those
// that said something else, those that said the same, and those that could not
// be written.
type ImportCounts struct {
	Created int `json:"created"`
	Updated int `json:"updated"`
	Equal   int `json:"equal"`
	Refused int `json:"refused"`
}

// ImportRefusal is a record that could not be written.
type ImportRefusal struct {
	// Kind, Key and Scope are as in a Conflict; of sessions and turns without a
	// scope.
	Kind   string `json:"kind"`
	Key    string `json:"key"`
	Scope  Scope  `json:"scope"`
	Reason string `json:"reason"`
}
