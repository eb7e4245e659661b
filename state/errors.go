package state

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

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

// IncompleteError is the ErrIncomplete of a record that was asked for by name. It
// says whose content it is, so that who knows names can tell people one.
type IncompleteError struct {
	Key merge.Key
	// WriterID is the instance that wrote it, and Writer what to call that; the id
	// when empty, as this package leaves it.
	WriterID, Writer string
}

func (e *IncompleteError) Error() string {
	return fmt.Sprintf("%s: the content of %s has not come yet: it comes from any machine that has it, such as %s, which wrote it",
		ErrIncomplete, e.Key, cmp.Or(e.Writer, e.WriterID))
}

// Unwrap returns ErrIncomplete.
func (e *IncompleteError) Unwrap() error { return ErrIncomplete }
