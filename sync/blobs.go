package sync

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Blobs follow the records that refer to them: what the store says is wanted is
// asked of one connected peer at a time, from the first chunk that is missing.
// Nothing of it is remembered but in the store, so a blob is completed as soon as
// anybody who has it is met, after a restart too and without a new write. A peer
// is asked while nothing is to be pulled from it: records come first.

// blobs is what the engine knows of the blobs that are wanted.
type blobs struct {
	fetches []*fetch
	// look says that there may be something to fetch. after is where the next look
	// begins: looks go round, and on from what could not be asked for yet, or what
	// nobody has would keep back the rest. again has the next tick look, since
	// somebody who may have something was not free.
	look  bool
	again bool
	after merge.Hash
	// notBefore is when the store may take chunks again, after it failed.
	notBefore time.Time
}

// fetch is a blob that is being fetched from one peer.
type fetch struct {
	hash    merge.Hash
	section merge.Section
	peer    *peer
	size    int64  // of the whole, as the first answer has said; 0 before
	at      int64  // where the next answer begins
	chunk   []byte // what came of the chunk in hand
	alone   bool   // everything so far came from this peer
	// request is the id of the answer that is awaited, 0 for none.
	request  uint64
	askedAt  time.Time
	deadline time.Time
	storing  bool
	busy     int  // how often the peer was too busy
	dropped  bool // the peer is gone; kept until its last chunk is stored
}

// absence says that a peer did not have a blob.
type absence struct {
	head  uint64 // of its feed of the section then
	until time.Time
}

// scheduleBlobs goes on with the blobs in hand and begins others, as far as the
// bounds allow.
func (e *Engine) scheduleBlobs() {
	if !e.blobs.look && len(e.blobs.fetches) == 0 {
		return
	}
	for _, f := range e.blobs.fetches {
		if f.request == 0 && !f.storing && !f.dropped && e.isFree(f.peer) {
			e.askChunk(f)
		}
	}
	if !e.blobs.look || len(e.blobs.fetches) >= fetchesMax || e.now.Before(e.blobs.notBefore) || !e.anyoneFree() {
		return
	}
	if err := e.store.View(e.beginFetches); err != nil {
		e.counters.StoreErrors++
		e.blobs.notBefore = e.now.Add(e.cfg.HeartbeatEvery)
	}
}

// isFree reports whether a peer may be asked for blobs: it is greeted, not busy,
// and nothing is to be pulled from it.
func (e *Engine) isFree(p *peer) bool {
	return p.greeted && p.pull == nil && len(p.wants.list) == 0 && !e.now.Before(p.notBefore) && !e.now.Before(p.blobsNotBefore)
}

func (e *Engine) anyoneFree() bool {
	return slices.ContainsFunc(e.order, func(id PeerID) bool { return e.isFree(e.peers[id]) })
}

// beginFetches looks for blobs that are wanted and that some free peer may have,
// once round all of them unless it finds enough. It begins at the first that had
// to wait: were it to begin anywhere else, what nobody has could be asked for
// again and again, and what a peer has be passed each time while the peer answers.
func (e *Engine) beginFetches(r *store.Reader) error {
	began, seen := e.blobs.after, 0
	ended, waits := true, false
	look := func(w store.WantedBlob) (more bool) {
		if len(e.blobs.fetches) >= fetchesMax || seen == wantedLookMax {
			ended = false
			return false
		}
		seen++
		if !slices.ContainsFunc(e.blobs.fetches, func(f *fetch) bool { return f.hash == w.Hash }) {
			waits = !e.beginFetch(&w) || waits
		}
		if !waits {
			e.blobs.after = w.Hash
		}
		return true
	}
	err := r.Wanted(began, look)
	if err == nil && ended && began != (merge.Hash{}) {
		err = r.Wanted(merge.Hash{}, func(w store.WantedBlob) bool {
			return bytes.Compare(w.Hash[:], began[:]) <= 0 && look(w)
		})
	}
	e.blobs.look = !ended && !waits // the end of a fetch has the others looked for
	return err
}

// beginFetch asks a free peer that may have a blob: of those that said that they
// do not have it, the one that said so longest ago, so that all are asked however
// many blobs are wanted. The others take turns by the hash, so that many blobs
// come from many peers. It returns false for a blob that nobody is asked for since
// those who may have it are asked for others.
func (e *Engine) beginFetch(w *store.WantedBlob) bool {
	first := int(w.Hash[0]) % len(e.order)
	var from *peer
	var of merge.Section
	waits := false
	for i := range e.order {
		p := e.peers[e.order[(first+i)%len(e.order)]]
		for _, section := range w.Sections {
			if !p.greeted || !e.cfg.Sharing.Shares(section) || p.withholds(section) || e.isAbsent(p, section, w.Hash) {
				continue
			}
			if slices.ContainsFunc(e.blobs.fetches, func(f *fetch) bool { return f.peer == p }) {
				waits = true
				continue
			}
			if !e.isFree(p) {
				e.blobs.again = true
				continue
			}
			if from == nil || p.absent[w.Hash].until.Before(from.absent[w.Hash].until) {
				from, of = p, section
			}
		}
	}
	if from == nil {
		return !waits
	}
	f := &fetch{hash: w.Hash, section: of, peer: from, size: w.Size, at: w.Present, alone: w.Present == 0}
	if f.alone {
		f.size = 0
	}
	e.blobs.fetches = append(e.blobs.fetches, f)
	e.askChunk(f)
	return true
}

// isAbsent reports whether a peer said lately that it does not have a blob, and
// nothing of the section has changed there since.
func (e *Engine) isAbsent(p *peer, section merge.Section, hash merge.Hash) bool {
	a, said := p.absent[hash]
	return said && e.now.Before(a.until) && a.head == p.remote.section(section).head
}

// noteAbsent has a peer not asked for a blob for a while. When there is no room
// to remember it, the peer is not asked for any.
func (e *Engine) noteAbsent(f *fetch) {
	p := f.peer
	until := e.now.Add(absentHeartbeats * e.cfg.HeartbeatEvery)
	if len(p.absent) >= absentMax {
		for hash, a := range p.absent {
			if !e.now.Before(a.until) {
				delete(p.absent, hash)
			}
		}
	}
	if len(p.absent) >= absentMax {
		p.blobsNotBefore = until
		return
	}
	p.absent[f.hash] = absence{p.remote.section(f.section).head, until}
}

func (e *Engine) askChunk(f *fetch) {
	f.request, f.askedAt = e.newID(), e.now
	f.deadline = e.now.Add(e.cfg.RequestTimeout)
	e.send(f.peer, &BlobGet{
		ID: f.request, Section: f.section.ID(), Hash: f.hash[:], Offset: uint64(f.at), Bytes: f.peer.pace.limit(),
	})
}

// fetchOf returns the fetch that awaits an answer; nil for a late one.
func (e *Engine) fetchOf(p *peer, id uint64) *fetch {
	i := slices.IndexFunc(e.blobs.fetches, func(f *fetch) bool { return f.peer == p && f.request == id && id != 0 })
	if i < 0 {
		return nil
	}
	return e.blobs.fetches[i]
}

// endFetch forgets a fetch; what is stored of it stays, and others may go on.
func (e *Engine) endFetch(f *fetch) {
	e.blobs.fetches = slices.DeleteFunc(e.blobs.fetches, func(other *fetch) bool { return other == f })
	e.lookForBlobs()
}

// lookForBlobs has what is wanted looked up.
func (e *Engine) lookForBlobs() { e.blobs.look = true }

// newBlobMessage is newMessage for the messages of blobs.
func newBlobMessage(t MessageType) Message {
	if t == TypeBlobGet {
		return &BlobGet{}
	}
	return &Blob{}
}

// receiveBlob takes a message of blobs.
func (e *Engine) receiveBlob(p *peer, m Message) {
	switch m := m.(type) {
	case *BlobGet:
		e.serveBlob(p, m)
	case *Blob:
		e.onBlob(p, m)
	}
}

func (e *Engine) onBlob(p *peer, m *Blob) {
	f := e.fetchOf(p, m.ID)
	if f == nil {
		return
	}
	f.request = 0
	size, end := int64(m.Size), f.at+int64(len(m.Bytes))
	p.pace.answered(e.now.Sub(f.askedAt), e.cfg.RequestTimeout, end < min(chunkEnd(f.at), size))
	switch {
	case size == 0:
		e.noteAbsent(f)
		e.endFetch(f)
	case f.size != 0 && size != f.size || len(m.Bytes) == 0:
		e.beginAgain(f, size)
	case end > min(chunkEnd(f.at), size):
		e.blameFetch(f, fmt.Errorf("%w: %d bytes at %d of a blob of %d", ErrProtocol, len(m.Bytes), f.at, size))
	default:
		f.size, f.at, f.busy = size, end, 0
		if f.chunk = append(f.chunk, m.Bytes...); f.at == chunkEnd(f.at-1) || f.at == f.size {
			e.storeChunk(f)
		}
	}
}

// chunkEnd is where the chunk of an offset ends.
func chunkEnd(at int64) int64 { return (at/store.ChunkBytes + 1) * store.ChunkBytes }

// beginAgain takes that the whole has another size than was said before: by
// somebody else, who lied. What is stored gives way to the first chunk.
func (e *Engine) beginAgain(f *fetch, size int64) {
	if f.alone {
		e.blameFetch(f, fmt.Errorf("%w: blob of %d bytes, now %d, and none of them", ErrProtocol, f.size, size))
		return
	}
	f.size, f.at, f.chunk, f.alone = size, 0, nil, true
}

func (e *Engine) blameFetch(f *fetch, err error) {
	e.blame(f.peer, err)
	e.noteAbsent(f)
	e.endFetch(f)
}

func (e *Engine) storeChunk(f *fetch) {
	c := &store.Chunk{Hash: f.hash, Size: f.size, Offset: f.at - int64(len(f.chunk)), Bytes: f.chunk}
	f.storing, f.chunk = true, nil
	e.apply(ApplyBatch{Chunk: c}, func(_ store.Result, err error) { e.chunkStored(f, err) })
}

func (e *Engine) chunkStored(f *fetch, err error) {
	f.storing = false
	switch {
	case errors.Is(err, store.ErrMismatch):
		if f.alone { // else it may be that of another
			e.blame(f.peer, fmt.Errorf("%w: %w", ErrProtocol, err))
		}
		e.noteAbsent(f)
		e.endFetch(f)
	case err != nil: // the peer is not at fault
		e.counters.StoreErrors++
		e.blobs.notBefore = e.now.Add(e.cfg.HeartbeatEvery)
		e.endFetch(f)
	case f.at == f.size:
		e.counters.Blobs++
		e.endFetch(f)
	case f.dropped:
		e.endFetch(f)
	}
}

// tickBlobs gives up on answers that did not come, and looks again.
func (e *Engine) tickBlobs() {
	if e.blobs.again {
		e.blobs.again, e.blobs.look = false, true
	}
	for _, f := range slices.Clone(e.blobs.fetches) {
		if f.request != 0 && e.now.After(f.deadline) {
			e.counters.Timeouts++
			f.peer.pace.missed()
			e.noteAbsent(f)
			e.endFetch(f)
		}
	}
}

// dropFetches ends what is fetched from a peer that is gone or has come back as
// another. A chunk on its way to the store gets there, before anybody else is
// asked for the blob: who sent what would not be known.
func (e *Engine) dropFetches(p *peer) {
	for _, f := range slices.Clone(e.blobs.fetches) {
		switch {
		case f.peer != p:
		case f.storing:
			f.dropped = true
		default:
			e.endFetch(f)
		}
	}
	e.lookForBlobs()
}

// refuseFetch ends the fetch that a refusal answers, so that another holder is
// asked.
func (e *Engine) refuseFetch(p *peer, id uint64) {
	if f := e.fetchOf(p, id); f != nil {
		e.noteAbsent(f)
		e.endFetch(f)
	}
}

// holdFetch has a peer that is busy asked again once it is not, so that a part of
// a chunk is not lost; but not for ever.
func (e *Engine) holdFetch(p *peer, id uint64) {
	f := e.fetchOf(p, id)
	if f == nil {
		return
	}
	f.request = 0
	if f.busy++; f.busy > fetchBusyMax {
		e.noteAbsent(f)
		e.endFetch(f)
	}
}

func (e *Engine) serveBlob(p *peer, m *BlobGet) {
	e.serve(p, m.ID, m.Section, func(r *responder) (Message, error) { return r.asked(m.Bytes).blob(m) })
}

// blob reads a part of a chunk of a complete blob that a version of the section
// refers to. That it is not here is an answer, and so is its size for an offset
// beyond its end.
func (r *responder) blob(m *BlobGet) (Message, error) {
	r.cost += lookupCost
	hash, offset := merge.Hash(m.Hash), int64(m.Offset)
	absent := &Blob{ID: m.ID}
	if refers, err := r.reader.Refers(r.section, hash); err != nil || !refers {
		return absent, err
	}
	begin := offset - offset%store.ChunkBytes
	chunk, size, err := r.reader.BlobChunk(hash, begin)
	if size > 0 && offset >= size {
		return &Blob{ID: m.ID, Size: uint64(size)}, nil
	}
	for _, lack := range []error{store.ErrNotFound, store.ErrIncomplete, store.ErrCorrupt} {
		if errors.Is(err, lack) { // a damaged one is wanted here too, from now on
			return absent, nil
		}
	}
	if err != nil {
		return nil, err
	}
	part := chunk[offset-begin:]
	part = part[:min(len(part), max(r.bytesMax, paceBytesMin))] // less would cost as much to read
	r.cost += len(part)
	return &Blob{ID: m.ID, Bytes: part, Size: uint64(size)}, nil
}

// blobGauges are the bounds of blobs, for Load.
func (e *Engine) blobGauges() (fetches, absent Gauge) {
	fetches = Gauge{Name: "blobs being fetched", N: len(e.blobs.fetches), Max: fetchesMax}
	absent = Gauge{Name: "blobs that a peer lacks", Max: absentMax}
	for _, p := range e.peers {
		absent.N = max(absent.N, len(p.absent))
	}
	return fetches, absent
}
