package state

import (
	"time"

	"github.com/fleetsync/fleetd/merge"
)

// nextOutcome writes the counts of a version anew: the store whose record it is
// counts on from them. A tombstone counts nothing.
func nextOutcome(_, from *merge.Record, deleted bool, _ time.Time) (encoded, error) {
	if deleted {
		return encodeOutcome(Outcome{})
	}
	next, err := decodeOutcome(from)
	if err != nil {
		return encoded{}, err
	}
	return encodeOutcome(next)
}

func outcomeSays(rec *merge.Record) ([]byte, error) {
	o, err := decodeOutcome(rec)
	if err != nil {
		return nil, err
	}
	said, err := encodeOutcome(o)
	return said.body, err
}
