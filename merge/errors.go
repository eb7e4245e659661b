package merge

import "errors"

var (
	// ErrMalformed is returned for bytes or values outside the format.
	ErrMalformed = errors.New("merge: malformed")
	// ErrTooLarge is returned for a body or header beyond its limit.
	ErrTooLarge = errors.New("merge: too large")
	// ErrUnsupported is returned for a signature algorithm that this build does
	// not know: the record may be sound, but nothing can be said of it.
	ErrUnsupported = errors.New("merge: unsupported")
)
