package store

import (
	"bytes"

	"github.com/fleetsync/fleetd/merge"
)

// readSet remembers what the build function of a write has read, as the engine
// stored it. A nil *readSet remembers nothing.
type readSet struct {
	keys map[merge.Key]string // the row in v/; empty when there was none
	rows map[string]string    // rows of i/ 2 and m/local/ by engine key, likewise
}

func (s *readSet) sawKey(k merge.Key, stored []byte) {
	if s == nil {
		return
	}
	if s.keys == nil {
		s.keys = map[merge.Key]string{}
	}
	s.keys[k] = string(stored)
}

func (s *readSet) sawRow(key, stored []byte) {
	if s == nil {
		return
	}
	if s.rows == nil {
		s.rows = map[string]string{}
	}
	s.rows[string(key)] = string(stored)
}

// validate checks that everything is still as it was read, changes by earlier
// members of the group included. Errors: errStale, ErrCorrupt, the engine's.
func (g *stage) validate(reads *readSet) error {
	if reads == nil {
		return nil
	}
	for k, seen := range reads.keys {
		ks, err := g.key(k)
		if err != nil {
			return err
		}
		if ks.changed || string(ks.stored) != seen {
			return errStale
		}
	}
	for key, seen := range reads.rows {
		stored, err := g.getRow([]byte(key))
		if err != nil {
			return err
		}
		if !bytes.Equal(stored, []byte(seen)) {
			return errStale
		}
	}
	return nil
}
