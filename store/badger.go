package store

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// BadgerOptions tunes the badger engine. The zero value is right for a node.
type BadgerOptions struct {
	// Relaxed leaves it to the operating system when a transaction reaches the
	// disk: a lost process loses nothing, lost power may lose the last seconds.
	Relaxed bool
	// FreeBytesMin is the free space below which writes return ErrFull, since
	// badger dies of a full disk; 0 means 64 MiB. Where the system does not tell
	// the free space, nothing is checked.
	FreeBytesMin uint64
}

// badgerEngine is the Engine over a badger directory.
type badgerEngine struct {
	db      *badger.DB
	dir     string
	freeMin uint64
	seen    snapshots
	// failed holds the error of a commit that badger may have left half done in
	// its memory. A new opening replays only what is whole.
	failed atomic.Pointer[error]
}

// OpenBadger opens or creates a badger database in a directory, which belongs
// to the engine alone. Errors: ErrLocked when another process has it; the
// reasons of the system and of badger.
func OpenBadger(dir string, opts BadgerOptions) (Engine, error) {
	settings := badgerSettings(dir, opts)
	db, err := badger.OpenManaged(settings)
	for wait := lockWaitMax; isLocked(err) && wait > 0; wait -= lockWaitStep {
		// A program that this process has begun to start holds everything that is
		// open here until it runs, also the lock of a store that was closed meanwhile.
		time.Sleep(lockWaitStep) //nolint:forbidigo // other processes keep no virtual time
		db, err = badger.OpenManaged(settings)
	}
	if err != nil && !isLocked(err) {
		// A process that was killed can leave an empty file that makes the first
		// opening fail; that opening cleans it up.
		db, err = badger.OpenManaged(settings)
	}
	switch {
	case err == nil:
	case isLocked(err):
		return nil, fmt.Errorf("%w: %s", ErrLocked, dir)
	default:
		return nil, fmt.Errorf("store: open %s: %w", dir, err)
	}
	e := &badgerEngine{
		db: db, dir: dir, freeMin: opts.FreeBytesMin,
		seen: snapshots{newest: db.MaxVersion(), open: map[uint64]int{}},
	}
	if e.freeMin == 0 {
		e.freeMin = FreeBytesMin
	}
	return e, nil
}

// badgerSettings: values stay in the tables, small ones, so the value log is
// unused; memory is for tens of thousands of records, not for a server.
// Badger's own checksums are off, ours are on (checksum.go), and so is conflict
// detection, since the store commits one transaction at a time.
func badgerSettings(dir string, opts BadgerOptions) badger.Options {
	o := badger.DefaultOptions(dir)
	o.SyncWrites = !opts.Relaxed
	o.MemTableSize = 16 << 20
	o.NumMemtables = 2
	o.NumCompactors = 2
	// Four memtables are one full first level: smaller, and a cold join spends a
	// sixth more on compaction.
	o.BaseLevelSize = 64 << 20
	// Twice what badger lets lie there: each compaction rewrites the next level as
	// well, and half as many cost a cold join a tenth less of the processor. A look-up
	// asks the bloom filters of all these tables first.
	o.NumLevelZeroTables, o.NumLevelZeroTablesStall = 10, 20
	o.ValueThreshold = 1 << 20
	o.ValueLogFileSize = 16 << 20
	o.BlockCacheSize = 16 << 20
	o.IndexCacheSize = 8 << 20
	o.DetectConflicts = false
	o.MetricsEnabled = false
	o.ChecksumVerificationMode = options.NoVerification
	o.Logger = nil
	return o
}

// isLocked knows the error by its text: badger wraps the system's reason in
// a way that errors.Is cannot see.
func isLocked(err error) bool {
	return err != nil && strings.Contains(err.Error(), "Another process is using this Badger database")
}

// View implements Engine.
func (e *badgerEngine) View(fn func(tx Txn) error) error {
	if err := e.usable(); err != nil {
		return err
	}
	at := e.seen.begin()
	defer e.seen.end(at)
	txn := e.db.NewTransactionAt(at, false)
	defer txn.Discard()
	scanner := &badgerScanner{}
	defer scanner.close()
	return fn(badgerTxn{txn, scanner})
}

// Update implements Engine.
func (e *badgerEngine) Update(fn func(tx Txn) error) error {
	if err := e.usable(); err != nil {
		return err
	}
	if free, known := FreeBytes(e.dir); known && free < e.freeMin {
		return fmt.Errorf("%w: %d bytes free in %s, at least %d needed", ErrFull, free, e.dir, e.freeMin)
	}
	number := e.seen.next()
	txn := e.db.NewTransactionAt(number-1, true)
	defer txn.Discard()
	if err := fn(badgerTxn{txn: txn}); err != nil {
		return err
	}
	err := txn.CommitAt(number, nil)
	switch {
	case err == nil:
		e.db.SetDiscardTs(e.seen.advance(number))
		return nil
	case errors.Is(err, badger.ErrTxnTooBig):
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	case errors.Is(err, badger.ErrBlockedWrites):
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	err = fmt.Errorf("%w: %w", ErrFailed, err)
	e.failed.Store(&err)
	return err
}

// usable returns why the engine cannot be used any more.
func (e *badgerEngine) usable() error {
	if failed := e.failed.Load(); failed != nil {
		return *failed
	}
	if e.db.IsClosed() {
		return ErrClosed
	}
	return nil
}

// Close implements Engine.
func (e *badgerEngine) Close() error {
	if err := e.db.Close(); err != nil {
		return fmt.Errorf("store: close %s: %w", e.dir, err)
	}
	return nil
}

// badgerTxn is one transaction; scanner is nil in one that writes, where no two
// iterators may be open.
type badgerTxn struct {
	txn     *badger.Txn
	scanner *badgerScanner
}

// Get implements Txn.
func (t badgerTxn) Get(key []byte) ([]byte, error) {
	item, err := t.txn.Get(key)
	if err != nil {
		return nil, badgerError(err)
	}
	return itemValue(item)
}

// itemValue returns the value without a copy of its own: an item of a point
// read owns its bytes, one of an iterator lends them until it moves.
func itemValue(item *badger.Item) (value []byte, err error) {
	err = item.Value(func(v []byte) error {
		value = v
		return nil
	})
	return value, badgerError(err)
}

// Set implements Txn.
func (t badgerTxn) Set(key, value []byte) error { return badgerError(t.txn.Set(key, value)) }

// Delete implements Txn.
func (t badgerTxn) Delete(key []byte) error { return badgerError(t.txn.Delete(key)) }

// Scan implements Txn.
func (t badgerTxn) Scan(from, to []byte, reverse bool, fn func(key, value []byte) (more bool, err error)) error {
	prefix := commonPrefix(from, to)
	it, done := t.iterator(prefix, reverse)
	defer done()
	if reverse {
		seekLast(it, to)
	} else {
		it.Seek(from)
	}
	for ; it.Valid(); it.Next() {
		item := it.Item()
		if !reverse && to != nil && string(item.Key()) >= string(to) || reverse && string(item.Key()) < string(from) {
			return nil
		}
		value, err := itemValue(item)
		if err != nil {
			return err
		}
		if more, err := fn(item.Key(), value); err != nil || !more {
			return err
		}
	}
	return nil
}

// badgerScanner keeps one iterator of a reading transaction between scans: to
// make one costs as much as some hundred rows.
type badgerScanner struct {
	idle   *badger.Iterator
	prefix string
}

func (s *badgerScanner) close() {
	if s.idle != nil {
		s.idle.Close()
	}
}

// iterator returns an iterator over the keys that begin with prefix, and what
// ends its use.
func (t badgerTxn) iterator(prefix []byte, reverse bool) (it *badger.Iterator, done func()) {
	s := t.scanner
	if s != nil && s.idle != nil && !reverse && s.prefix == string(prefix) {
		it, s.idle = s.idle, nil
	} else {
		opts := badger.DefaultIteratorOptions
		opts.PrefetchValues = false // values are beside their keys
		opts.Reverse = reverse
		opts.Prefix = prefix
		it = t.txn.NewIterator(opts)
	}
	if s == nil || reverse {
		return it, it.Close
	}
	return it, func() {
		s.close()
		s.idle, s.prefix = it, string(prefix)
	}
}

// seekLast moves a reverse iterator to the last key before to; Seek goes to
// the last key at or before it.
func seekLast(it *badger.Iterator, to []byte) {
	if to == nil {
		it.Rewind()
		return
	}
	it.Seek(to)
	if it.Valid() && string(it.Item().Key()) == string(to) {
		it.Next()
	}
}

// commonPrefix returns what all keys of [from, to) begin with: it lets badger
// leave tables out.
func commonPrefix(from, to []byte) []byte {
	n := 0
	for n < len(from) && n < len(to) && from[n] == to[n] {
		n++
	}
	return from[:n]
}

func badgerError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, badger.ErrKeyNotFound):
		return ErrNotFound
	case errors.Is(err, badger.ErrTxnTooBig):
		return ErrTooLarge
	case errors.Is(err, badger.ErrReadOnlyTxn):
		return ErrReadOnly
	case errors.Is(err, badger.ErrDBClosed):
		return ErrClosed
	}
	return fmt.Errorf("store: badger: %w", err)
}
