package store

import "github.com/fleetsync/fleetd/merge"

// request is one caller's part of a transaction. All of it is written, or
// nothing.
type request struct {
	path    Path
	entries []entry
	// strict makes a record that would not be held an error.
	strict bool
	// reads must still be as they were when the transaction runs.
	reads  *readSet
	locals []localWrite
	parks  []parkWrite
	chunks []chunkWrite
	cursor *CursorMove
	// keys are computed anew as judge has it.
	keys  []merge.Key
	judge Judge
	// by, when not nil, is the mark of the statements by which its versions were
	// judged, or all are.
	by      *[32]byte
	judging judging
	// epoch is the judging in which a local write was begun.
	epoch uint64
	// unclean says that an earlier part was refused room: no cursor moves.
	unclean bool
	// prepare, when set, fills the request while nothing else can commit.
	prepare func() error

	// The applier's.
	turn     chan struct{} // receives once: finished, or the turn to lead
	finished bool          // written before turn is sent to

	// The outcome, valid once finished.
	err      error
	result   Result
	commit   Commit
	blob     BlobState // of the last chunk
	judged   int       // how many of keys were computed
	restored int       // bytes of the records that came back
}

// entry is one record to be held.
type entry struct {
	rec    merge.Record
	packed packed
	// parked says that the record comes out of q/; it counts only if it is still
	// there.
	parked bool
}

// parkWrite is one record to be parked.
type parkWrite struct {
	Parked
	packed packed
	// again says that the record is parked already, for another reason; it counts
	// only if it is still there.
	again bool
}

// localWrite sets one row of m/local/; a nil value deletes it.
type localWrite struct {
	name  string
	value []byte
}

func newRequest(path Path) *request {
	return &request{path: path, turn: make(chan struct{}, 1)}
}

// add packs a record into the request.
func (q *request) add(rec merge.Record) {
	q.entries = append(q.entries, entry{rec: rec, packed: pack(&rec)})
}

// alone reports whether the request shares its transaction with no other: what it
// reads of a key must be what the engine holds.
func (q *request) alone() bool { return q.prepare != nil || q.judge != nil }

// records counts what weighs on txnRecordsMax.
func (q *request) records() int { return len(q.entries) + len(q.parks) }

// empty reports whether there is nothing to write.
func (q *request) empty() bool {
	return q.records()+len(q.locals)+len(q.chunks)+len(q.keys) == 0 && q.cursor == nil && q.judging == 0
}

// bytes estimates the keys and values that the request writes.
func (q *request) bytes() int {
	n := 0
	for i := range q.entries {
		n += recordBytes(&q.entries[i].rec, &q.entries[i].packed)
	}
	for i := range q.parks {
		n += recordBytes(&q.parks[i].Record, &q.parks[i].packed)
	}
	for i := range q.chunks {
		n += len(q.chunks[i].Bytes)
	}
	for i := range q.locals {
		n += len(q.locals[i].name) + len(q.locals[i].value)
	}
	return n
}

func recordBytes(rec *merge.Record, p *packed) int {
	return p.size() + len(rec.Blobs)*blobRefBytes + 4*(len(rec.Key.Kind)+len(rec.Key.ID)) + recordOverheadBytes
}
