package wire

import "time"

// Gated is what the gate for secrets says of a record: names of rules, never what
// they have found.
type Gated struct {
	// Held are the rules by which the record is held back: it stays on this machine,
	// under its scope with this instance in it, until it is released.
	Held []string `json:"held,omitempty"`
	// Warned are the rules that found something in what this write sends out all the
	// same. Only the answer to a write has it.
	Warned []string `json:"warned,omitempty"`
}

// HeldRecord is a record that the gate for secrets holds back.
type HeldRecord struct {
	// Kind and Key are as in a Conflict, Scope is where the record is meant to be.
	Kind  string `json:"kind"`
	Key   string `json:"key"`
	Scope Scope  `json:"scope"`
	// Rules are those that found something when it was written, and What says what
	// each of them finds.
	Rules []string `json:"rules"`
	What  []string `json:"what"`
	// At is when it was written.
	At time.Time `json:"at"`
	// Hash identifies what is held: it is released and redacted by it.
	Hash string `json:"hash"`
}

// HeldList is everything that is held back on a node, by key.
type HeldList struct {
	SchemaVersion int          `json:"schema_version"`
	Held          []HeldRecord `json:"held"`
}

// HeldDetail is one held record, and where in it the secrets are.
type HeldDetail struct {
	SchemaVersion int `json:"schema_version"`
	HeldRecord
	Places []SecretPlace `json:"places"`
	// Redacted is the record without its secrets: what redacting it would write.
	Redacted Version `json:"redacted"`
}

// SecretPlace is where a secret is.
type SecretPlace struct {
	Rule string `json:"rule"`
	// Field is "content", "body", "title" or another of the record; "id" for its name.
	Field string `json:"field"`
	// Line counts from 1.
	Line int `json:"line"`
}

// HeldRequest names what is to be released or redacted.
type HeldRequest struct {
	// Hash is that of the held record as it was looked at. Another one is a conflict.
	Hash string `json:"hash"`
}

// Released is the outcome of releasing or redacting a held record.
type Released struct {
	SchemaVersion int `json:"schema_version"`
	// Kind, Key and Scope are those of the record as it is now.
	Kind  string `json:"kind"`
	Key   string `json:"key"`
	Scope Scope  `json:"scope"`
	// Version is what was written.
	Version Version `json:"version"`
}
