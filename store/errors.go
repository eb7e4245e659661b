package store

import "errors"

var (
	// ErrNotFound is returned for a key, version or row that is not there.
	ErrNotFound = errors.New("store: not found")
	// ErrCorrupt is returned when stored bytes are not what was written. The
	// disk or the file system is at fault; nothing read is to be trusted.
	ErrCorrupt = errors.New("store: corrupt data")
	// ErrLocked is returned by OpenBadger for a directory that another process
	// has open.
	ErrLocked = errors.New("store: in use by another process")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("store: closed")
	// ErrTooLarge is returned for a write that does not fit one transaction.
	ErrTooLarge = errors.New("store: too large for one transaction")
	// ErrReadOnly is returned for a write to a snapshot.
	ErrReadOnly = errors.New("store: read only")
	// ErrFull is returned when the disk has less free space than the store
	// needs to stay safe. Reads go on; writes come back by themselves once
	// there is room.
	ErrFull = errors.New("store: disk is full")
	// ErrFailed is returned once the engine has failed in the middle of a
	// commit: what it has in memory is not to be trusted until it is opened anew.
	ErrFailed = errors.New("store: engine failed, it must be opened anew")
	// ErrNotReady is returned for the digest of a span until Store.Ready.
	ErrNotReady = errors.New("store: digests are still being built")
	// ErrFormat is returned by Open for a store that a newer build wrote.
	ErrFormat = errors.New("store: unknown format version")
	// ErrIncomplete is returned for content of which not every chunk is here yet.
	ErrIncomplete = errors.New("store: content is not all here yet")
	// ErrMismatch is returned for chunks that are no part of the blob they were
	// said to be of.
	ErrMismatch = errors.New("store: content is not what its hash says")
	// ErrCovered is returned by Write for a record that would not be held: a
	// version that is already there covers it, or is it. Nothing was written.
	ErrCovered = errors.New("store: write is covered by a held version")
)

// errAborted is what the members of a group get when a callback panics.
var errAborted = errors.New("store: transaction aborted")

// errStale tells Write that something that build read has changed since.
var errStale = errors.New("store: read set changed")
