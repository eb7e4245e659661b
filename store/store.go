package store

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// ID names one store for as long as it lives: 16 random bytes, made when
// it is first opened.
type ID [16]byte

// Incarnation names one opening of a store: a random number.
type Incarnation uint64

// Config holds what a Store needs from outside.
type Config struct {
	// Now is the physical clock. Required.
	Now func() time.Time
	// Rand yields the bytes of ids. Required. It is read only by Open.
	Rand io.Reader
	// Indexer derives i/ from heads and names the events; nil for none.
	Indexer Indexer
	// OnCommit is told of every change of the held versions, after the sync and
	// before the caller's Write or Merge returns, in commit order, by the
	// goroutine that commits. It must not block, nor call a method that writes.
	OnCommit func(Commit)
	// Background runs what may go on after Open has returned: a task that makes the
	// digests from the rows, between commits, and ends with the store. Its error is
	// that of the engine, or of rows that cannot be, and then Ready stays false. Nil
	// has Open run it.
	Background func(task func() error)
	// HistoryMax bounds the covered versions that a key keeps; 0 means 50.
	HistoryMax int
	// ParkedMax bounds the parked versions; 0 means 65,536.
	ParkedMax int
	// ParkedPerWriterMax bounds those of one writer; 0 means 4,096.
	ParkedPerWriterMax int
	// ParkedPerPeerMax bounds those that one peer has delivered, and those that
	// came from nobody in particular; 0 means 8,192.
	ParkedPerPeerMax int
}

// Store is the durable set of versions of one instance. It is safe for
// concurrent use.
type Store struct {
	engine Engine
	cfg    Config
	clock  *hlc.Clock
	id     ID
	// openings are the known incarnations, ascending; the last is this one.
	openings []opening
	sections *sectionTable
	digests  *digests
	applier  applier
	locks    keyLocks
	blobs    *blobNotes

	// failing holds why the last transaction could not be written; nil when it
	// was.
	failing atomic.Pointer[error]

	// retracted counts the keys that have retracted versions, and epoch how often all
	// versions began to be judged anew.
	retracted atomic.Int64
	epoch     atomic.Uint64

	// The committing goroutine alone touches the next four.
	parked  *parkedCount
	stage   *stage
	judging lastJudging
	doubt   bool // an update failed and may have happened

	events Eventcount // the newest event of the state stream

	mu     sync.Mutex // guards all following fields
	tail   tail
	open   int // calls in progress
	closed bool
	idle   chan struct{} // closed when closed is set and open falls to 0
}

// ID returns the store's identity.
func (s *Store) ID() ID { return s.id }

// Incarnation returns the identity of this opening.
func (s *Store) Incarnation() Incarnation { return s.openings[len(s.openings)-1].incarnation }

// Indexer returns what derives the rows of its index; nil for none.
func (s *Store) Indexer() Indexer { return s.cfg.Indexer }

// Clock returns the clock that stamps local writes. It begins after every
// stamp that this store has ever committed.
func (s *Store) Clock() *hlc.Clock { return s.clock }

// Sections returns the state of every section that ever held something, in the
// order in which they first came, as one consistent snapshot. The caller owns
// the slice.
func (s *Store) Sections() []SectionState { return s.sections.list() }

// State returns the state of one section; zero but for its name when the store
// never held anything of it.
func (s *Store) State(sec merge.Section) SectionState {
	state, _ := s.sections.state(sec)
	return state
}

// Failing returns why the last transaction could not be written, such as
// ErrFull; nil when it was.
func (s *Store) Failing() error {
	if err := s.failing.Load(); err != nil {
		return *err
	}
	return nil
}

// View runs fn over one consistent snapshot. The Reader is valid until fn
// returns and belongs to its goroutine. It returns the error of fn. Errors:
// ErrClosed.
func (s *Store) View(fn func(r *Reader) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	return s.view(nil, fn)
}

// view takes the section table before the snapshot, and adds what the snapshot
// has more.
func (s *Store) view(reads *readSet, fn func(r *Reader) error) error {
	known := s.sections.ordinals()
	return s.engine.View(func(tx Txn) error {
		table, err := known.asOf(tx)
		if err != nil {
			return err
		}
		return fn(&Reader{store: s, tx: tx, table: table, reads: reads})
	})
}

// enter counts a call in progress. Errors: ErrClosed.
func (s *Store) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.open++
	return nil
}

func (s *Store) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.closed && s.open == 0 {
		close(s.idle)
	}
}

// Close waits for the calls in progress and closes the engine. Later calls
// return ErrClosed; a second Close returns nil. It must not be called from
// within View, Write or OnCommit.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.idle
		return nil
	}
	s.closed = true
	s.events.Close()
	if s.open == 0 {
		close(s.idle)
	}
	s.mu.Unlock()
	<-s.idle
	return s.engine.Close()
}
