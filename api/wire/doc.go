// Package wire holds the JSON shapes of the local API: what its handlers
// write, its client reads, and the command line prints with -o json.
//
// Every reply is one object with a schema_version and its data under a plural
// noun, field names are in snake_case, ids and stamps are text. Fields are
// added and never change their meaning under one SchemaVersion, so a reader
// ignores those that it does not know. The exception is an exported state, which
// is in the form of package state alone. A reply that is not 2xx is a Problem
// (RFC 9457).
//
// The package imports nothing of this module: a program that talks to a daemon
// does not link one.
package wire

// SchemaVersion is the schema_version of every object.
const SchemaVersion = 1

// Limits of requests, in bytes.
const (
	// RequestBytesMax bounds the body of a request: the longest text of a
	// record fits even when JSON escapes all of it, six bytes for one.
	RequestBytesMax = 6*TextBytesMax + 1<<20
	// TextBytesMax is the longest text of a record: the body of a skill, the
	// content of a memory item or a turn.
	TextBytesMax = 8 << 20
)
