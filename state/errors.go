package state

import "errors"

var (
	// ErrConflict is returned by a write whose caller passed a SyncVersion, or
	// the stamp it read, that is not the stored record's any more: somebody
	// else wrote in between. Read again and retry. An id that already belongs
	// to another record is a conflict too. Nothing was written.
	ErrConflict = errors.New("state: version conflict")
	// ErrNotFound is returned when a requested record does not exist or is
	// deleted.
	ErrNotFound = errors.New("state: not found")
	// ErrInvalid is returned for a value that breaks the rules of its kind.
	// Nothing was written.
	ErrInvalid = errors.New("state: invalid")
	// ErrAmbiguous is returned when a slug or id names live records of several
	// scopes and none of them is the home scope's. The text names the scopes.
	ErrAmbiguous = errors.New("state: ambiguous")
	// ErrTooLarge is returned for content beyond ContentBytesMax, and for a record
	// whose other fields are beyond the size of one body. Nothing was written.
	ErrTooLarge = errors.New("state: too large")
	// ErrIncomplete is returned for a record whose content is not all on this
	// machine yet: the record came first. It comes by itself from any machine that
	// has it. Lists show such a record with Incomplete set, and without content.
	ErrIncomplete = errors.New("state: incomplete")
	// ErrDenied is returned for a write that this instance has no authority to
	// make. Nothing was written.
	ErrDenied = errors.New("state: denied")
)
