package eventlog

import "errors"

var (
	// ErrInvalid is returned for input that no log takes. Nothing was written.
	ErrInvalid = errors.New("eventlog: invalid")
	// ErrNotFound is returned when a stream has no snapshot as wanted.
	ErrNotFound = errors.New("eventlog: not found")
	// ErrSealBroken is returned for a sealed snapshot that is not what the key's
	// owner sealed for this stream and number.
	ErrSealBroken = errors.New("eventlog: seal broken")
	// ErrNoKey is returned by a codec that can open but not seal.
	ErrNoKey = errors.New("eventlog: no key to seal with")
)
