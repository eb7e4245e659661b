package store

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/fleetsync/fleetd/merge"
)

// blobNotes is what a store remembers of blobs beside their rows. Safe for
// concurrent use.
type blobNotes struct {
	mu sync.Mutex // guards all following fields
	// pinned counts the callers who are about to write a version that refers to
	// the blob: it stays although nothing refers to it yet.
	pinned map[merge.Hash]int
	// damaged are those of which a row is gone or not what was written. They are
	// wanted, from their beginning.
	damaged map[merge.Hash]bool
	// surplus are those to which nothing may refer: the next transactions look at
	// them and drop them.
	surplus map[merge.Hash]bool
}

func newBlobNotes() *blobNotes {
	return &blobNotes{pinned: map[merge.Hash]int{}, damaged: map[merge.Hash]bool{}, surplus: map[merge.Hash]bool{}}
}

// loadBlobNotes finds what a crash has left without a reference, and what the
// disk has lost. A damaged row does not stop the opening. Errors: the engine's.
func loadBlobNotes(tx Txn) (*blobNotes, error) {
	n := newBlobNotes()
	complete := map[merge.Hash]bool{}
	err := scanBlobKeys(tx, prefixBlob, 0, func(key, stored []byte, hash merge.Hash) {
		n.surplus[hash] = true
		value, err := openValue(key, stored)
		if err != nil {
			return
		}
		state, err := decodeBlob(value)
		complete[hash] = err == nil && state.Complete()
	})
	if err != nil {
		return nil, err
	}
	err = scanBlobKeys(tx, prefixBlobRef, ordinalBytes, func(_, _ []byte, hash merge.Hash) {
		delete(n.surplus, hash)
		if !complete[hash] {
			n.damaged[hash] = true // unless it is known to be wanted
		}
	})
	if err != nil {
		return nil, err
	}
	err = scanBlobKeys(tx, prefixWanted, 0, func(_, _ []byte, hash merge.Hash) { delete(n.damaged, hash) })
	return n, err
}

// scanBlobKeys calls fn for the rows under a prefix of b/, whatever their values.
func scanBlobKeys(tx Txn, prefix string, suffix int, fn func(key, stored []byte, hash merge.Hash)) error {
	from := []byte(prefix)
	return tx.Scan(from, successor(from), false, func(key, stored []byte) (bool, error) {
		hash, err := blobOf(prefix, key, suffix)
		if err == nil {
			fn(key, stored, hash)
		}
		return true, err
	})
}

// pin keeps a blob until release is called, which may be called again.
func (n *blobNotes) pin(hash merge.Hash) (release func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pinned[hash]++
	return sync.OnceFunc(func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.pinned[hash]--; n.pinned[hash] == 0 {
			delete(n.pinned, hash)
			n.surplus[hash] = true // unless it is referred to by now
		}
	})
}

func (n *blobNotes) isPinned(hash merge.Hash) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pinned[hash] > 0
}

func (n *blobNotes) noteDamaged(hash merge.Hash) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.damaged[hash] = true
}

func (n *blobNotes) isDamaged(hash merge.Hash) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.damaged[hash]
}

// listDamaged returns the damaged blobs in order.
func (n *blobNotes) listDamaged() []merge.Hash { return n.sorted(n.damaged) }

// listSurplus returns the blobs to be looked at, in order.
func (n *blobNotes) listSurplus() []merge.Hash { return n.sorted(n.surplus) }

func (n *blobNotes) sorted(set map[merge.Hash]bool) []merge.Hash {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.SortedFunc(maps.Keys(set), compareHashes)
}

func compareHashes(a, b merge.Hash) int { return bytes.Compare(a[:], b[:]) }

// adopt follows a transaction that is durable.
func (n *blobNotes) adopt(b *stagedBlobs) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, hash := range b.mended {
		delete(n.damaged, hash)
	}
	for _, hash := range b.looked {
		delete(n.surplus, hash)
	}
	for _, hash := range b.left {
		n.surplus[hash] = true
	}
}

// isKept reports whether a blob is here without a reference for a reason.
func (n *blobNotes) isKept(hash merge.Hash) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pinned[hash] > 0 || n.surplus[hash]
}
