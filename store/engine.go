package store

// Engine is an ordered, transactional map from byte keys to byte values: what
// the store's logic stands on. NewMemory and OpenBadger are engines; the
// package storetest holds the conformance suite that every engine runs. An
// Engine is safe for concurrent use.
type Engine interface {
	// View runs fn over one consistent snapshot, which later updates do not
	// change. Several may run at once, beside an Update. It returns the error of
	// fn. Errors: ErrClosed.
	View(fn func(tx Txn) error) error
	// Update runs fn and makes its writes visible and durable all at once, or,
	// when fn or the engine fails, not at all. When it returns nil the writes
	// survive the loss of the process and of power. The Store calls it from one
	// goroutine at a time. Errors: those of fn, ErrClosed, ErrTooLarge,
	// ErrReadOnly, and the engine's own.
	Update(fn func(tx Txn) error) error
	// Close releases the engine once no View or Update runs. It is idempotent.
	Close() error
}

// Txn is one transaction of an Engine. It belongs to one goroutine and ends
// with the function that received it. In a View, Set and Delete return
// ErrReadOnly.
type Txn interface {
	// Get returns the value of a key. The slice is valid until the transaction
	// ends and must not be changed. Errors: ErrNotFound.
	Get(key []byte) ([]byte, error)
	// Set stores a value, which may be empty but not nil. The engine may keep
	// both slices, which must not change until Update returns. Errors:
	// ErrTooLarge when the transaction has no room left.
	Set(key, value []byte) error
	// Delete removes a key; removing one that is not there is no error.
	Delete(key []byte) error
	// Scan calls fn for each key in [from, to), ascending, or descending when
	// reverse is set, with the transaction's own writes in their places, until
	// fn returns false or an error, which it returns. A nil to means no upper
	// bound. The slices are valid only during the call of fn. fn may call Get,
	// but may not write.
	Scan(from, to []byte, reverse bool, fn func(key, value []byte) (more bool, err error)) error
}
