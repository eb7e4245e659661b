package store

import (
	"bytes"

	"github.com/fleetsync/fleetd/merge"
)

// readSet remembers what the build function of a write has read, as the engine
// stored it. A nil *readSet remembers nothing.
type readSet struct {
	keys []seenKey
	rows []seenRow
}

// seenKey is a row in v/, empty when there was none.
type seenKey struct {
	key    merge.Key
	stored string
}

// seenRow is a row of i/ 2 or m/local/, nil when there was none.
type seenRow struct{ key, stored []byte }

func (s *readSet) sawKey(k merge.Key, stored []byte) {
	if s == nil {
		return
	}
	s.keys = append(s.keys, seenKey{k, string(stored)})
}

func (s *readSet) sawRow(key, stored []byte) {
	if s == nil {
		return
	}
	s.rows = append(s.rows, seenRow{bytes.Clone(key), bytes.Clone(stored)})
}

// validate checks that everything is still as it was read, changes by earlier
// members of the group included, and that nobody judges by more than whoever
// admitted the write. Errors: errStale, ErrCorrupt, the engine's.
func (g *stage) validate(req *request) error {
	reads := req.reads
	if reads == nil {
		return nil
	}
	if req.epoch != g.s.epoch.Load() {
		return errStale
	}
	for i := range reads.keys {
		seen := &reads.keys[i]
		ks, err := g.key(seen.key)
		if err != nil {
			return err
		}
		if ks.changed || string(ks.stored) != seen.stored {
			return errStale
		}
	}
	for _, seen := range reads.rows {
		stored, err := g.getRow(seen.key)
		if err != nil {
			return err
		}
		if !bytes.Equal(stored, seen.stored) {
			return errStale
		}
	}
	return nil
}
