package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/fleetsync/fleetd/merge"
)

// packed is a record in its stored form, made ready before the transaction, on
// the caller's goroutine: the encoding, room for the checksum, and the
// checksum of the part that does not depend on the key.
type packed struct {
	stored []byte
	crc    uint32
}

func pack(r *merge.Record) packed {
	encoded := r.Encode()
	return packed{
		crc:    crc32.Checksum(encoded, castagnoli()),
		stored: append(encoded, 0, 0, 0, 0),
	}
}

// size is the length of the encoded record.
func (p *packed) size() int { return len(p.stored) - checksumBytes }

// under completes the stored form for a key. A later call, for another key,
// invalidates it.
func (p *packed) under(key []byte) []byte {
	crc := crc32.Update(p.crc, castagnoli(), key)
	binary.BigEndian.PutUint32(p.stored[p.size():], crc)
	return p.stored
}

// decodeRecord reads the record of one version and checks that it is the one
// that the version row promises. The result does not alias b. Errors:
// ErrCorrupt.
func decodeRecord(k merge.Key, h *Held, b []byte) (merge.Record, error) {
	rec, err := merge.Decode(b)
	if err != nil {
		return merge.Record{}, fmt.Errorf("%w: record of %s: %w", ErrCorrupt, k, err)
	}
	if rec.Hash() != h.Hash || rec.Key != k {
		return merge.Record{}, fmt.Errorf("%w: record under %s seq %d is another one", ErrCorrupt, k, h.Seq)
	}
	return rec, nil
}
